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
  // The time that its first thread ran, and waited for a CPU; 0 if the kernel does not state it.
  double ran_s = 0.0;
  double waited_s = 0.0;
  std::string out;  // out and err: truncated at kOutputLimit
  std::string err;
  std::string result;  // its output to kResultFd
};

inline constexpr int kResultFd = 3;
inline constexpr std::size_t kOutputLimit = 64 * 1024;

// The scheduling policy of a process: SCHED_OTHER, or SCHED_FIFO if this process may set it.
enum class Urgency { kOrdinary, kUrgent };

// Runs argv (found on PATH) in its own process group, with an empty standard input. Kills the whole
// group at the deadline, and when the program has ended. The deadline counts only time in which the
// machine ran (see Budget). Throws Broken if it cannot fork.
ProcessResult RunProcess(const std::vector<std::string>& argv, double deadline_s,
                         Urgency urgency = Urgency::kOrdinary);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_PROCESS_H_
