// SPDX-License-Identifier: Apache-2.0
// Translates the operations of a program to those of the specification.
#include "tools/specify/follow.h"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "target/expression.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

// In older kernels, the time of a context stands still while its events are scheduled.
constexpr std::string_view kTimeGoesOn = ">=6.12";

struct Usage {
  std::uint64_t faults = 0, switches = 0;
};

Usage OwnUsage() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return {static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt),
          static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw)};
}

std::uint64_t Word(std::span<const std::byte> data) {
  std::uint64_t word = 0;
  std::memcpy(&word, data.data(), std::min(data.size(), sizeof(word)));
  return word;
}

SpecTask TaskOf(OpenWho who) {
  return who == OpenWho::kThisTask   ? SpecTask::kSelf
         : who == OpenWho::kAllTasks ? SpecTask::kCpu
                                     : SpecTask::kChild;
}

}  // namespace

Follower::Follower(const ProgramMachine& machine, const TargetKinds& kinds, SpecJudge* judge,
                   SpecCoverage* coverage)
    : kinds_(kinds),
      machine_(kinds.machine),
      judge_(judge),
      coverage_(coverage),
      executor_(machine, false) {
  machine_.exact_clock = clock_.exact();
  machine_.time_goes_on = KernelMatches(kTimeGoesOn, KernelRelease());
}

SpecNow Follower::Now() {
  SpecNow now = now_;
  Usage before, after = OwnUsage();
  // No switch may lie between the time and the number of switches.
  do {
    before = after;
    now.time = clock_.Now();
    after = OwnUsage();
  } while (before.switches != after.switches);
  now.syscalls += 1;  // that of OwnUsage()
  now.faults = after.faults;
  now.switches = after.switches;
  // While the task was switched out, its context stood still.
  if (now.switches == now_.switches) now.on_cpu += now.time - now_.time;
  return now;
}

// After tasks have exchanged their equal events, the leader may belong to the child.
bool Follower::LeftToChance(const Step& step) const {
  return step.operation == Operation::kOpen && step.call.group != OpenGroup::kNone &&
         step.call.Attr().inherit && forked_;
}

bool Follower::Valid(const Step& step, const perf_event_attr& attr, const EventKind& kind) const {
  const OpenCall& call = step.call;
  if (kind.kind.source == SpecSource::kUnknown || !step.rights) return false;
  if (call.flags != PERF_FLAG_FD_CLOEXEC || !call.descriptors_available) return false;
  if (call.who == OpenWho::kOtherTask && !child_) return false;
  if (call.who == OpenWho::kAllTasks ? call.cpu != OpenCpu::kFirst
                                     : call.cpu != OpenCpu::kAny && call.cpu != OpenCpu::kFirst) {
    return false;
  }
  if (attr.inherit && (attr.sample_type & PERF_SAMPLE_READ) != 0) return false;
  // Refused by kernels whose inherited readings may not have groups.
  if (attr.inherit && (attr.read_format & PERF_FORMAT_GROUP) != 0) return false;
  if (LeftToChance(step)) return false;
  if (call.group == OpenGroup::kNone) return true;
  const std::optional<Opened>& leader = opened_[step.other];
  return leader && leader->leads && leader->who == call.who && leader->cpu == call.cpu &&
         leader->attr.inherit == attr.inherit && !attr.pinned && !attr.exclusive &&
         call.who != OpenWho::kOtherTask;
}

void Follower::FollowOpen(SpecModel& model, const Step& step, const Outcome& outcome,
                          const SpecResult& result) {
  SpecOpen open;
  open.attr = step.call.Attr();
  const EventKind kind = KindOf(kinds_, open.attr.type, open.attr.config);
  open.kind = kind.kind;
  open.task = TaskOf(step.call.who);
  open.any_cpu = step.call.cpu == OpenCpu::kAny;
  open.grouped = step.call.group != OpenGroup::kNone;
  open.leader = step.other;
  // The errno model judges the attr.
  open.valid = Valid(step, open.attr, kind) && (!outcome.known || outcome.predicted == 0);
  if (outcome.known && !open.valid) {
    const std::string reason = outcome.check == nullptr
                                   ? ""
                                   : " (" + std::string(outcome.check->rule) + " " +
                                         std::string(outcome.check->name) + ")";
    judge_->Expect(SpecCheck::kOpens, !outcome.Mismatch(), ErrnoName(outcome.predicted) + reason,
                   ErrnoName(outcome.error));
  }
  model.Open(step.slot, open, result);
  if (outcome.error != 0) return;
  opened_[step.slot] = {open.attr, step.call.who, step.call.cpu, !open.grouped};
}

