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

TEST(Instructions, PlanHasExactNumber) {
  for (const std::uint64_t n : {0, 1, 2, 3}) EXPECT_FALSE(PlanInstructions(n)) << n;
  for (std::uint64_t n = 4; n < 100; ++n) {
    const auto plan = PlanInstructions(n);
    ASSERT_TRUE(plan) << n;
    EXPECT_GE(plan->rounds, 1u) << n;
    EXPECT_EQ(2 + (plan->odd ? 1 : 0) + 2 * plan->rounds, n);
  }
  const auto most = PlanInstructions(UINT64_MAX);
  ASSERT_TRUE(most);
  EXPECT_EQ(2 * most->rounds + (most->odd ? 1 : 0), UINT64_MAX - 2);
}

TEST(Instructions, ExecutionSucceeds) {
  for (const std::uint64_t n : {0, 4, 5, 1'001}) ExecuteInstructions(n);
}

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
