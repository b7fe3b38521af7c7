// SPDX-License-Identifier: Apache-2.0
// CPUs and child processes of a case.
#ifndef PMUCONF_CPU_H_
#define PMUCONF_CPU_H_

#include <sys/types.h>

#include <functional>
#include <vector>

#include "pmuconf/fd.h"

namespace pmuconf {

std::vector<int> OnlineCpus();
void PinTo(int cpu);  // this thread; asserts
int CurrentCpu();

// While it lives, and in children that begin then, no ordinary task takes this thread's CPU away:
// what the hardware forgets when tasks are switched is still there in the next call. Asserts. Where
// the machine stood still for as long as such rights last, it is taken away nevertheless: then
// what the case saw is no evidence, and it is run again, whatever it came to.
class Undisturbed {
 public:
  Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  ~Undisturbed();

  void Yield();  // to its children: this does not disturb

 private:
  long switches_;
};

// A child process that waits to be told: Go() lets it run `body`, Wait() gives its exit status
// (-signal if killed). The destructor kills and reaps a child that still lives. No sleeping: the
// two talk through a pipe. The body's return value is the exit status; if it finds that the case is
// not for this target, so does Wait().
class Child {
 public:
  explicit Child(const std::function<int()>& body);
  Child(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  void Go();
  int Wait();

 private:
  pid_t pid_ = -1;
  int go_fd_ = -1;
  Fd why_skipped_;
};

// Keeps this CPU busy for about that long by the clock: for time to pass, never to wait for others.
void Spin(double seconds);

}  // namespace pmuconf

#endif  // PMUCONF_CPU_H_
