// SPDX-License-Identifier: Apache-2.0
// Runs programs in separate processes. Compares the errno of perf_event_open(2) with the errno
// model wherever the model can predict it.
#ifndef PMUCONF_TOOLS_REPRO_RUN_H_
#define PMUCONF_TOOLS_REPRO_RUN_H_

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tools/repro/machine.h"
#include "tools/repro/program.h"

namespace pmuconf {

struct Outcome {
  bool ran = false;
  long value = 0;
  int error = 0;
  bool known = false;  // the model predicts the errno:
  int predicted = 0;
  const OpenCheck* check = nullptr;
  // What the kernel did wrong, other than by its errno; nullptr: nothing.
  const char* wrong = nullptr;

  bool Mismatch() const { return ran && known && predicted != error; }
};

struct RunResult {
  std::vector<Outcome> outcomes;  // one per operation
  bool hung = false;              // it exceeded its time limit
  bool stuck = false;             // it also survived SIGKILL, so it is stuck in the kernel
  pid_t pid = 0;                  // of its process
  int died_of = 0;                // the signal that ended its process
  const char* wrong = nullptr;    // what an audit after the operations found; nullptr: nothing

  bool Passed() const;
};

struct RunOptions {
  double limit_s = 10;
  bool cpus = false;  // allow CPU hotplug
  // After each program: whether disabled events count, and whether all descriptors are closed.
  bool audit = false;
  // Ends the wait for a program, which then counts as hung.
  const volatile std::sig_atomic_t* stop = nullptr;
  // These run before and after the operations, in their process.
  std::function<void()> begin = [] {};
  std::function<void()> end = [] {};
};

// A process that runs many programs and undoes the effects of each, because a new process per
// program would cost more than the program.
// A small helper process forks these processes. It is forked early, because a fork of a fuzzer with
// a large heap would be slow.
class ProgramProcess {
 public:
  using Decode = std::function<Program(std::span<const std::uint8_t>)>;

  // The process calls `decode` to get the program from its bytes. `decode` and `options` see the
  // memory of the time of this call. Throws Broken if it cannot create a process.
  ProgramProcess(const ProgramMachine& machine, Decode decode, RunOptions options);
  ProgramProcess(const ProgramProcess&) = delete;
  ~ProgramProcess();

  // Runs a program. If `last`, the process then exits with its events open, and the next program
  // gets a new process. Throws Broken if it cannot create a process.
  RunResult Run(std::span<const std::uint8_t> bytes, bool last);
  // Kills the process and returns whether it ended. The next program gets a new process.
  bool Kill();

 private:
  struct Shared;
  class Forker;
  class Running;
  // The main loop of the process, until the other end of the socket is closed.
  [[noreturn]] void Loop(int socket) const;
  const ProgramMachine& machine_;
  Decode decode_;
  RunOptions options_;
  Shared* shared_ = nullptr;
  std::unique_ptr<Forker> forker_;
  std::unique_ptr<Running> running_;
};

// Runs one program in a process of its own. Throws Broken if it cannot create one.
RunResult RunProgram(const ProgramMachine& machine, const Program& program,
                     const RunOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_RUN_H_
