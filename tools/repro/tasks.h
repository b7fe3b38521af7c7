// SPDX-License-Identifier: Apache-2.0
// The threads of a program. They share its descriptors and its memory.
#ifndef PMUCONF_TOOLS_REPRO_TASKS_H_
#define PMUCONF_TOOLS_REPRO_TASKS_H_

#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tools/repro/program.h"

namespace pmuconf {

// Returns the number of the calling task, which is 0 for a thread that ProgramTasks did not create.
unsigned CurrentTask();

class ProgramTasks {
 public:
  ProgramTasks() = default;
  ProgramTasks(const ProgramTasks&) = delete;
  ~ProgramTasks();  // waits for all tasks

  // A task runs `work`, after what it already has to do. Its thread begins with its first work.
  // Task 0 is the caller, which does it at once.
  void Begin(unsigned task, std::function<void()> work);
  // Waits until a task has done all its work.
  void Wait(unsigned task);

 private:
  struct Task {
    std::thread thread;
    std::function<void()> work;
    bool busy = false;
    bool ends = false;
  };
  void Loop(unsigned number);

  std::mutex lock_;
  std::condition_variable changed_;
  std::array<Task, kProgramTasks> tasks_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_TASKS_H_
