// SPDX-License-Identifier: Apache-2.0
// Which events have counters, and their times. Rules: MUX-005, MUX-007, MUX-011, MUX-012, MUX-015,
// GRP-001, GRP-006, GRP-013, RDF-012, RDF-013.
#include <algorithm>

#include "oracle/spec/model.h"

namespace pmuconf {
namespace {

constexpr unsigned kFixedShift = 32;

// Whether each event gets a counter of its own: a search over all assignments.
bool Assign(const std::vector<SpecKind>& kinds, std::size_t next, std::uint64_t used,
            std::uint64_t present) {
  if (next == kinds.size()) return true;
  const SpecKind& kind = kinds[next];
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((kind.counters & present & ~used) >> bit % 64 == 0) break;
    std::uint64_t taken = 1ull << bit;
    if ((kind.counters & present & ~used & taken) == 0) continue;
    if (kind.wide) {
      taken |= taken << 1;
      if (bit % 2 != 0 || (taken & present & ~used) != taken) continue;
    }
    if (Assign(kinds, next + 1, used | taken, present)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::size_t> SpecModel::GroupOf(const SpecEvent& event) const {
  std::vector<std::size_t> group = {event.leader};
  const std::vector<std::size_t>& siblings = events_[event.leader].siblings;
  group.insert(group.end(), siblings.begin(), siblings.end());
  return group;
}

bool SpecModel::Enabled(const SpecEvent& event) const {
  return event.alive && event.on && !event.task_exited && events_[event.leader].on;
}

bool SpecModel::Fit(const std::vector<std::size_t>& leaders,
                    const std::vector<std::size_t>& more) const {
  std::vector<SpecKind> kinds;
  const auto add = [&](std::size_t i) {
    if (events_[i].kind.hardware()) kinds.push_back(events_[i].kind);
  };
  for (const std::size_t leader : leaders) {
    for (const std::size_t i : GroupOf(events_[leader])) {
      if (Enabled(events_[i])) add(i);
    }
  }
  for (const std::size_t i : more) add(i);
  // Those that can use fewest counters first.
  std::sort(kinds.begin(), kinds.end(), [](const SpecKind& a, const SpecKind& b) {
    return __builtin_popcountll(a.counters) < __builtin_popcountll(b.counters);
  });
  const auto low = [](unsigned n) { return n >= kFixedShift ? ~0u : (1u << n) - 1; };
  const std::uint64_t present =
      std::uint64_t{low(machine_.fixed)} << kFixedShift | low(machine_.general);
  return kinds.size() <= 64 && Assign(kinds, 0, 0, present);
}

// `task`: the task that runs. Events of the CPU and of the task share the counters.
SpecModel::Running SpecModel::Compete(SpecTask task) const {
  std::vector<std::size_t> all, pinned;
  bool alone = false;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const SpecEvent& event = events_[i];
    if (event.leader != i || !Enabled(event)) continue;
    const bool here = event.task == SpecTask::kCpu || event.task == task ||
                      (task == SpecTask::kChild && event.copied);
    if (!here || !event.competes) continue;
    all.push_back(i);
    if (event.attr.pinned) pinned.push_back(i);
    alone = alone || event.attr.exclusive;
  }
  if (alone && all.size() > 1) return {false, false};
  return {Fit(all, {}), Fit(pinned, {})};
}

void SpecModel::Begin(const SpecNow& before, const SpecNow& after) {
  const std::uint64_t time = after.time - before.time, on_cpu = after.on_cpu - before.on_cpu;
  const SpecNow last = now_.after;
  now_ = {before, after};
  now_.before.task_context = last.task_context;
  now_.before.cpu_context = last.cpu_context;
  now_.before.undisturbed = last.undisturbed;
  now_.after.task_context = last.task_context + on_cpu;
  now_.after.cpu_context = last.cpu_context + time;
  now_.after.undisturbed = last.undisturbed + on_cpu;
}

void SpecModel::StandStill(const SpecEvent& event) {
  now_.after.undisturbed = now_.before.undisturbed;
  // A pinned event of the CPU displaces all events of the task, whose context then stands still.
  const bool displaces = event.task == SpecTask::kCpu && Leader(event).attr.pinned;
  if (!machine_.time_goes_on || displaces) now_.after.task_context = now_.before.task_context;
  if (!machine_.time_goes_on) now_.after.cpu_context = now_.before.cpu_context;
}

Interval SpecModel::Elapsed(const Moment& from, SpecTask task) const {
  Interval wall = Growth(from, now_, &SpecNow::time);
  if (task == SpecTask::kSelf) wall.low = Growth(from, now_, &SpecNow::task_context).low;
  if (task == SpecTask::kCpu) wall.low = Growth(from, now_, &SpecNow::cpu_context).low;
  // The child waits most of the time.
  if (task == SpecTask::kChild) wall.low = 0;
  return wall;
}

void SpecModel::Change(SpecTimes& times, bool enabled, SpecRuns runs, SpecTask task) {
  if (!enabled) runs = SpecRuns::kNever;
  if (runs == SpecRuns::kMaybe) times.behind.reset();
  if (times.enabled_since && !enabled) {
    times.enabled.Add(Elapsed(*times.enabled_since, task));
    times.enabled_since.reset();
  } else if (!times.enabled_since && enabled) {
    times.enabled_since = now_;
  }
  if (runs == times.runs) return;
  if (times.running_since) {
    Interval ran = Elapsed(*times.running_since, task);
    if (times.runs == SpecRuns::kMaybe) ran.low = 0;
    times.running.Add(ran);
    times.running_since.reset();
  }
  if (runs != SpecRuns::kNever) times.running_since = now_;
  times.runs = runs;
}

void SpecModel::AddSoftwareCount(SpecEvent& event) {
  if (!event.counted_since) return;
  Interval added;
  switch (event.kind.source) {
    case SpecSource::kFaults:
      added = Growth(*event.counted_since, now_, &SpecNow::faults);
      break;
    case SpecSource::kSwitches:
      added = Growth(*event.counted_since, now_, &SpecNow::switches);
      break;
    case SpecSource::kSyscalls:
      // The program may have made more.
      added.low = Growth(*event.counted_since, now_, &SpecNow::syscalls).low;
      added.high = Interval::kUnbounded;
      break;
    case SpecSource::kTime:
      added = Elapsed(*event.counted_since, event.task);
      added.low =
          std::min(added.low, Growth(*event.counted_since, now_, &SpecNow::undisturbed).low);
      break;
    default:
      added.high = Interval::kUnbounded;
      break;
  }
  const bool part = event.attr.exclude_user || event.attr.exclude_kernel;
  const bool time = event.kind.source == SpecSource::kTime;
  if (part || event.times.runs == SpecRuns::kMaybe) added.low = 0;
  if (event.task == SpecTask::kChild || (event.task == SpecTask::kCpu && !time)) added.low = 0;
  // On one CPU, all tasks together run no longer than the time.
  if (!time && (event.task != SpecTask::kSelf || event.attr.inherit)) {
    added.high = Interval::kUnbounded;
  }
  event.count.Add(added);
  event.counted_since.reset();
}

// Rules: MUX-005, MUX-007. Flexible events of the task come last, so they are scheduled again with
// any other. Those of the CPU are scheduled again with pinned events, and with events of the CPU.
SpecModel::Tried SpecModel::TriedWith(const SpecEvent& event) const {
  const SpecEvent& leader = events_[event.leader];
  if (!Enabled(event) || !event.kind.hardware() || event.task == SpecTask::kChild) return {};
  // A member starts only if its group runs.
  if (&leader != &event && leader.times.runs != SpecRuns::kYes) return {};
  return {true, event.task == SpecTask::kCpu || leader.attr.pinned};
}

void SpecModel::Schedule(const Tried& tried) {
  const Running self = Compete(SpecTask::kSelf);
  const Running child = child_ ? Compete(SpecTask::kChild) : self;
  const auto chance = [](const SpecEvent& leader, const Running& running) {
    if (running.all) return SpecRuns::kYes;
    return leader.attr.pinned && running.pinned ? SpecRuns::kYes : SpecRuns::kMaybe;
  };
  for (SpecEvent& event : events_) {
    if (!event.alive || event.task_exited) continue;
    const bool enabled = Enabled(event);
    SpecRuns runs = SpecRuns::kYes, copy_runs = SpecRuns::kYes;
    if (Leader(event).competes) {
      const SpecEvent& leader = events_[event.leader];
      const SpecRuns here = chance(leader, self), there = chance(leader, child);
      copy_runs = there;
      runs = event.task == SpecTask::kChild ? there
             : event.task == SpecTask::kCpu ? std::min(here, there)
                                            : here;
      // A pinned event without a counter is in the error state, and stays there.
      const bool pinned_fails = leader.attr.pinned && (!self.pinned || !child.pinned);
      if (enabled && (pinned_fails || leader.unsure)) event.unsure = true;
    }
    // It waits until the kernel schedules again.
    const bool again = event.task == SpecTask::kCpu ? tried.cpu : tried.task;
    if ((event.times.runs == SpecRuns::kMaybe || event.orphan) && !again && enabled &&
        event.task != SpecTask::kChild) {
      runs = std::min(runs, SpecRuns::kMaybe);
    }
    if (again) event.orphan = false;
    if (event.unsure) runs = copy_runs = SpecRuns::kMaybe;
    const bool counts_before = event.times.runs != SpecRuns::kNever;
    if (counts_before && event.counted_since && (!enabled || runs != event.times.runs)) {
      AddSoftwareCount(event);
    }
    Change(event.times, enabled, runs, event.task);
    const bool own =
        event.kind.source != SpecSource::kPulses && event.kind.source != SpecSource::kNothing;
    if (own && event.times.runs != SpecRuns::kNever && !event.counted_since) {
      event.counted_since = now_;
    }
    if (event.copied) Change(event.copy_times, enabled, copy_runs, SpecTask::kChild);
  }
}

Interval SpecModel::Total(const SpecEvent& event, bool running) const {
  const auto part = [&](const SpecTimes& times, SpecTask task) {
    Interval sum = running ? times.running : times.enabled;
    const std::optional<Moment>& since = running ? times.running_since : times.enabled_since;
    if (since) {
      Interval more = Elapsed(*since, task);
      if (running && times.runs == SpecRuns::kMaybe) more.low = 0;
      sum.Add(more);
    }
    return sum;
  };
  Interval total = part(event.times, event.task);
  total.Add(running ? event.ended_running : event.ended_enabled);
  if (event.copied) total.Add(part(event.copy_times, SpecTask::kChild));
  return total;
}

}  // namespace pmuconf
