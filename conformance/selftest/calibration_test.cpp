// SPDX-License-Identifier: Apache-2.0
// A calibration is exact only if each count is its length plus the same number.
#include "target/calibration.h"

#include <gtest/gtest.h>

namespace pmuconf {
namespace {

TEST(Calibration, EqualCountsAreExact) {
  const Calibration found =
      Combine(WorkKind::kInstructions, {{101, 101}, {1'001, 1'001}, {101, 101}});
  EXPECT_EQ(found.extra, 0U);
  EXPECT_EQ(found.text, "counted 101 in 101, 1001 in 1001, 101 in 101 instructions");
}

TEST(Calibration, SameOffsetOfEachCommandIsExact) {
  EXPECT_EQ(Combine(WorkKind::kBranches, {{101, 103}, {1'001, 1'003}}).extra, 2U);
}

TEST(Calibration, CountThatDiffersOnceIsNotExact) {
  EXPECT_EQ(Combine(WorkKind::kLoads, {{101, 101}, {1'001, 1'001}, {101, 102}}).extra,
            std::nullopt);
}

TEST(Calibration, OtherSlopeIsNotExact) {
  EXPECT_EQ(Combine(WorkKind::kStores, {{101, 202}, {1'001, 2'002}}).extra, std::nullopt);
}

TEST(Calibration, CountBelowTheLengthIsNotExact) {
  EXPECT_EQ(Combine(WorkKind::kCalls, {{101, 100}, {1'001, 1'000}}).extra, std::nullopt);
}

TEST(Calibration, EventThatDoesNotOpenSaysSo) {
  EXPECT_EQ(Combine(WorkKind::kCalls, {}).text,
            "does not open for another task in user mode alone");
}

}  // namespace
}  // namespace pmuconf
