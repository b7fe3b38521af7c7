// SPDX-License-Identifier: Apache-2.0
#include "target/accuracy/classify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace pmuconf {
namespace {

constexpr std::int64_t kMostExtra = 1'000;      // events that a command adds
constexpr std::int64_t kMostOfInterrupt = 100;  // events that an interrupt adds
constexpr double kMostBound = 0.1;
constexpr std::int64_t kMostAbs = 30;  // of short work, where a fraction means nothing
constexpr double kSameRatio = 0.02;

struct Span {
  std::uint64_t least = ~0ULL, most = 0;
};

std::map<std::uint64_t, Span> SpansOf(const std::vector<TruthRun>& runs) {
  std::map<std::uint64_t, Span> spans;
  for (const TruthRun& run : runs) {
    Span& span = spans[run.length];
    span.least = std::min(span.least, run.count);
    span.most = std::max(span.most, run.count);
  }
  return spans;
}

std::int64_t Excess(const TruthRun& run) {
  return static_cast<std::int64_t>(run.count) - static_cast<std::int64_t>(run.length);
}

std::string Rounded(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

// Returns the smallest number of events for each interrupt that explains all counts. nullopt if
// none does. `extra`: events of each command.
std::optional<std::int64_t> OfInterrupt(const std::vector<TruthRun>& runs, std::int64_t extra) {
  std::int64_t most = 0;
  for (const TruthRun& run : runs) {
    const auto each = EventsOfInterrupt(Excess(run) - extra, run.interrupts);
    if (!each) return std::nullopt;
    most = std::max(most, *each);
  }
  return most;
}

// Returns the fraction by which the longest work deviates, if shorter work deviates no more.
std::optional<double> Bound(const std::vector<TruthRun>& runs, std::uint64_t longest) {
  double bound = 0;
  for (const TruthRun& run : runs) {
    if (run.length != longest) continue;
    const auto excess = static_cast<double>(std::abs(Excess(run)));
    bound = std::max(bound, excess / static_cast<double>(longest));
  }
  const bool holds = std::ranges::all_of(runs, [&](const TruthRun& run) {
    const auto allowed =
        std::max(static_cast<double>(kMostAbs), bound * static_cast<double>(run.length));
    return static_cast<double>(std::abs(Excess(run))) <= allowed;
  });
  if (bound > kMostBound || !holds) return std::nullopt;
  return bound;
}

// Returns count / length if it is the same for the two greatest lengths.
std::optional<double> Ratio(const std::map<std::uint64_t, Span>& spans) {
  if (spans.size() < 2) return std::nullopt;
  double least = HUGE_VAL, most = 0;
  for (auto it = spans.rbegin(); it != std::next(spans.rbegin(), 2); ++it) {
    const auto length = static_cast<double>(it->first);
    least = std::min(least, static_cast<double>(it->second.least) / length);
    most = std::max(most, static_cast<double>(it->second.most) / length);
  }
  if (least <= 0 || most - least > kSameRatio * most) return std::nullopt;
  return (least + most) / 2;
}

}  // namespace

std::optional<std::int64_t> EventsOfInterrupt(std::int64_t excess, std::uint64_t interrupts) {
  if (excess == 0) return 0;
  const auto n = static_cast<std::int64_t>(interrupts);
  if (excess < 0 || n == 0) return std::nullopt;
  const std::int64_t each = (excess + n - 1) / n;
  if (each > kMostOfInterrupt) return std::nullopt;
  return each;
}

AccuracyFinding Classify(const std::vector<TruthRun>& runs) {
  if (runs.empty()) return {.text = "the event does not open for a task in user mode"};
  const std::map<std::uint64_t, Span> spans = SpansOf(runs);
  const auto& [longest, span] = *spans.rbegin();
  AccuracyFinding found;
  found.spread = static_cast<double>(span.most - span.least) / static_cast<double>(longest);
  const std::int64_t extra = Excess(*std::ranges::min_element(runs, {}, Excess));
  const std::optional<std::int64_t> of_interrupt =
      extra < 0 || extra > kMostExtra ? std::nullopt : OfInterrupt(runs, extra);
  if (of_interrupt) {
    found.kind = *of_interrupt == 0 ? AccuracyClass::kExact : AccuracyClass::kPlusInterrupts;
    found.text = *of_interrupt == 0
                     ? "exact"
                     : "exact, plus up to " + std::to_string(*of_interrupt) + " an interrupt";
    if (extra > 0) found.text += ", plus " + std::to_string(extra) + " a command";
  } else if (const auto bound = Bound(runs, longest)) {
    found.kind = AccuracyClass::kBounded;
    found.text = "within " + Rounded(*bound * 100) + " %";
  } else if (const auto ratio = Ratio(spans)) {
    found.kind = AccuracyClass::kProportional;
    found.text = "proportional only: " + Rounded(*ratio) + " times";
  } else {
    found.text = span.most == 0 ? "it counts nothing"
                                : std::to_string(span.least) + " to " + std::to_string(span.most) +
                                      " of " + std::to_string(longest);
  }
  return found;
}

}  // namespace pmuconf
