// SPDX-License-Identifier: Apache-2.0
// Runs one program with a deadline and collects its output.
#ifndef PMUCONF_HARNESS_PROCESS_H_
#define PMUCONF_HARNESS_PROCESS_H_

#include <string>
#include <vector>

namespace pmuconf {

struct ProcessResult {
  int pid = 0;
  int status = 0;  // exit status, or 128 + signal
  bool signalled = false;
  bool timed_out = false;   // killed at the deadline
  bool unkillable = false;  // still alive after SIGKILL: stuck in the kernel
  double duration_s = 0.0;
  std::string out;  // out and err: truncated at kOutputLimit
  std::string err;
  std::string result;  // its output to kResultFd
};

inline constexpr int kResultFd = 3;
inline constexpr std::size_t kOutputLimit = 64 * 1024;

// Runs argv (found on PATH) in its own process group, with an empty standard input. Kills the whole
// group at the deadline, and when the program has ended. The deadline counts only time in which the
// machine ran (see Budget). Throws Broken if it cannot fork.
ProcessResult RunProcess(const std::vector<std::string>& argv, double deadline_s);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_PROCESS_H_
