// SPDX-License-Identifier: Apache-2.0
#include "tcg/taken.h"

#include <gtest/gtest.h>

namespace pmuconf::work {
namespace {

constexpr ConditionalBranch kBranch{.target = 0x100, .fallthrough = 0x202, .privilege = 0};
constexpr std::uint64_t kHandler = 0x9000;

TEST(TakenBranches, SuccessorDecides) {
  TakenBranches branches;
  branches.Execute(&kBranch);
  EXPECT_EQ(branches.Start(0x100), &kBranch);
  EXPECT_EQ(branches.Start(0x100), nullptr);
  branches.Execute(&kBranch);
  EXPECT_EQ(branches.Start(0x202), nullptr);
}

TEST(TakenBranches, BranchToTheNextInstructionIsNotTaken) {
  const ConditionalBranch next{.target = 0x202, .fallthrough = 0x202, .privilege = 0};
  TakenBranches branches;
  branches.Execute(&next);
  EXPECT_EQ(branches.Start(0x202), nullptr);
}

TEST(TakenBranches, InterruptedBranchCountsAfterTheReturn) {
  TakenBranches branches;
  branches.Execute(&kBranch);
  EXPECT_EQ(branches.Start(kHandler), nullptr);
  EXPECT_EQ(branches.Start(0x100), nullptr) << "no interrupt has returned";
  branches.ReturnFromInterrupt();
  EXPECT_EQ(branches.Start(0x100), &kBranch);
  branches.ReturnFromInterrupt();
  EXPECT_EQ(branches.Start(0x100), nullptr) << "no branch waits any more";
}

TEST(TakenBranches, InterruptedBranchThatFallsThroughDoesNotCount) {
  TakenBranches branches;
  branches.Execute(&kBranch);
  branches.Start(kHandler);
  branches.ReturnFromInterrupt();
  EXPECT_EQ(branches.Start(0x202), nullptr);
  branches.ReturnFromInterrupt();
  EXPECT_EQ(branches.Start(0x100), nullptr);
}

TEST(TakenBranches, BranchesOfTheHandlerDoNotDisturb) {
  const ConditionalBranch inner{.target = 0x9100, .fallthrough = 0x9010, .privilege = 1};
  TakenBranches branches;
  branches.Execute(&kBranch);
  branches.Start(kHandler);
  branches.Execute(&inner);
  EXPECT_EQ(branches.Start(0x9100), &inner);
  branches.ReturnFromInterrupt();
  EXPECT_EQ(branches.Start(0x100), &kBranch);
}

TEST(TakenBranches, BranchesOfSeveralTasksWait) {
  const ConditionalBranch other{.target = 0x300, .fallthrough = 0x402, .privilege = 0};
  TakenBranches branches;
  branches.Execute(&kBranch);
  branches.Start(kHandler);
  branches.Execute(&other);
  branches.Start(kHandler);
  branches.ReturnFromInterrupt();
  EXPECT_EQ(branches.Start(0x100), &kBranch);
  branches.ReturnFromInterrupt();
  EXPECT_EQ(branches.Start(0x300), &other);
}

}  // namespace
}  // namespace pmuconf::work
