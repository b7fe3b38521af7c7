// SPDX-License-Identifier: Apache-2.0
// Tests the assignment of counters against brute force: complete, stable, and with the best use of
// preferences. For wants of two counters see wide_constraint_test.cpp, for extra registers and
// exclusive features register_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

#include "core.h"
#include "wants.h"

namespace pmuconf {
namespace {

const refpmu_constraint_vector kAssignments[] = {
#include "constraint.inc"
};

TEST(Constraint, MatchesTheVectors) {
  for (const refpmu_constraint_vector& row : kAssignments) {
    SCOPED_TRACE(row.name);
    const Outcome outcome = Assign(Wants(row.wants, row.wants + row.n));
    EXPECT_EQ(outcome.err, row.err);
    for (unsigned i = 0; i < row.n; ++i) {
      EXPECT_EQ(int{outcome.counter[i]}, row.err == 0 ? int{row.counter[i]} : int{kUntouched})
          << "want " << i;
      const s8 extra = row.wants[i].extra ? row.extra[i] : s8{REFPMU_REGISTER_NONE};
      EXPECT_EQ(int{outcome.extra[i]}, row.err == 0 ? int{extra} : int{kUntouched}) << "want " << i;
    }
  }
}

TEST(Constraint, EverySequenceOfFourWantsOfFourCountersIsAssignedIfPossible) {
  for (unsigned n = 0; n <= 4; ++n) {
    for (unsigned code = 0; code < 1u << (4 * n); ++code) {
      Wants wants;
      for (unsigned i = 0; i < n; ++i) {
        wants.push_back(Narrow((code >> (4 * i)) & 0xf));
      }
      ExpectBest(wants);
      if (HasFatalFailure()) FAIL() << n << " wants, masks " << std::hex << code;
    }
  }
}

TEST(Constraint, EveryMultisetOfFiveWantsOfFiveCountersIsAssignedIfPossible) {
  Wants kinds;
  for (u64 allowed = 1; allowed < 32; ++allowed) kinds.push_back(Narrow(allowed));
  int all = 0;
  ForEachMultiset(kinds, 5, [&](const Wants& wants) {
    Options options;
    for (const refpmu_want& want : wants) options.push_back({want.allowed, false});
    const Outcome outcome = Assign(wants);
    ++all;
    ASSERT_EQ(outcome.err, Feasible(options) ? 0 : -ENOSPC) << Sets(wants);
    if (outcome.err == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectPlaces(wants, outcome)) << Sets(wants);
    }
  });
  EXPECT_EQ(all, 376'992);  // binomial coefficient of 36 and 5
}

TEST(Constraint, ThreeWantsGetPreviousAndPreferredCounters) {
  for (unsigned code = 0; code < 1u << 18; ++code) {
    Wants wants;
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned bits = code >> (6 * i);
      const int previous = static_cast<int>((bits >> 3) & 3) - 1;
      // One bit selects the preference: the highest allowed counter, or none.
      const u64 allowed = bits & 7;
      const u64 preferred = bits & 0x20 ? allowed & ~(allowed >> 1) & ~(allowed >> 2) : 0;
      wants.push_back(
          {.allowed = allowed, .preferred = preferred, .previous = static_cast<s8>(previous)});
    }
    ExpectBest(wants);
    if (HasFatalFailure()) FAIL() << "code " << std::hex << code;
  }
}

TEST(Constraint, RandomWantsOfEightCountersGetTheBestAssignment) {
  constexpr std::array<int, 8> kCounters = {0, 1, 2, 31, 32, 33, 34, 63};
  std::mt19937_64 random(6);
  const auto some = [&](unsigned density) {
    u64 set = 0;
    for (int counter : kCounters) {
      if (random() % 8 < density) set |= BIT_ULL(counter);
    }
    return set;
  };
  int fits = 0;
  for (int i = 0; i < 20'000; ++i) {
    Wants wants;
    u64 pins = 0;
    const size_t n = random() % 9;
    const unsigned density = 1 + random() % 7;
    while (wants.size() < n) {
      refpmu_want want = Narrow(some(density));
      if (random() % 2) want.preferred = want.allowed & some(3);
      if (random() % 2) want.previous = static_cast<s8>(kCounters[random() % 8]);
      want.pinned = random() % 4 == 0 && (Bit(want.previous) & want.allowed & ~pins);
      if (want.pinned) pins |= Bit(want.previous);
      wants.push_back(want);
    }
    ExpectBest(wants);
    if (HasFatalFailure()) FAIL() << "round " << i;
    fits += Assign(wants).err == 0;
  }
  EXPECT_GT(fits, 5'000);
  EXPECT_LT(fits, 19'000);
}

TEST(Constraint, ChainOfMovesOverAllCountersIsFound) {
  Wants wants;
  for (int i = 0; i < 63; ++i) {
    wants.push_back(Narrow(BIT_ULL(i) | BIT_ULL(i + 1)));
  }
  wants.push_back(Narrow(1));
  const Outcome outcome = Assign(wants);
  ASSERT_EQ(outcome.err, 0);
  for (int i = 0; i < 63; ++i) EXPECT_EQ(outcome.counter[i], i + 1);
  EXPECT_EQ(outcome.counter[63], 0);
}

// Textbook recursive matching, for sizes that are too large for brute force.
size_t MaximumMatching(const Wants& wants) {
  std::array<int, 64> owner;
  owner.fill(-1);
  u64 seen = 0;
  const std::function<bool(int)> augment = [&](int want) {
    for (int counter = 0; counter < 64; ++counter) {
      if (!(wants[want].allowed & BIT_ULL(counter)) || (seen & BIT_ULL(counter))) continue;
      seen |= BIT_ULL(counter);
      if (owner[counter] < 0 || augment(owner[counter])) {
        owner[counter] = want;
        return true;
      }
    }
    return false;
  };
  size_t size = 0;
  for (size_t i = 0; i < wants.size(); ++i) {
    seen = 0;
    size += augment(static_cast<int>(i));
  }
  return size;
}

TEST(Constraint, SixtyFourSparseWantsAgreeWithMaximumMatching) {
  std::mt19937_64 random(7);
  int fits = 0;
  for (int i = 0; i < 2'000; ++i) {
    Wants wants;
    while (wants.size() < 64) {
      u64 allowed = 0;
      for (int k = 0; k < 5; ++k) allowed |= BIT_ULL(random() % 64);
      wants.push_back({.allowed = allowed,
                       .preferred = allowed & random(),
                       .previous = static_cast<s8>(random() % 64)});
    }
    const Outcome outcome = Assign(wants);
    ASSERT_EQ(outcome.err == 0, MaximumMatching(wants) == 64) << "round " << i;
    if (outcome.err != 0) continue;
    ++fits;
    u64 used = 0;
    for (int k = 0; k < 64; ++k) {
      ASSERT_NE(wants[k].allowed & Bit(outcome.counter[k]), 0u);
      used |= Bit(outcome.counter[k]);
    }
    ASSERT_EQ(used, ~0ULL);
  }
  EXPECT_GT(fits, 100);
  EXPECT_LT(fits, 1'900);
}

TEST(Constraint, MoreWantsThanCountersAreInvalid) {
  const Outcome outcome = Assign(Wants(65, Narrow(~0ULL)));
  EXPECT_EQ(outcome.err, -EINVAL);
  ExpectUntouched(outcome);
}

}  // namespace
}  // namespace pmuconf
