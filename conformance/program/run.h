// SPDX-License-Identifier: Apache-2.0
// Runs programs in processes of their own, and compares what perf_event_open answers with what the
// errno model says, wherever the model knows what is there.
#ifndef PMUCONF_PROGRAM_RUN_H_
#define PMUCONF_PROGRAM_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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

// A process that runs programs one after the other, and takes back what each did: to make a process
// for each costs more than what they do. It is made by another one, which is as small as this one
// was when it began: to copy what a fuzzer has by then costs more, too.
class ProgramProcess {
 public:
  using Decode = std::function<Program(std::span<const std::uint8_t>)>;

  // `decode` is asked in the process, for the program that a string of bytes is. It and `options`
  // see the memory of this moment. Throws Broken if no process can be made.
  ProgramProcess(const ProgramMachine& machine, Decode decode, RunOptions options);
  ProgramProcess(const ProgramProcess&) = delete;
  ~ProgramProcess();

  // After the last one the process exits as it is, with its events open; the next has a new one.
  // Throws Broken if no process can be made.
  Ended Run(std::span<const std::uint8_t> bytes, bool last);
  // Kills it, and tells whether that ended it: the next program has a new one.
  bool Kill();

 private:
  struct Shared;
  class Maker;
  class Running;
  // What the process does, until nobody is at the other end.
  [[noreturn]] void Serve(int socket) const;
  const ProgramMachine& machine_;
  Decode decode_;
  RunOptions options_;
  Shared* shared_ = nullptr;
  std::unique_ptr<Maker> maker_;
  std::unique_ptr<Running> running_;
};

// In a process of its own. Throws Broken if none can be made.
Ended RunProgram(const ProgramMachine& machine, const Program& program, const RunOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_RUN_H_
