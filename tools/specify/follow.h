// SPDX-License-Identifier: Apache-2.0
// Runs a program in this process, and lets the specification follow it.
#ifndef PMUCONF_TOOLS_SPECIFY_FOLLOW_H_
#define PMUCONF_TOOLS_SPECIFY_FOLLOW_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/spec/judge.h"
#include "oracle/spec/model.h"
#include "tools/repro/child.h"
#include "tools/repro/machine.h"
#include "tools/repro/program.h"
#include "tools/specify/event_kinds.h"
#include "tools/specify/perf_clock.h"

namespace pmuconf {

inline constexpr std::size_t kSpecStates = 8;

// How often operations met states, and followed each other.
struct SpecCoverage {
  std::array<std::array<std::uint64_t, kSpecStates>, kOperations> states = {};
  std::array<std::array<std::uint64_t, kOperations>, kOperations> pairs = {};
};

struct FollowedStep {
  std::string result;   // of the system call
  std::string error;    // its errno, "" for none
  bool judged = false;  // the model predicted something
  bool free = false;    // chance decides whether the call succeeds
  std::string rule;     // the check of the errno model that predicted the errno
  std::vector<SpecDisagreement> disagreements;
};

class Follower {
 public:
  Follower(const ProgramMachine& machine, const TargetKinds& kinds, SpecJudge* judge,
           SpecCoverage* coverage);
  Follower(const Follower&) = delete;

  // Runs the program up to the first operation with a disagreement that is not a known deviation,
  // and undoes its effects. Stores in `progress` the number of the operation that runs.
  std::vector<FollowedStep> Run(const Program& program, volatile std::uint64_t* progress);

 private:
  void Follow(SpecModel& model, const Step& step, const Outcome& outcome);
  void FollowOpen(SpecModel& model, const Step& step, const Outcome& outcome,
                  const SpecResult& result);
  // Whether it depends on a switch of tasks whether the call succeeds.
  bool LeftToChance(const Step& step) const;
  bool Valid(const Step& step, const perf_event_attr& attr, const EventKind& kind) const;
  SpecNow Now();

  // The arguments of the events that are open, by slot.
  struct Opened {
    perf_event_attr attr = {};
    OpenWho who = OpenWho::kThisTask;
    OpenCpu cpu = OpenCpu::kAny;
    bool leads = true;
  };

  const TargetKinds& kinds_;
  PerfClock clock_;
  SpecMachine machine_;
  SpecJudge* judge_;
  SpecCoverage* coverage_;
  ProgramExecutor executor_;
  std::array<std::optional<Opened>, kProgramSlots> opened_;
  bool child_ = false, forked_ = false;
  SpecNow now_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_FOLLOW_H_
