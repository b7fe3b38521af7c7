// SPDX-License-Identifier: Apache-2.0
// Decides from trials which sample periods are accepted and which are safe. Needs no PMU.
#ifndef PMUCONF_TARGET_PROBE_PERIODS_H_
#define PMUCONF_TARGET_PROBE_PERIODS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "target/probe/facts.h"

namespace pmuconf {

// Finds the limit of a range of periods by bisection. `known` is accepted.
std::uint64_t ShortestAccepted(std::uint64_t known,
                               const std::function<bool(std::uint64_t)>& accepts);
std::uint64_t LongestAccepted(std::uint64_t known, std::uint64_t longest,
                              const std::function<bool(std::uint64_t)>& accepts);

// Returns the width in bits of a counter whose highest value is `longest`: 16 to 63. nullopt if no
// such counter has that value.
std::optional<unsigned> WidthOfRange(std::uint64_t longest);

// The periods that are tried, from `longest` down by halves. The last one is `shortest`.
std::vector<std::uint64_t> PeriodsToTry(std::uint64_t longest, std::uint64_t shortest);

// The number of periods in one trial.
inline constexpr std::uint64_t kPeriodsPerTrial = 32;

// The same work, once counted and once sampled with a period.
struct PeriodTrial {
  std::uint64_t period = 0;
  bool ended = true;  // in time
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;  // samples that the kernel reports as lost
  bool throttled = false;
  std::uint64_t counted_ns = 0;  // time of the work when it is counted only
  std::uint64_t sampled_ns = 0;
};

// Returns why the period of a trial is not safe; "" if it is.
std::string WhyUnsafe(const PeriodTrial& trial);

// Chooses the period of the last safe trial before the first that is not, or else `shortest`.
// `trials` are in the order in which they ran. Without trials, chooses `shortest`.
Finding ChoosePeriod(std::uint64_t shortest, const std::vector<PeriodTrial>& trials);

// Returns a bound for the skid: the events between the end of a period and its interrupt. `counts`
// are those of the event at samples with that period, which is longer than any skid.
Note SkidNote(const std::vector<std::uint64_t>& counts, std::uint64_t period);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_PERIODS_H_
