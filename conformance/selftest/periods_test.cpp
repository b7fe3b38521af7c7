// SPDX-License-Identifier: Apache-2.0
// The limits of periods are found exactly, and the safe period is the last before the first harm.
#include "target/probe/periods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PeriodTrial Trial(std::uint64_t period, std::uint64_t sampled_ns = 100) {
  return {.period = period, .samples = 32, .counted_ns = 100, .sampled_ns = sampled_ns};
}

TEST(Periods, ShortestAcceptedIsExact) {
  for (const std::uint64_t limit : {1U, 2U, 32U, 99'999U, 100'003U}) {
    EXPECT_EQ(ShortestAccepted(100'003, [&](std::uint64_t period) { return period >= limit; }),
              limit);
  }
}

TEST(Periods, LongestAcceptedIsExact) {
  const std::uint64_t most = ~0ULL >> 1;
  for (const std::uint64_t limit : {std::uint64_t{100'003}, std::uint64_t{0xffff'ffff}, most}) {
    EXPECT_EQ(LongestAccepted(100'003, most, [&](std::uint64_t period) { return period <= limit; }),
              limit);
  }
}

TEST(Periods, WidthIsThatOfACounterFullOfOnes) {
  EXPECT_EQ(WidthOfRange(0xffff'ffff), 32U);
  EXPECT_EQ(WidthOfRange(0xffff), 16U);
  EXPECT_EQ(WidthOfRange(~0ULL >> 1), 63U);
  EXPECT_EQ(WidthOfRange(0x7fff), std::nullopt);
  EXPECT_EQ(WidthOfRange(0xffff'fffe), std::nullopt);
  EXPECT_EQ(WidthOfRange(0), std::nullopt);
  EXPECT_EQ(WidthOfRange(~0ULL), std::nullopt);
}

TEST(Periods, TrialsHalveDownToTheShortest) {
  EXPECT_THAT(PeriodsToTry(100, 10), ElementsAre(100, 50, 25, 12, 10));
  EXPECT_THAT(PeriodsToTry(8, 1), ElementsAre(8, 4, 2, 1));
  EXPECT_THAT(PeriodsToTry(8, 8), ElementsAre(8));
}

TEST(Periods, SlowdownOfTwentyIsSafeAndMoreIsNot) {
  EXPECT_EQ(WhyUnsafe(Trial(10, 2'000)), "");
  EXPECT_EQ(WhyUnsafe(Trial(10, 2'010)), "took 20.1 times as long");
}

TEST(Periods, LossThrottlingAndTimeoutAreNotSafe) {
  PeriodTrial lost = Trial(10);
  lost.lost = 2;
  EXPECT_EQ(WhyUnsafe(lost), "lost 2 samples");
  PeriodTrial throttled = Trial(10);
  throttled.throttled = true;
  EXPECT_EQ(WhyUnsafe(throttled), "was throttled");
  PeriodTrial late = Trial(10);
  late.ended = false;
  EXPECT_EQ(WhyUnsafe(late), "did not end in time");
}

TEST(Periods, ShortestThatOpensIsChosenIfAllAreSafe) {
  const Finding found = ChoosePeriod(2, {Trial(8), Trial(4), Trial(2, 150)});
  EXPECT_EQ(found.value, 2U);
  EXPECT_EQ(found.how,
            "the shortest that opens; a run of 32 such periods in user mode gave 32 samples, lost "
            "none, and took 1.5 times as long");
}

TEST(Periods, LastTrialIsChosenIfTheNextPeriodDoesNotOpen) {
  const Finding found = ChoosePeriod(1, {Trial(8), Trial(4)});
  EXPECT_EQ(found.value, 4U);
  EXPECT_THAT(found.how, HasSubstr("the shortest tried one that opens for the event with work"));
}

TEST(Periods, LastSafeOneIsChosenBeforeTheFirstHarm) {
  const Finding found = ChoosePeriod(1, {Trial(8), Trial(4), Trial(2, 5'000)});
  EXPECT_EQ(found.value, 4U);
  EXPECT_EQ(found.how,
            "1 opens, but a run of 32 periods of 2 in user mode took 50.0 times as long; this is "
            "the shortest before it");
}

TEST(Periods, LongestIsChosenIfItIsNotSafeEither) {
  const Finding found = ChoosePeriod(1, {Trial(8, 5'000)});
  EXPECT_EQ(found.value, 8U);
  EXPECT_THAT(found.how, HasSubstr("no longer period was tried"));
}

TEST(Periods, WithoutTrialsTheShortestThatOpensIsChosen) {
  EXPECT_EQ(ChoosePeriod(16, {}).value, 16U);
  EXPECT_THAT(ChoosePeriod(16, {}).how, HasSubstr("none was tried"));
}

TEST(Periods, MissingSamplesAreNotSafe) {
  PeriodTrial missed = Trial(10);
  missed.samples = kPeriodsPerTrial - 1;
  EXPECT_EQ(WhyUnsafe(missed), "");
  missed.samples = kPeriodsPerTrial - 2;
  EXPECT_EQ(WhyUnsafe(missed), "gave only 30 samples");
}

TEST(Periods, BoundOfSkidIsTwiceTheMost) {
  const Note found = SkidNote({1'003, 2'020, 4'001}, 1'000);
  EXPECT_EQ(found.value, "at most 40 events");
  EXPECT_EQ(found.how,
            "twice the most: 3 samples came 1 to 20 events after the end of a period of 1000");
  EXPECT_EQ(SkidNote({}, 1'000).value, "unknown");
}

}  // namespace
}  // namespace pmuconf
