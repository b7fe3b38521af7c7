// SPDX-License-Identifier: Apache-2.0
// A budget charges only time in which the machine ran.
#include "harness/budget.h"

#include <gtest/gtest.h>

namespace pmuconf {
namespace {

TEST(Budget, IsOverAfterItsTimeInSlices) {
  Budget budget(1.0);
  for (int i = 0; i < 3; ++i) budget.Charge(0.25);
  EXPECT_FALSE(budget.over());
  EXPECT_EQ(budget.WaitMs(), 251);
  budget.Charge(0.2);
  EXPECT_FALSE(budget.over());
  EXPECT_LE(budget.WaitMs(), 51);
  EXPECT_GT(budget.WaitMs(), 0);
  budget.Charge(0.1);
  EXPECT_TRUE(budget.over());
  EXPECT_EQ(budget.WaitMs(), 0);
}

TEST(Budget, StallOfMachineIsNotCharged) {
  Budget budget(1.0);
  budget.Charge(30.0);
  EXPECT_FALSE(budget.over());
  budget.Charge(30.0);
  EXPECT_TRUE(budget.over());
}

TEST(Budget, ZeroBudgetIsOverAtOnce) { EXPECT_TRUE(Budget(0).over()); }

}  // namespace
}  // namespace pmuconf
