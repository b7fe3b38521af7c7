// SPDX-License-Identifier: Apache-2.0
// Real work as the stimulus: a process that executes a known number of instructions, branches,
// loads, stores or calls in user mode, and nothing else.
//
// The worker is a child that this process traces. Between two commands it is stopped in the kernel.
// A command sets its registers to a place in a fixed piece of assembly and continues it; the piece
// ends with a system call that stops the worker again. So an event of the worker that excludes the
// kernel counts the work of the command alone, from the first unit on, whatever this process does.
#ifndef PMUCONF_STIMULUS_WORK_WORK_H_
#define PMUCONF_STIMULUS_WORK_WORK_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "perf/event.h"

namespace pmuconf {

inline constexpr WorkKind kWorkKinds[] = {WorkKind::kInstructions, WorkKind::kBranches,
                                          WorkKind::kLoads, WorkKind::kStores, WorkKind::kCalls};
std::string_view ToString(WorkKind kind);  // "instructions"
std::optional<WorkKind> WorkKindFromString(std::string_view name);

// One command: where the worker starts, and how often it goes round the loop in front of it.
// `single` is the number of units in straight line code.
struct WorkPlan {
  std::uint64_t rounds = 0;
  unsigned single = 0;
  bool operator==(const WorkPlan&) const = default;
};
// The longest stretch of straight line code, in units. After a loop the worker executes all of it.
inline constexpr unsigned kLadder = 64;
// Returns the plan for `n` units. nullopt if one command cannot execute exactly that many.
std::optional<WorkPlan> PlanWork(WorkKind kind, std::uint64_t n);

// Returns the events of each command when `n` events are divided: as few as possible, in at most
// about kMostSteps commands, but at least `least`. Each command counts `extra` events in addition
// to its units.
inline constexpr std::uint64_t kMostSteps = 2'000;
std::uint64_t StepOfWork(std::uint64_t n, std::uint64_t extra, std::uint64_t least = 1);
// Returns the address of unit `unit` of the straight line code, 0 to kLadder. The last one is that
// of the system call.
std::uint64_t LadderAddress(WorkKind kind, unsigned unit);

class Worker {
 public:
  // Forks the worker and waits until it is stopped. Throws Broken if that fails.
  Worker();
  Worker(const Worker&) = delete;
  ~Worker();  // kills and reaps it

  pid_t pid() const { return pid_; }
  bool Mine() const;  // whether this process forked it

  // Executes `n` units on EventCpu(). `extra` is what the event counts of each command in addition
  // to its units, and n > extra or n = 0. Returns when the worker is stopped again. Throws Broken
  // if it dies, or if another process calls this.
  void Run(WorkKind kind, std::uint64_t n, std::uint64_t extra = 0);

  // Divides the work of later Run()s into steps (StepOfWork()). The kernel runs between them,
  // so each interrupt of an overflow comes before the next command. A step has at least `least`
  // events: a driver that starts each period with a longer one would never see its end.
  void RunInSteps(std::uint64_t least) { step_ = least; }

  // Sets the registers for a plan. The worker executes it when it is continued.
  void Load(WorkKind kind, const WorkPlan& plan);

 private:
  void RunStep(WorkKind kind, std::uint64_t n, std::uint64_t extra);
  void Execute(WorkKind kind, const WorkPlan& plan);
  void AwaitStop() const;
  void PinTo(int cpu);

  pid_t owner_;  // the only process that can trace it
  pid_t pid_ = -1;
  int cpu_ = -1;                       // where it is pinned; -1: not pinned
  std::optional<std::uint64_t> step_;  // the shortest step, if the work is divided
};

// The worker of this process. StartWorker() forks it, once; its events replace those of the calling
// task (OpenPolicy::default_task).
void StartWorker();
Worker* StartedWorker();  // nullptr before StartWorker(), and in children of this process

}  // namespace pmuconf

#endif  // PMUCONF_STIMULUS_WORK_WORK_H_
