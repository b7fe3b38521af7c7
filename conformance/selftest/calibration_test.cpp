// SPDX-License-Identifier: Apache-2.0
// A calibration is exact only if each count is its length plus the same number for each command. A
// bound from the shorter lengths must hold for the longest.
#include "target/probe/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pmuconf {
namespace {

using testing::EndsWith;

Calibration Instructions(const std::vector<WorkCount>& counts) {
  return Combine(WorkKind::kInstructions, counts);
}

TEST(Calibration, EqualCountsAreExact) {
  const Calibration found = Instructions({{101, 101}, {1'001, 1'001}, {101, 101}, {1'001, 1'001}});
  EXPECT_EQ(found.extra, 0U);
  EXPECT_EQ(found.text, "counted 101 in 101, 1001 in 1001 instructions, 2 times each");
}

TEST(Calibration, SameOffsetOfEachCommandIsExact) {
  EXPECT_EQ(Combine(WorkKind::kBranches, {{101, 103}, {1'001, 1'003}}).extra, 2U);
  EXPECT_EQ(Instructions({{303, 309, 3}, {3'003, 3'009, 3}}).extra, 2U);
}

TEST(Calibration, OffsetOfOnlyOneCommandIsNotExact) {
  EXPECT_EQ(Instructions({{303, 305, 3}, {3'003, 3'005, 3}}).extra, std::nullopt);
}

TEST(Calibration, CountThatDiffersOnceIsNotExact) {
  EXPECT_EQ(Combine(WorkKind::kLoads, {{101, 101}, {1'001, 1'001}, {101, 102}}).extra,
            std::nullopt);
}

TEST(Calibration, CountBelowTheLengthIsNotExact) {
  EXPECT_EQ(Combine(WorkKind::kCalls, {{101, 100}, {1'001, 1'000}}).extra, std::nullopt);
}

TEST(Calibration, DeviationOfTheShorterLengthsIsABoundInEvents) {
  const Calibration found =
      Instructions({{303, 303}, {3'003, 3'006}, {30'003, 30'006}, {303, 301}, {3'003, 3'003}});
  ASSERT_TRUE(found.bound.has_value());
  EXPECT_EQ(found.bound->abs, 3U);
  EXPECT_EQ(found.bound->rel, 0.0);
  EXPECT_EQ(found.extra, std::nullopt);
}

TEST(Calibration, DeviationThatGrowsIsAlsoAFraction) {
  const Calibration found = Instructions({{303, 304}, {3'003, 3'033}, {30'003, 30'300}});
  ASSERT_TRUE(found.bound.has_value());
  EXPECT_EQ(found.bound->abs, 1U);
  EXPECT_EQ(found.bound->rel, 0.01);  // 30 / 3003, rounded up to four digits
}

TEST(Calibration, LongestWorkBeyondTheBoundHasNone) {
  const Calibration found = Instructions({{303, 304}, {3'003, 3'033}, {30'003, 30'304}});
  EXPECT_EQ(found.bound, std::nullopt);
  EXPECT_THAT(found.text, EndsWith("; no bound from the shorter work holds for the longest"));
}

TEST(Calibration, DeviationBeyondATenthHasNoBound) {
  EXPECT_EQ(Instructions({{303, 303}, {3'003, 4'003}, {30'003, 39'000}}).bound, std::nullopt);
  EXPECT_EQ(Instructions({{303, 334}, {3'003, 3'033}, {30'003, 30'203}}).bound, std::nullopt);
}

TEST(Calibration, MoreThanAThousandExtraEventsAreNotExact) {
  EXPECT_EQ(Instructions({{101, 1'101}, {1'001, 2'001}}).extra, 1'000U);
  EXPECT_EQ(Instructions({{101, 1'102}, {1'001, 2'002}}).extra, std::nullopt);
}

TEST(Calibration, OtherSlopeHasNoBound) {
  const Calibration found = Instructions({{303, 2'424}, {3'003, 24'024}, {30'003, 240'024}});
  EXPECT_EQ(found.extra, std::nullopt);
  EXPECT_EQ(found.bound, std::nullopt);
  EXPECT_THAT(found.text, EndsWith("; it counts 8 times as much"));
}

TEST(Calibration, EventThatCountsNothingHasNoBound) {
  const Calibration found = Instructions({{303, 0}, {3'003, 0}, {30'003, 0}});
  EXPECT_EQ(found.bound, std::nullopt);
  EXPECT_THAT(found.text, EndsWith("; it counts nothing of the longest work"));
}

TEST(Calibration, ClockHasNoBound) {
  const Calibration found = Instructions({{303, 70'000}, {3'003, 70'100}, {30'003, 90'000}});
  EXPECT_EQ(found.bound, std::nullopt);
  EXPECT_THAT(found.text, EndsWith("; no bound from the shorter work holds for the longest"));
}

TEST(Calibration, EventThatDoesNotOpenSaysSo) {
  EXPECT_EQ(Combine(WorkKind::kCalls, {}).text,
            "does not open for another task in user mode alone");
}

TEST(Calibration, LongCommandThatCountsTheSameIsNoWarning) {
  const Calibration found =
      AfterLongCommand(Combine(WorkKind::kLoads, {{101, 103}}), {1'000'001, 1'000'003});
  EXPECT_EQ(found.extra, 2U);
  EXPECT_THAT(found.text, EndsWith("; 1000003 in one command of 1000001"));
}

TEST(Calibration, InterruptsExplainAnotherCountOfALongCommand) {
  const Calibration found =
      AfterLongCommand(Instructions({{101, 101}}), {1'000'001, 1'000'004, 1, 2});
  EXPECT_EQ(found.extra, 0U);
  EXPECT_EQ(found.interrupts, 2U);
  EXPECT_THAT(found.text, EndsWith("; but 1000004 in one command of 1000001: 2 interrupts changed "
                                   "the count"));
}

TEST(Calibration, LongCommandThatNothingExplainsIsNotExact) {
  for (const WorkCount& counted :
       {WorkCount{1'000'001, 1'000'004, 1, 0}, WorkCount{1'000'001, 1'000'000, 1, 5},
        WorkCount{1'000'001, 1'000'102, 1, 1}}) {
    const Calibration found = AfterLongCommand(Instructions({{101, 101}}), counted);
    EXPECT_EQ(found.extra, std::nullopt);
    EXPECT_THAT(found.text, EndsWith("interrupts do not explain"));
  }
}

TEST(Calibration, InterruptOfShortWorkLeavesItExact) {
  const Calibration found =
      Instructions({{303, 306, 3}, {3'003, 3'008, 3, 1}, {303, 306, 3}, {3'003, 3'006, 3, 2}});
  EXPECT_EQ(found.extra, 1U);
  EXPECT_EQ(found.interrupts, 2U);
}

TEST(Calibration, InexactEventHasNoLongCommand) {
  const Calibration found = Instructions({{101, 99}});
  EXPECT_EQ(AfterLongCommand(found, {1'000'001, 5}).text, found.text);
}

TEST(Calibration, LongCommandsWidenABound) {
  const Calibration found = Instructions({{303, 304}, {3'003, 3'003}, {30'003, 30'003}});
  ASSERT_TRUE(found.bound.has_value());
  const std::vector<WorkCount> near = {{1'000'000, 1'000'001}, {1'000'000, 999'999}};
  EXPECT_EQ(AfterLongCommands(found, near).bound->rel, 0.0);
  const std::vector<WorkCount> far = {{1'000'000, 1'000'001}, {1'000'000, 999'901}};
  const Calibration wide = AfterLongCommands(found, far);
  EXPECT_EQ(wide.bound->abs, 1U);
  EXPECT_EQ(wide.bound->rel, 0.0002);
  EXPECT_THAT(wide.text, EndsWith("; up to 99 more or less in one command of 1000000"));
  EXPECT_EQ(AfterLongCommands(found, {{1'000'000, 900'000}}).bound, std::nullopt);
}

TEST(Calibration, SameCountInEachCompanyIsNoDifference) {
  EXPECT_EQ(WhyDifferent({1'001, 2, 0, {1'003, 1'003}, {1'003, 1'003}}), "");
  EXPECT_EQ(WhyDifferent({1'001, 0, 0, {}, {}}), "");
}

TEST(Calibration, EventsOfInterruptsAreNoDifference) {
  EXPECT_EQ(WhyDifferent({1'001, 0, 2, {1'001, 1'003}, {}}), "");
  EXPECT_EQ(WhyDifferent({1'001, 0, 2, {1'001, 1'004}, {}}),
            "in a group it counted 1004 instead of 1001");
}

TEST(Calibration, SiblingThatCountsLessIsADifference) {
  EXPECT_EQ(WhyDifferent({1'001, 0, 0, {1'001, 1'000}, {1'001, 1'001}}),
            "in a group it counted 1000 instead of 1001");
}

TEST(Calibration, TaskThatCountsTheOtherIsADifference) {
  EXPECT_EQ(WhyDifferent({1'001, 1, 0, {1'002, 1'002}, {1'002, 2'004}}),
            "in one of two tasks it counted 2004 instead of 1002");
}

}  // namespace
}  // namespace pmuconf
