// SPDX-License-Identifier: Apache-2.0
// Runs a program in a process of its own, and compares what perf_event_open answers with what the
// errno model says, wherever the model knows what is there.
#ifndef PMUCONF_PROGRAM_RUN_H_
#define PMUCONF_PROGRAM_RUN_H_

#include <functional>
#include <vector>

#include "program/machine.h"
#include "program/program.h"

namespace pmuconf {

struct Outcome {
  bool ran = false;
  long value = 0;
  int error = 0;
  bool known = false;  // the model says something of this call:
  int told = 0;
  const OpenCheck* check = nullptr;

  bool Mismatch() const { return ran && known && told != error; }
};

struct Ended {
  std::vector<Outcome> outcomes;  // one for each operation
  bool hung = false;              // it did not end within its time
  bool stuck = false;             // nor when it was killed: it is in the kernel

  bool Good() const;
};

struct RunOptions {
  double limit_s = 10;
  bool cpus = false;  // CPUs may be taken off
  // Around the operations, in their process.
  std::function<void()> begin = [] {};
  std::function<void()> end = [] {};
};

// Throws Broken if no process can be made.
Ended RunProgram(const ProgramMachine& machine, const Program& program, const RunOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_RUN_H_
