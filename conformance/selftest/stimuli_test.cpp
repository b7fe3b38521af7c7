// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the stimuli, and their effects that are visible without perf.
#include "stimulus/stimuli.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdint>

namespace pmuconf {
namespace {

TEST(PageFaults, NumberIsExact) {
  const auto faults = [] {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  constexpr int kRounds = 10;
  for (const std::uint64_t n : {0, 1, 255, 256, 257, 1'000}) {
    // Other first accesses of this process (code, a sanitizer's shadow) and reclaimed pages add
    // faults to a round. So the minimum of all rounds is the number of the stimulus itself.
    std::uint64_t fewest = UINT64_MAX;
    for (int round = 0; round < kRounds; ++round) {
      const long before = faults();
      TouchFreshPages(n);
      fewest = std::min(fewest, static_cast<std::uint64_t>(faults() - before));
    }
    EXPECT_EQ(fewest, n);
  }
}

TEST(Syscalls, CheapCallsHaveNames) {
  EXPECT_EQ(CheapCall("getppid"), SYS_getppid);
  EXPECT_EQ(CheapCall("reboot"), std::nullopt);
  CallSystem(SYS_getppid, 3);
}

}  // namespace
}  // namespace pmuconf
