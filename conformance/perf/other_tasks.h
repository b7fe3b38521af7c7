// SPDX-License-Identifier: Apache-2.0
// The tasks that run on a CPU whose events count every task.
#ifndef PMUCONF_PERF_OTHER_TASKS_H_
#define PMUCONF_PERF_OTHER_TASKS_H_

#include <sys/types.h>

#include <set>
#include <span>
#include <string>

#include "perf/ring.h"

namespace pmuconf {

// Returns the processes of the PERF_RECORD_SWITCH_CPU_WIDE records, which have pid and tid as their
// sample_id: those that left the CPU or came to it. The idle task (0) is not among them.
std::set<pid_t> SwitchedTasks(std::span<const Record> records);

// Records the task switches of `cpu` from now on. Does nothing if it does already, or if this
// process may not.
void WatchTasks(int cpu);

// Returns the tasks in user mode that ran on a CPU since WatchTasks(), without this process and
// `own`: "task 71 (sshd)". Returns "" if there is none.
std::string OtherTasks(pid_t own);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_OTHER_TASKS_H_
