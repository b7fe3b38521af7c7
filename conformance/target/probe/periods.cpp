// SPDX-License-Identifier: Apache-2.0
#include "target/probe/periods.h"

#include <algorithm>
#include <bit>

namespace pmuconf {
namespace {

// A sample of user mode costs the worker about a microsecond on a processor, and some ten
// microseconds in an emulator. More than this factor shows that interrupts crowd out the work.
constexpr std::uint64_t kMostSlowdown = 20;

std::uint64_t Tenths(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : 10 * a / b; }

std::string Slowdown(const PeriodTrial& trial) {
  const std::uint64_t tenths = Tenths(trial.sampled_ns, trial.counted_ns);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " times as long";
}

std::string Samples(std::uint64_t number) {
  return std::to_string(number) + (number == 1 ? " sample" : " samples");
}

}  // namespace

std::uint64_t ShortestAccepted(std::uint64_t known,
                               const std::function<bool(std::uint64_t)>& accepts) {
  std::uint64_t refused = 0;
  std::uint64_t accepted = known;
  while (accepted - refused > 1) {
    const std::uint64_t middle =
        refused == 0 && accepted > 2 ? 1 : refused + (accepted - refused) / 2;
    (accepts(middle) ? accepted : refused) = middle;
  }
  return accepted;
}

std::uint64_t LongestAccepted(std::uint64_t known, std::uint64_t longest,
                              const std::function<bool(std::uint64_t)>& accepts) {
  if (accepts(longest)) return longest;
  std::uint64_t accepted = known;
  std::uint64_t refused = longest;
  while (refused - accepted > 1) {
    const std::uint64_t middle = accepted + (refused - accepted) / 2;
    (accepts(middle) ? accepted : refused) = middle;
  }
  return accepted;
}

std::optional<unsigned> WidthOfRange(std::uint64_t longest) {
  const auto width = static_cast<unsigned>(std::popcount(longest));
  const bool all_bits = longest != 0 && (longest & (longest + 1)) == 0;
  if (!all_bits || width < 16 || width > 63) return std::nullopt;
  return width;
}

std::vector<std::uint64_t> PeriodsToTry(std::uint64_t longest, std::uint64_t shortest) {
  std::vector<std::uint64_t> periods;
  for (std::uint64_t period = longest; period > shortest; period /= 2) periods.push_back(period);
  periods.push_back(shortest);
  return periods;
}

std::string WhyUnsafe(const PeriodTrial& trial) {
  if (!trial.ended) return "did not end in time";
  if (trial.throttled) return "was throttled";
  if (trial.lost > 0) return "lost " + Samples(trial.lost);
  // The interrupt of the last period may come when the work is over.
  if (trial.samples + 1 < kPeriodsPerTrial) return "gave only " + Samples(trial.samples);
  if (trial.sampled_ns > kMostSlowdown * trial.counted_ns) return "took " + Slowdown(trial);
  return "";
}

Finding ChoosePeriod(std::uint64_t shortest, const std::vector<PeriodTrial>& trials) {
  if (trials.empty()) {
    return {shortest, 0, "the shortest that opens; none was tried, because no event samples work"};
  }
  const PeriodTrial* safe = nullptr;
  for (const PeriodTrial& trial : trials) {
    const std::string why = WhyUnsafe(trial);
    if (why.empty()) {
      safe = &trial;
      continue;
    }
    const std::string how = std::to_string(shortest) + " opens, but a run of " +
                            std::to_string(kPeriodsPerTrial) + " periods of " +
                            std::to_string(trial.period) + " in user mode " + why;
    if (safe == nullptr) return {trial.period, 0, how + "; no longer period was tried"};
    return {safe->period, 0, how + "; this is the shortest before it"};
  }
  const std::string what = safe->period == shortest
                               ? "the shortest that opens"
                               : "the shortest tried one that opens for the event with work";
  return {safe->period, 0,
          what + "; a run of " + std::to_string(kPeriodsPerTrial) +
              " such periods in user mode gave " + Samples(safe->samples) +
              ", lost none, and took " + Slowdown(*safe)};
}

Note SkidNote(const std::vector<std::uint64_t>& counts, std::uint64_t period) {
  if (counts.empty()) return {"skid", "unknown", "no sample has a count", Sure::kDefault};
  std::uint64_t least = ~0ULL;
  std::uint64_t most = 0;
  for (const std::uint64_t count : counts) {
    least = std::min(least, count % period);
    most = std::max(most, count % period);
  }
  return {"skid", "at most " + std::to_string(2 * most) + " events",
          "twice the most: " + Samples(counts.size()) + " came " + std::to_string(least) + " to " +
              std::to_string(most) + " events after the end of a period of " +
              std::to_string(period)};
}

}  // namespace pmuconf
