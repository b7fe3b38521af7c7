// SPDX-License-Identifier: Apache-2.0
// Runs one program against a deadline and keeps what it says.
#ifndef PMUCONF_LIB_PROCESS_H_
#define PMUCONF_LIB_PROCESS_H_

#include <string>
#include <vector>

namespace pmuconf {

struct ProcessResult {
  int pid = 0;
  int status = 0;  // exit status, or 128 + signal
  bool signalled = false;
  bool timed_out = false;   // killed at the deadline
  bool unkillable = false;  // it outlived SIGKILL: stuck in the kernel
  double duration_s = 0.0;
  std::string out;  // each cut at kOutputLimit
  std::string err;
  std::string result;  // what it wrote to kResultFd
};

inline constexpr int kResultFd = 3;
inline constexpr std::size_t kOutputLimit = 64 * 1024;

// Runs argv (found on PATH) in a process group of its own, with an empty standard input. The whole
// group is killed at the deadline (of time in which the machine ran: see Budget) and when the
// program has ended. Throws Broken if it cannot fork.
ProcessResult RunProcess(const std::vector<std::string>& argv, double deadline_s);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_PROCESS_H_