void Follower::Follow(SpecModel& model, const Step& step, const Outcome& outcome) {
  SpecResult result;
  result.value = outcome.value;
  result.error = outcome.error;
  result.data = executor_.data();
  SpecHappening what;
  what.code = static_cast<std::uint16_t>(ProgramPulses()[step.which % kProgramPulses]);
  what.n = step.value;
  what.kernel = step.value % 2 != 0;
  switch (step.operation) {
    case Operation::kOpen:
      return FollowOpen(model, step, outcome, result);
    case Operation::kIoctl: {
      const ProgramIoctl& row = ProgramIoctls()[step.which];
      if (row.request == PERF_EVENT_IOC_ID && outcome.error == 0) {
        result.value = static_cast<long>(Word(result.data));
      }
      return model.Ioctl(step.slot, row.request, step.value, step.other, result);
    }
    case Operation::kMap:
      return model.Map(step.slot, std::size_t{1} << step.which, step.value % 2 == 0, result);
    case Operation::kUnmap:
      if (step.which == 0) model.Unmap(step.slot, result);
      return;
    case Operation::kRead:
      return model.Read(step.slot, step.value, result);
    case Operation::kDrain:
      return model.Drain(step.slot, result);
    case Operation::kPoll:
      result.value = result.data.empty() ? 0 : std::to_integer<long>(result.data[0]);
      return model.Poll(step.slot, result);
    case Operation::kClose:
      opened_[step.slot].reset();
      return model.Close(step.slot, result);
    case Operation::kSignals:
      if (step.which == 0) return model.SendSignals(step.slot, result);
      return model.TakeSignals(step.slot, std::to_integer<int>(result.data[0]), result);
    case Operation::kDuplicate:
      if (outcome.error == 0) opened_[step.other] = opened_[step.slot];
      return model.Duplicate(step.slot, step.other, result);
    case Operation::kTasks:
      return model.SwitchTasks(step.which == 1, result);
    case Operation::kFork:
      if (outcome.error == 0) child_ = forked_ = true;
      return model.Fork(result);
    case Operation::kChild:
      if (step.which == 2) return;
      child_ = false;
      if (step.which == 1) model.ChildExecs();
      return model.ChildExits();
    case Operation::kAdvance:
      what.clock = true;
      what.n = step.value * kProgramTicks;
      what.kernel = step.which == 1;
      return model.Happen(what, result);
    case Operation::kPulse:
      return model.Happen(what, result);
    case Operation::kChildPulse:
      if (outcome.error == ECHILD) return;
      what.in_child = true;
      return model.Happen(what, result);
    default:
      return;
  }
}

std::vector<FollowedStep> Follower::Run(const Program& program, volatile std::uint64_t* progress) {
  SpecModel model(machine_, judge_);
  model.SetTasks(static_cast<std::uint32_t>(getpid()));
  opened_ = {};
  child_ = forked_ = false;
  std::vector<FollowedStep> steps;
  clock_.Refresh();
  now_ = Now();
  model.Begin(now_, now_);
  judge_->Clear();
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const auto operation = static_cast<std::size_t>(step.operation);
    *progress = i;
    const std::span<const std::string_view> states = SpecModel::States();
    const auto state = std::find(states.begin(), states.end(), model.StateOf(step.slot));
    ++coverage_->states[operation][static_cast<std::size_t>(state - states.begin())];
    if (i > 0) {
      ++coverage_->pairs[static_cast<std::size_t>(program.steps[i - 1].operation)][operation];
    }
    const Outcome outcome = executor_.Do(step);
    SpecNow after = Now();
    if (step.operation == Operation::kWork && step.which == 3) after.syscalls += step.value;
    model.Begin(now_, after);
    now_ = after;
    Follow(model, step, outcome);
    FollowedStep followed;
    if (outcome.error != 0) followed.error = ErrnoName(outcome.error);
    followed.result = outcome.error == 0 ? std::to_string(outcome.value) : followed.error;
    followed.judged = judge_->judged();
    followed.free = LeftToChance(step);
    if (outcome.known && outcome.check != nullptr) followed.rule = outcome.check->rule;
    followed.disagreements = judge_->disagreements();
    judge_->Clear();
    const bool fatal =
        std::any_of(followed.disagreements.begin(), followed.disagreements.end(),
                    [](const SpecDisagreement& each) { return each.finding.empty(); });
    steps.push_back(std::move(followed));
    if (fatal) break;
  }
  executor_.Undo();
  // The kernel has just calibrated its clock, so the times of this program are not exact.
  if (clock_.Refresh()) {
    for (FollowedStep& step : steps) step.disagreements.clear();
  }
  return steps;
}

}  // namespace pmuconf
