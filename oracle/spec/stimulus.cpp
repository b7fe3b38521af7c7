// SPDX-License-Identifier: Apache-2.0
// Events that happen: counts and samples. Rules: CNT-005, CNT-009, SMP-001, SMP-006, SMP-008,
// SMP-009, SMP-011, CTL-011.
#include <algorithm>
#include <utility>

#include "oracle/spec/model.h"

namespace pmuconf {
namespace {

std::uint64_t EventsOf(const SpecKind& kind, const SpecHappening& what) {
  return what.clock ? what.n >> kind.shift : what.n;
}

}  // namespace

bool SpecModel::Counts(const SpecEvent& event, const SpecHappening& what, SpecRuns* runs) const {
  if (!event.alive || event.kind.source != SpecSource::kPulses) return false;
  if (what.clock ? event.kind.shift < 0 : event.kind.code != what.code) return false;
  if (what.kernel ? event.attr.exclude_kernel : event.attr.exclude_user) return false;
  *runs = event.times.runs;
  if (event.task == SpecTask::kCpu) return *runs != SpecRuns::kNever;
  if (what.in_child) {
    if (event.task == SpecTask::kSelf) {
      if (!event.copied) return false;
      *runs = event.copy_times.runs;
    }
  } else if (event.task == SpecTask::kChild) {
    return false;
  }
  return *runs != SpecRuns::kNever;
}

// The counts of the event, or of its group, when `events` of its own have happened.
std::vector<Interval> SpecModel::ValuesAt(const SpecEvent& event, const SpecHappening& what,
                                          std::uint64_t events) {
  std::vector<Interval> values;
  if ((event.attr.sample_type & PERF_SAMPLE_READ) == 0) return values;
  const bool group = (event.attr.read_format & PERF_FORMAT_GROUP) != 0;
  const std::vector<std::size_t> members =
      group ? GroupOf(event) : std::vector<std::size_t>{IndexOf(event)};
  for (const std::size_t i : members) {
    const SpecEvent& member = events_[i];
    Interval value = member.count;
    SpecRuns runs = SpecRuns::kNever;
    if (member.kind.source != SpecSource::kPulses && member.kind.source != SpecSource::kNothing) {
      value.high = Interval::kUnbounded;
      value.low = 0;
    } else if (Counts(member, what, &runs)) {
      Interval more = {events, events};
      if (what.clock && member.kind.shift != event.kind.shift) {
        const std::uint64_t about = (events << event.kind.shift) >> member.kind.shift;
        more = {about > 0 ? about - 1 : 0, about + 1};
      }
      if (runs == SpecRuns::kMaybe) more.low = 0;
      value.Add(more);
    }
    values.push_back(value);
  }
  return values;
}

// Rules: SIG-002, SIG-004, SIG-005.
void SpecModel::Signal(const SpecEvent& event, bool last) {
  if (!event.signals) return;
  SpecSignals& signals = signals_[*event.signals];
  signals.count.Add({1, 1});
  signals.last_hangs_up = last;
}

void SpecModel::SignalPerhaps(const SpecEvent& event) {
  if (!event.signals) return;
  signals_[*event.signals].count.high = Interval::kUnbounded;
  signals_[*event.signals].code_known = false;
}

void SpecModel::TakeSignals(unsigned slot, int code, const SpecResult& result) {
  const SpecSignals expected = std::exchange(signals_[slot], {});
  const auto count = static_cast<std::uint64_t>(result.value);
  if (expected.count.high == Interval::kUnbounded) {
    judge_->CannotJudge(SpecCheck::kSignals);
  }
  judge_->Compare(SpecCheck::kSignals, expected.count, count);
  if (count == 0) return;
  if (!expected.code_known) return judge_->CannotJudge(SpecCheck::kSignalCode);
  constexpr std::uint64_t kIn = 1, kHangUp = 6;
  const std::uint64_t predicted = expected.last_hangs_up ? kHangUp : kIn;
  judge_->Compare(SpecCheck::kSignalCode, {predicted, predicted}, static_cast<std::uint64_t>(code));
}

// Adds the samples that `n` events cause. Returns how many of them the event counts.
Interval SpecModel::Sampled(SpecEvent& event, const SpecHappening& what, std::uint64_t n,
                            std::vector<Overflow>& overflows) {
  if (!event.left) return {event.limit > 0 ? 0 : n, n};
  std::uint64_t counted = 0;
  while (n - counted >= *event.left) {
    counted += *event.left;
    event.left = event.period;
    Overflow overflow;
    overflow.at = what.clock ? counted << event.kind.shift : counted;
    SpecRecord& record = overflow.record;
    record.type = PERF_RECORD_SAMPLE;
    record.event = IndexOf(event);
    record.size = SampleSize(event);
    record.task = what.in_child ? SpecTask::kChild : SpecTask::kSelf;
    record.kernel = what.kernel;
    record.period = event.period;
    if (event.ring) record.values = ValuesAt(event, what, counted);
    overflows.push_back(std::move(overflow));
    Signal(event, event.limit == 1);
    if (event.limit > 0 && --event.limit == 0) {
      event.on = false;
      return {counted, counted};
    }
  }
  *event.left -= n - counted;
  return {n, n};
}

void SpecModel::Happen(const SpecHappening& what, const SpecResult& result) {
  judge_->Expect(SpecCheck::kResult, result.error == 0, "0", std::to_string(result.error));
  if (result.error != 0) return;
  std::vector<std::pair<std::size_t, Interval>> counted;
  std::vector<Overflow> overflows;
  std::vector<std::size_t> stopped;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    SpecEvent& event = events_[i];
    SpecRuns runs = SpecRuns::kNever;
    if (!Counts(event, what, &runs)) continue;
    const std::uint64_t n = EventsOf(event.kind, what);
    Interval added = {runs == SpecRuns::kYes ? n : 0, n};
    if (event.period != 0) {
      // Tasks with equal events exchange them, with the rest of the period.
      const bool exchanged = event.exchanged || (event.attr.inherit && child_);
      if (runs == SpecRuns::kMaybe || exchanged) {
        event.left.reset();
        if (event.limit > 0) event.unsure = true;
      }
      if (!event.left) SignalPerhaps(event);
      const bool was_on = event.on;
      if (event.left) {
        added = Sampled(event, what, n, overflows);
      } else if (event.ring) {
        rings_[*event.ring].unsure = true;
        event.lost.high = Interval::kUnbounded;
      }
      if (was_on && !event.on) stopped.push_back(i);
    }
    counted.emplace_back(i, added);
  }
  for (auto& [i, added] : counted) {
    for (const std::size_t other : stopped) {
      SpecEvent& event = events_[i];
      // The members stop soon after their leader.
      if (event.leader != other || i == other) continue;
      added.low = 0;
      if (event.period == 0) continue;
      event.left.reset();
      if (event.signals) signals_[*event.signals].count.low = 0;
      SignalPerhaps(event);
      if (event.limit > 0) event.unsure = true;
      if (!event.ring) continue;
      rings_[*event.ring].unsure = true;
      event.lost.high = Interval::kUnbounded;
    }
    events_[i].count.Add(added);
  }
  std::stable_sort(overflows.begin(), overflows.end(),
                   [](const Overflow& a, const Overflow& b) { return a.at < b.at; });
  for (Overflow& overflow : overflows) Write(std::move(overflow.record));
  if (!stopped.empty()) Schedule({});
}

}  // namespace pmuconf
