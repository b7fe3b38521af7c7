// SPDX-License-Identifier: Apache-2.0
// A process that runs programs, one after the other, and reports disagreements. Its owner notices
// when it hangs or dies.
#ifndef PMUCONF_TOOLS_SPECIFY_WORKER_H_
#define PMUCONF_TOOLS_SPECIFY_WORKER_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "oracle/spec/judge.h"
#include "tools/repro/machine.h"
#include "tools/repro/program.h"
#include "tools/specify/event_kinds.h"
#include "tools/specify/follow.h"
#include "tools/specify/record.h"

namespace pmuconf {

// Memory that the worker shares with its owner.
struct WorkerTotals {
  volatile std::uint64_t program = 0, step = 0;  // that runs
  volatile bool minimising = false;
  std::uint64_t programs = 0, operations = 0;
  std::array<std::uint64_t, kSpecFindings.size()> known = {};  // disagreements, by finding
  std::uint64_t disagreeing = 0;                               // programs
  std::array<std::uint64_t, kSpecChecks> decided = {}, unknown = {};
  SpecCoverage coverage;
};

struct WorkerTask {
  // Returns the program with a number.
  std::function<Program(std::uint64_t number)> program;
  std::uint64_t first = 0, end = 0;
  double seconds = 0;  // 0: no limit
  bool keep_going = false;
  ProgramRecorder* recorder = nullptr;
};

// Runs the programs in a process of its own, and in another one if that process hangs or dies.
// `found` receives each disagreement, crash and hang, as an object with the program as text.
void RunWorker(const ProgramMachine& machine, const TargetKinds& kinds, const WorkerTask& task,
               WorkerTotals* totals, const std::function<void(const nlohmann::json&)>& found);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_WORKER_H_
