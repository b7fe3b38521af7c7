// SPDX-License-Identifier: Apache-2.0
// Draws programs for a PMU. A seed and a number give the same program on each machine with that
// PMU.
#ifndef PMUCONF_TOOLS_FUZZ_GENERATE_H_
#define PMUCONF_TOOLS_FUZZ_GENERATE_H_

#include <cstdint>

#include "tools/fuzz/pmu.h"
#include "tools/repro/grammar.h"
#include "tools/repro/program.h"

namespace pmuconf {

inline constexpr std::size_t kLongestFuzzed = 40;  // operations

class FuzzGenerator {
 public:
  explicit FuzzGenerator(FuzzedPmu pmu);
  FuzzGenerator(const FuzzGenerator&) = delete;

  const FuzzedPmu& pmu() const { return pmu_; }
  // Returns a program whose operations mostly concern events that it has opened.
  Program Draw(std::uint64_t seed, std::uint64_t number) const;
  // Returns a program of operations that know nothing of each other or of the PMU's sysfs, for
  // comparison.
  Program DrawBlind(std::uint64_t seed, std::uint64_t number) const;

 private:
  FuzzedPmu pmu_;
  Grammar grammar_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_FUZZ_GENERATE_H_
