// SPDX-License-Identifier: Apache-2.0
// CPUs and child processes for cases.
#ifndef PMUCONF_SYSTEM_CPU_H_
#define PMUCONF_SYSTEM_CPU_H_

#include <sched.h>
#include <sys/types.h>

#include <functional>
#include <vector>

#include "system/fd.h"

namespace pmuconf {

std::vector<int> OnlineCpus();
bool CanLeave(int cpu);  // it can go offline
void PinTo(int cpu);     // pins this thread, unless it left the CPU; throws Broken on failure
int CurrentCpu();

// This thread runs on `cpu` while the object lives, and then where it could run before.
class OnCpu {
 public:
  explicit OnCpu(int cpu);
  OnCpu(const OnCpu&) = delete;
  ~OnCpu();

 private:
  cpu_set_t before_;
};

// Moves this thread to other CPUs, for good: a later PinTo(cpu) does not bring it back. So a
// CPU-wide event on `cpu` does not count what this thread does. Skips the case if no other CPU is
// online.
void LeaveCpu(int cpu);
// Returns the CPU where events are to happen: that of the last PinTo() or LeaveCpu(), or else the
// current one.
int EventCpu();

// Gives this thread a real-time priority (SCHED_FIFO), which its new children inherit, so that no
// ordinary task preempts it. Cases use it where the hardware loses state at a context switch.
// Throws Broken on failure.
// The kernel limits real-time runtime, so it may still preempt the thread after a long stall of the
// virtual machine. Then the result is no evidence, whatever it is, and the executor runs the case
// again.
class NoPreemption {
 public:
  NoPreemption();
  NoPreemption(const NoPreemption&) = delete;
  ~NoPreemption();

  void Yield();  // lets a child run; does not count as a disturbance

 private:
  long switches_;
};

// A child process that blocks until Go(), then runs `body`. Wait() returns its exit status, which
// is the return value of `body`, or -signal if a signal killed it. If `body` skips the case, Wait()
// skips it in the parent. Run() does both. The destructor kills and reaps a child that is still
// alive. Both sides synchronise through a pipe, not by sleeping.
class Child {
 public:
  explicit Child(const std::function<int()>& body);
  Child(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  void Go();
  int Wait();
  int Run() { return Go(), Wait(); }

 private:
  pid_t pid_ = -1;
  int go_fd_ = -1;
  Fd skip_fd_;
};

// Keeps this CPU busy for `seconds` of wall-clock time. Use it only to let time pass, never to wait
// for another task.
void BusyWait(double seconds);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_CPU_H_
