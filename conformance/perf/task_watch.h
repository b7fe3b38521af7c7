// SPDX-License-Identifier: Apache-2.0
// The tasks that run on the CPUs of this machine while a case runs.
#ifndef PMUCONF_PERF_TASK_WATCH_H_
#define PMUCONF_PERF_TASK_WATCH_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "perf/ring.h"

namespace pmuconf {

// Returns the processes of the PERF_RECORD_SWITCH_CPU_WIDE records, which have pid and tid as their
// sample_id: those that left the CPU or came to it. The idle task (0) is not among them.
std::set<pid_t> SwitchedTasks(std::span<const Record> records);

// Returns the parents of the processes that PERF_RECORD_FORK and PERF_RECORD_EXIT records name.
std::map<pid_t, pid_t> ParentsIn(std::span<const Record> records);

// A process, as /proc shows it.
struct TaskFacts {
  pid_t parent = 0;
  pid_t group = 0;
  bool kernel_thread = false;
};

// Returns those of `tasks` that belong neither to `family`, nor to the kernel. A task belongs to a
// process of `family` if it is in its process group or descends from it. `parents`: from records,
// for tasks that have ended. `facts` returns false for these.
std::set<pid_t> Foreign(const std::set<pid_t>& tasks, const std::set<pid_t>& family,
                        const std::map<pid_t, pid_t>& parents,
                        const std::function<bool(pid_t, TaskFacts*)>& facts);

// Records the task switches of CPUs.
class TaskWatch {
 public:
  // Watches those of `cpus` that this process may watch.
  explicit TaskWatch(const std::vector<int>& cpus);

  void Restart();  // forgets what ran so far

  // Returns the tasks in user mode that ran on `cpus` since Restart(), or that may have, without
  // this process, `pid` and its descendants: "task 71 (sshd)". Returns "" if there is none. Ends
  // the interval.
  std::string Others(pid_t pid, const std::set<int>& cpus);

 private:
  struct Watched {
    Event event;
    Ring ring;
  };
  std::map<int, Watched> watched_;
};

}  // namespace pmuconf

#endif  // PMUCONF_PERF_TASK_WATCH_H_
