// SPDX-License-Identifier: Apache-2.0
#include "target/probe/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "stimulus/work/work.h"
#include "system/cpu.h"
#include "system/interrupts.h"

namespace pmuconf {
namespace {

constexpr int kRounds = 5;
constexpr std::uint64_t kCommands = 3;  // as many as Stimulus.CountEqualsStimulus gives at least
// Odd numbers: one command executes exactly that many instructions.
constexpr std::uint64_t kLengths[] = {101, 1'001, 10'001};
constexpr std::uint64_t kLongLength = 50'000'001;  // at least 10 ms, several timer interrupts
constexpr std::int64_t kMostExtra = 1'000;
constexpr std::uint64_t kMostAbs = 30;  // a tenth of the shortest length
constexpr double kMostRel = 0.1;
constexpr double kMargin = 2;  // of a bound from few long commands
constexpr int kLongCommands = 3;

// The least and the greatest count of each length.
struct Span {
  std::uint64_t least = ~0ULL;
  std::uint64_t most = 0;
};
using Spans = std::map<std::uint64_t, Span>;

Spans SpansOf(const std::vector<WorkCount>& counts) {
  Spans spans;
  for (const WorkCount& c : counts) {
    Span& span = spans[c.length];
    span.least = std::min(span.least, c.count);
    span.most = std::max(span.most, c.count);
  }
  return spans;
}

std::uint64_t Difference(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

// Returns how much the counts of a length deviate from it.
std::uint64_t Deviation(std::uint64_t length, const Span& span) {
  return std::max(Difference(span.least, length), Difference(span.most, length));
}

std::int64_t Excess(const WorkCount& c) {
  return static_cast<std::int64_t>(c.count) - static_cast<std::int64_t>(c.length);
}

// Finds the number that each command adds, and the greatest one that an interrupt adds. Stores
// both, and returns whether they explain all counts.
bool Explain(const std::vector<WorkCount>& counts, Calibration* found) {
  std::int64_t extra = kMostExtra + 1;
  for (const WorkCount& c : counts) {
    extra = std::min(extra, Excess(c) / static_cast<std::int64_t>(c.commands));
  }
  if (extra < 0 || extra > kMostExtra) return false;
  std::int64_t most = 0;
  for (const WorkCount& c : counts) {
    const std::int64_t rest = Excess(c) - static_cast<std::int64_t>(c.commands) * extra;
    const auto each = EventsOfInterrupt(rest, c.interrupts);
    if (!each) return false;
    most = std::max(most, *each);
  }
  found->extra = static_cast<std::uint32_t>(extra);
  found->interrupts = static_cast<std::uint32_t>(most);
  return true;
}

// Returns a bound for three lengths: the deviation of the shorter ones in events, or else that of
// the shortest in events and that of the second as a fraction, which is rounded up.
std::optional<Accuracy> BoundOf(const Spans& spans) {
  if (spans.size() != 3) return std::nullopt;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> deviations;  // of each length, ascending
  for (const auto& [length, span] : spans) deviations.emplace_back(length, Deviation(length, span));
  const auto [longest, last] = deviations[2];
  const std::uint64_t abs = std::max(deviations[0].second, deviations[1].second);
  if (last <= abs && abs <= kMostAbs) return Accuracy{abs, 0.0};
  const auto fraction =
      static_cast<double>(deviations[1].second) / static_cast<double>(deviations[1].first);
  const double rel = std::ceil(fraction * 10'000) / 10'000;
  const std::uint64_t shortest = deviations[0].second;
  if (shortest > kMostAbs || rel > kMostRel || rel <= 0.0) return std::nullopt;
  const auto allowed = std::max(static_cast<double>(shortest), rel * static_cast<double>(longest));
  if (static_cast<double>(last) > allowed) return std::nullopt;
  return Accuracy{shortest, rel};
}

// Returns why counts have neither an extra number nor a bound.
std::string WhyUnbounded(const Spans& spans) {
  const auto times = [](const auto& entry) {
    return static_cast<double>(entry.second.most) / static_cast<double>(entry.first);
  };
  const double last = times(*spans.rbegin());
  std::ostringstream os;
  os.precision(3);
  if (last == 0.0) {
    os << "it counts nothing of the longest work";
  } else if (std::abs(last - 1.0) > kMostRel &&
             std::abs(times(*spans.begin()) / last - 1.0) < kMostRel) {
    os << "it counts " << last << " times as much";
  } else {
    os << "no bound from the shorter work holds for the longest";
  }
  return os.str();
}

std::string TextOf(WorkKind kind, const Spans& spans, std::size_t rounds) {
  std::string text = "counted";
  const char* separator = " ";
  for (const auto& [length, span] : spans) {
    text += separator + std::to_string(span.least);
    if (span.most != span.least) text += " to " + std::to_string(span.most);
    text += " in " + std::to_string(length);
    separator = ", ";
  }
  return text + " " + std::string(ToString(kind)) + ", " + std::to_string(rounds) + " times each";
}

std::vector<WorkCount> Measure(WorkKind kind, Worker& worker, const OpenWork& open) {
  std::vector<WorkCount> counts;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::uint64_t length : kLengths) {
      const OpenResult opened = open(worker.pid(), -1);
      if (!opened.ok()) return {};
      const std::uint64_t before = InterruptsOf(EventCpu());
      for (std::uint64_t i = 0; i < kCommands; ++i) {
        if (!opened.event.TryEnable().ok()) return {};
        worker.Run(kind, length);
        opened.event.Disable();
      }
      counts.push_back({kCommands * length, opened.event.Read().value, kCommands,
                        InterruptsOf(EventCpu()) - before});
    }
  }
  return counts;
}

// Counts one long command. `length` of the result is 0 if the event does not open.
WorkCount MeasureLong(WorkKind kind, Worker& worker, const OpenWork& open) {
  const OpenResult opened = open(worker.pid(), -1);
  if (!opened.ok()) return {};
  const std::uint64_t before = InterruptsOf(EventCpu());
  opened.event.Enable();
  worker.Run(kind, kLongLength);
  opened.event.Disable();
  return {kLongLength, opened.event.Read().value, 1, InterruptsOf(EventCpu()) - before};
}

// Counts one command as leader and sibling of a group, and one command each of two workers.
CompanyCounts MeasureInCompany(const Calibration& found, Worker& worker, const OpenWork& open) {
  CompanyCounts counts = {.length = kLengths[1], .extra = *found.extra, .group = {}, .tasks = {}};
  const std::uint64_t before = InterruptsOf(EventCpu());
  const OpenResult leader = open(worker.pid(), -1);
  const OpenResult sibling =
      leader.ok() ? open(worker.pid(), leader.event.fd()) : OpenResult{Event(), leader.error};
  if (leader.ok() && sibling.ok()) {
    leader.event.EnableGroup();
    worker.Run(found.kind, counts.length);
    leader.event.DisableGroup();
    counts.group = {leader.event.Read().value, sibling.event.Read().value};
    counts.of_interrupts = found.interrupts * (InterruptsOf(EventCpu()) - before);
  }
  Worker other;
  const OpenResult first = open(worker.pid(), -1);
  const OpenResult second = open(other.pid(), -1);
  if (!first.ok() || !second.ok()) return counts;
  first.event.Enable();
  second.event.Enable();
  worker.Run(found.kind, counts.length);
  other.Run(found.kind, counts.length);
  first.event.Disable();
  second.event.Disable();
  counts.tasks = {first.event.Read().value, second.event.Read().value};
  counts.of_interrupts = found.interrupts * (InterruptsOf(EventCpu()) - before);
  return counts;
}

}  // namespace

Calibration Combine(WorkKind kind, const std::vector<WorkCount>& counts) {
  Calibration found;
  found.kind = kind;
  if (counts.empty()) {
    found.text = "does not open for another task in user mode alone";
    return found;
  }
  const Spans spans = SpansOf(counts);
  found.text = TextOf(kind, spans, counts.size() / spans.size());
  if (Explain(counts, &found)) return found;
  found.bound = BoundOf(spans);
  if (!found.bound) found.text += "; " + WhyUnbounded(spans);
  return found;
}

Calibration AfterLongCommand(Calibration found, const WorkCount& counted) {
  if (!found.extra || counted.length == 0) return found;
  const std::int64_t rest = Excess(counted) - static_cast<std::int64_t>(*found.extra);
  found.text += rest == 0 ? "; " : "; but ";
  found.text +=
      std::to_string(counted.count) + " in one command of " + std::to_string(counted.length);
  if (rest == 0) return found;
  const auto each = EventsOfInterrupt(rest, counted.interrupts);
  found.text += each ? ": " : ", which ";
  found.text += std::to_string(counted.interrupts) + " interrupts ";
  if (each) {
    found.interrupts = std::max(found.interrupts, static_cast<std::uint32_t>(*each));
    found.text += "changed the count";
  } else {
    found.extra = std::nullopt;
    found.text += "do not explain";
  }
  return found;
}

Calibration AfterLongCommands(Calibration found, const std::vector<WorkCount>& counts) {
  std::uint64_t most = 0;
  for (const WorkCount& c : counts) most = std::max(most, Difference(c.count, c.length));
  if (!found.bound || counts.empty()) return found;
  const auto length = static_cast<double>(counts.front().length);
  const auto deviation = static_cast<double>(most);
  found.text += "; up to " + std::to_string(most) + " more or less in one command of " +
                std::to_string(counts.front().length);
  if (deviation <= std::max(static_cast<double>(found.bound->abs), found.bound->rel * length)) {
    return found;
  }
  found.bound->rel = std::ceil(kMargin * deviation / length * 10'000) / 10'000;
  if (found.bound->rel > kMostRel) found.bound = std::nullopt;
  return found;
}

std::string WhyDifferent(const CompanyCounts& counts) {
  const std::uint64_t want = counts.length + counts.extra;
  for (const auto& [what, values] :
       {std::pair("a group", &counts.group), std::pair("one of two tasks", &counts.tasks)}) {
    for (const std::uint64_t value : *values) {
      if (value >= want && value <= want + counts.of_interrupts) continue;
      return "in " + std::string(what) + " it counted " + std::to_string(value) + " instead of " +
             std::to_string(want);
    }
  }
  return "";
}

Calibration Calibrate(const OpenWork& open) {
  Worker worker;
  std::optional<Calibration> first;
  std::optional<Calibration> bounded;
  for (const WorkKind kind : kWorkKinds) {
    Calibration found = Combine(kind, Measure(kind, worker, open));
    if (found.extra) found = AfterLongCommand(found, MeasureLong(kind, worker, open));
    if (found.extra) {
      const CompanyCounts counts = MeasureInCompany(found, worker, open);
      const std::string why = WhyDifferent(counts);
      if (why.empty()) {
        found.text += counts.group.empty() ? "; two do not fit into a group"
                                           : "; leader and sibling of a group count the same";
        found.text += counts.tasks.empty() ? "" : "; two tasks count the sum of both";
        return found;
      }
      found.extra = std::nullopt;
      found.text += "; but " + why;
    }
    if (found.bound) {
      std::vector<WorkCount> counts;
      while (counts.size() < kLongCommands) counts.push_back(MeasureLong(kind, worker, open));
      found = AfterLongCommands(found, counts);
    }
    if (!first) first = found;
    if (!bounded && found.bound) bounded = found;
  }
  return bounded.value_or(*first);
}

}  // namespace pmuconf
