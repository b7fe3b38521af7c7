// SPDX-License-Identifier: Apache-2.0
// Each thread waits for work; at most one function is pending for it.
#include "tools/repro/tasks.h"

#include <utility>

namespace pmuconf {
namespace {

thread_local unsigned current_task = 0;

}  // namespace

unsigned CurrentTask() { return current_task; }

ProgramTasks::~ProgramTasks() {
  {
    const std::lock_guard<std::mutex> held(lock_);
    for (Task& task : tasks_) task.ends = true;
  }
  changed_.notify_all();
  for (Task& task : tasks_) {
    if (task.thread.joinable()) task.thread.join();
  }
}

void ProgramTasks::Begin(unsigned number, std::function<void()> work) {
  if (number == 0) return work();
  Wait(number);
  Task& task = tasks_[number];
  {
    const std::lock_guard<std::mutex> held(lock_);
    task.work = std::move(work);
    task.busy = true;
  }
  if (!task.thread.joinable()) task.thread = std::thread([this, number] { Loop(number); });
  changed_.notify_all();
}

void ProgramTasks::Wait(unsigned number) {
  std::unique_lock<std::mutex> held(lock_);
  changed_.wait(held, [&] { return !tasks_[number].busy; });
}

void ProgramTasks::Loop(unsigned number) {
  current_task = number;
  Task& task = tasks_[number];
  std::unique_lock<std::mutex> held(lock_);
  for (;;) {
    changed_.wait(held, [&] { return task.busy || task.ends; });
    if (!task.busy) return;
    held.unlock();
    task.work();
    held.lock();
    task.busy = false;
    changed_.notify_all();
  }
}

}  // namespace pmuconf
