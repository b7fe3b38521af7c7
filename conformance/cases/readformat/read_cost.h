// SPDX-License-Identifier: Apache-2.0
// The cost of a reading, as a measurement. It depends on the machine, so no rule limits it.
#ifndef PMUCONF_CASES_READFORMAT_READ_COST_H_
#define PMUCONF_CASES_READFORMAT_READ_COST_H_

#include <algorithm>
#include <array>
#include <chrono>

namespace pmuconf {

// Returns the median duration of `read` over 33 calls, in nanoseconds of CLOCK_MONOTONIC.
template <typename Read>
double MedianCostNs(const Read& read) {
  std::array<double, 33> durations = {};
  for (double& duration : durations) {
    const auto begin = std::chrono::steady_clock::now();
    read();
    duration =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  }
  auto* const middle = durations.begin() + durations.size() / 2;
  std::nth_element(durations.begin(), middle, durations.end());
  return *middle;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_READFORMAT_READ_COST_H_
