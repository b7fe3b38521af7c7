// SPDX-License-Identifier: Apache-2.0
// Readings. Rules: RDF-001 to RDF-013, CNT-005, INH-001, INH-004, INH-025, GRP-007.
#include <cerrno>
#include <limits>

#include "oracle/spec/model.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

std::string Result(long value, int error) {
  return error == 0 ? std::to_string(value) : ErrnoName(error);
}

}  // namespace

void SpecModel::JudgeId(SpecEvent& event, std::uint64_t id, SpecCheck check) {
  if (event.id == 0) {
    bool unique = id != 0;
    for (const SpecEvent& other : events_) unique = unique && other.id != id;
    judge_->Expect(check, unique, "an id of its own", std::to_string(id));
    event.id = id;
    return;
  }
  judge_->Compare(check, {event.id, event.id}, id);
}

void SpecModel::JudgeLost(SpecEvent& event, std::uint64_t lost, std::string_view finding) {
  if (event.lost.high == Interval::kUnbounded) {
    judge_->CannotJudge(SpecCheck::kLost);
    return;
  }
  judge_->Compare(SpecCheck::kLost, event.lost, lost, {}, finding);
}

void SpecModel::JudgeValue(SpecEvent& event, std::uint64_t value) {
  const SpecSource source = event.kind.source;
  const bool exact = source == SpecSource::kPulses || source == SpecSource::kNothing;
  const SpecCheck check = exact                         ? SpecCheck::kValue
                          : source == SpecSource::kTime ? SpecCheck::kClockValue
                                                        : SpecCheck::kSoftwareValue;
  Interval expected = event.count;
  const bool counting = event.counted_since.has_value();
  if (counting) {
    AddSoftwareCount(event);
    event.counted_since = now_;
    expected = event.count;
  }
  const bool no_clock = source == SpecSource::kTime && !machine_.exact_clock;
  if (no_clock) expected = {0, Interval::kUnbounded};
  if (source == SpecSource::kUnknown || expected.high == Interval::kUnbounded) {
    judge_->CannotJudge(check);
    if (expected.high != Interval::kUnbounded) return;
  }
  judge_->Compare(check, expected, value, {}, event.finding);
  if (event.copied && !exact) return;
  event.count = {value, value};
  event.kept.high = std::min(event.kept.high, value);
}

void SpecModel::JudgeTimes(SpecEvent& event, std::uint64_t read_format, std::uint64_t enabled,
                           std::uint64_t running) {
  const bool has_enabled = (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
  const bool has_running = (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;
  const std::string_view finding = event.finding.empty() ? event.time_finding : event.finding;
  const auto judge = [&](SpecCheck check, bool of_running, std::uint64_t observed) {
    if (!machine_.exact_clock) return judge_->CannotJudge(check);
    judge_->Compare(check, Total(event, of_running), observed, "ns", finding);
  };
  if (has_enabled) judge(SpecCheck::kEnabledTime, false, enabled);
  if (has_running) judge(SpecCheck::kRunningTime, true, running);
  if (has_enabled && has_running) {
    judge_->Compare(SpecCheck::kRunningWithinEnabled, {0, enabled}, running, "ns", finding);
    const std::uint64_t behind = event.times.behind.value_or(0);
    if (machine_.time_goes_on && event.times.behind && !event.copied && behind <= enabled) {
      judge_->Compare(SpecCheck::kAllRunning, {enabled - behind, enabled - behind}, running, "ns",
                      finding);
    } else {
      judge_->CannotJudge(SpecCheck::kAllRunning);
    }
    if (event.times.runs != SpecRuns::kMaybe && !event.copied && running <= enabled) {
      event.times.behind = enabled - running;
    }
  }
  // An observation is exact until the next change.
  if (event.copied) return;
  const auto narrow = [this](std::uint64_t value, const Interval& ended, Interval* part,
                             std::optional<Moment>* since) {
    if (!ended.exact() || value < ended.low) return;
    *part = {value - ended.low, value - ended.low};
    if (*since) *since = now_;
  };
  if (has_enabled) {
    narrow(enabled, event.ended_enabled, &event.times.enabled, &event.times.enabled_since);
  }
  if (has_running) {
    narrow(running, event.ended_running, &event.times.running, &event.times.running_since);
  }
}

void SpecModel::Read(unsigned slot, std::size_t size, const SpecResult& result) {
  SpecEvent* const event = At(slot);
  if (event == nullptr) {
    judge_->Expect(SpecCheck::kResult, result.error == EBADF, "EBADF",
                   Result(result.value, result.error));
    return;
  }
  const std::uint64_t format = event->attr.read_format;
  const auto has = [format](std::uint64_t bit) { return (format & bit) != 0 ? 1u : 0u; };
  const std::vector<std::size_t> group =
      has(PERF_FORMAT_GROUP) ? GroupOf(*event) : std::vector<std::size_t>{IndexOf(*event)};
  const std::size_t times =
      has(PERF_FORMAT_TOTAL_TIME_ENABLED) + has(PERF_FORMAT_TOTAL_TIME_RUNNING);
  const std::size_t each = 1 + has(PERF_FORMAT_ID) + has(PERF_FORMAT_LOST);
  const std::size_t whole =
      sizeof(std::uint64_t) * (has(PERF_FORMAT_GROUP) + times + group.size() * each);
  bool unsure = Leader(*event).unsure;
  for (const std::size_t i : group) unsure = unsure || events_[i].unsure;
  // The child's group may differ from the parent's.
  if (unsure || (Leader(*event).copied && has(PERF_FORMAT_GROUP) && result.error == ECHILD)) {
    judge_->CannotJudge(SpecCheck::kReadSize);
    return;
  }
  const std::string_view finding = event->former_member ? "CORE-12" : "";
  if (size < whole) {
    judge_->Expect(SpecCheck::kReadTooShort, result.error == ENOSPC, "ENOSPC",
                   Result(result.value, result.error));
    return;
  }
  const bool right = result.error == 0 && static_cast<std::size_t>(result.value) == whole;
  judge_->Expect(SpecCheck::kReadSize, right, std::to_string(whole),
                 Result(result.value, result.error), finding);
  if (!right) return;
  if (!has(PERF_FORMAT_GROUP)) {
    const std::optional<Reading> reading = ParseReading(result.data, format);
    if (!reading) return;
    JudgeTimes(*event, format, reading->time_enabled, reading->time_running);
    JudgeValue(*event, reading->value);
    if (has(PERF_FORMAT_ID)) JudgeId(*event, reading->id);
    if (has(PERF_FORMAT_LOST)) JudgeLost(*event, reading->lost);
    return;
  }
  const std::optional<GroupReading> reading = ParseGroupReading(result.data, format);
  judge_->Expect(SpecCheck::kMembers, reading && reading->entries.size() == group.size(),
                 std::to_string(group.size()) + " members",
                 reading ? std::to_string(reading->entries.size()) : "none");
  if (!reading || reading->entries.size() != group.size()) return;
  JudgeTimes(Leader(*event), format, reading->time_enabled, reading->time_running);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const GroupEntry& entry = reading->entries[i];
    SpecEvent& member = events_[group[i]];
    JudgeValue(member, entry.value);
    if (has(PERF_FORMAT_ID)) JudgeId(member, entry.id);
    // It has the number of the copy.
    const std::string_view copy = Leader(*event).copied ? "group lost" : "";
    if (has(PERF_FORMAT_LOST)) JudgeLost(member, entry.lost, copy);
  }
}

}  // namespace pmuconf
