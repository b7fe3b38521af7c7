// SPDX-License-Identifier: Apache-2.0
// Counter assignment against brute force: complete, stable, and as preferred as can be.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

using Wants = std::vector<refpmu_want>;
using Sets = std::vector<u64>;

const refpmu_constraint_vector kAssignments[] = {
#include "constraint.inc"
};

struct Outcome {
  int err;
  std::vector<s8> counter;
};

constexpr s8 kUntouched = 99;

Outcome Assign(const Wants& wants) {
  Outcome outcome = {0, std::vector<s8>(wants.size(), kUntouched)};
  outcome.err = refpmu_constraint_assign(wants.data(), static_cast<unsigned>(wants.size()),
                                         outcome.counter.data());
  return outcome;
}

u64 Bit(int counter) { return counter >= 0 && counter < 64 ? BIT_ULL(counter) : 0; }

// Whether each set can give one element of its own: all ways tried at once, as the sets of
// elements that the first i sets may have taken.
bool Feasible(const Sets& sets) {
  std::set<u64> taken = {0};
  for (u64 allowed : sets) {
    std::set<u64> next;
    for (u64 used : taken) {
      for (u64 rest = allowed & ~used; rest != 0; rest &= rest - 1) {
        next.insert(used | (rest & (~rest + 1)));
      }
    }
    taken.swap(next);
  }
  return !taken.empty();
}

// What the header promises of an assignment, each promise tested by brute force.
void ExpectBest(const Wants& wants) {
  Sets sets;
  for (const refpmu_want& want : wants) {
    sets.push_back(want.pinned ? Bit(want.previous) & want.allowed : want.allowed);
  }
  const Outcome outcome = Assign(wants);
  ASSERT_EQ(outcome.err, Feasible(sets) ? 0 : -ENOSPC);
  if (outcome.err != 0) {
    for (s8 counter : outcome.counter) ASSERT_EQ(counter, kUntouched);
    return;
  }

  u64 used = 0;
  for (size_t i = 0; i < wants.size(); ++i) {
    const u64 bit = Bit(outcome.counter[i]);
    ASSERT_NE(bit & sets[i], 0u) << "want " << i << " got " << int{outcome.counter[i]};
    ASSERT_EQ(bit & used, 0u) << "counter " << int{outcome.counter[i]} << " given twice";
    used |= bit;
  }
  // In order, each stays unless that costs somebody a place, or an earlier one its stay; then
  // each gets what it prefers under the same terms.
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < wants.size(); ++i) {
      const u64 wish = sets[i] & (round == 0 ? Bit(wants[i].previous) : wants[i].preferred);
      const u64 bit = Bit(outcome.counter[i]);
      if (sets[i] == bit) continue;
      if (bit & wish) {
        sets[i] = bit;
      } else {
        Sets trial = sets;
        trial[i] = wish;
        ASSERT_FALSE(Feasible(trial))
            << "want " << i << " in round " << round << " got " << int{outcome.counter[i]};
      }
    }
  }
}

TEST(Constraint, MatchesTheVectors) {
  for (const refpmu_constraint_vector& row : kAssignments) {
    SCOPED_TRACE(row.name);
    const Outcome outcome = Assign(Wants(row.wants, row.wants + row.n));
    EXPECT_EQ(outcome.err, row.err);
    for (unsigned i = 0; i < row.n; ++i) {
      EXPECT_EQ(int{outcome.counter[i]}, row.err == 0 ? int{row.counter[i]} : int{kUntouched})
          << "want " << i;
    }
  }
}

TEST(Constraint, EverySequenceOfUpToFourWantsOfFourCountersFitsWhenItCan) {
  for (unsigned n = 0; n <= 4; ++n) {
    for (unsigned code = 0; code < 1u << (4 * n); ++code) {
      Wants wants;
      for (unsigned i = 0; i < n; ++i) {
        wants.push_back({(code >> (4 * i)) & 0xf, 0, REFPMU_COUNTER_NONE, false});
      }
      ExpectBest(wants);
      if (HasFatalFailure()) FAIL() << n << " wants, masks " << std::hex << code;
    }
  }
}

TEST(Constraint, EveryStayAndPreferenceOfThreeWantsOfThreeCountersIsHonoured) {
  for (unsigned code = 0; code < 1u << 18; ++code) {
    Wants wants;
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned bits = code >> (6 * i);
      const int previous = static_cast<int>((bits >> 3) & 3) - 1;
      // One bit says whether the preference is the highest allowed counter or none.
      const u64 allowed = bits & 7;
      const u64 preferred = bits & 0x20 ? allowed & ~(allowed >> 1) & ~(allowed >> 2) : 0;
      wants.push_back({allowed, preferred, static_cast<s8>(previous), false});
    }
    ExpectBest(wants);
    if (HasFatalFailure()) FAIL() << "code " << std::hex << code;
  }
}

TEST(Constraint, RandomWantsOfEightCountersAreServedAsWellAsCanBe) {
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
      refpmu_want want = {some(density), 0, REFPMU_COUNTER_NONE, false};
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

TEST(Constraint, PathOverAllCountersIsFound) {
  Wants wants;
  for (int i = 0; i < 63; ++i) {
    wants.push_back({BIT_ULL(i) | BIT_ULL(i + 1), 0, REFPMU_COUNTER_NONE, false});
  }
  wants.push_back({1, 0, REFPMU_COUNTER_NONE, false});
  const Outcome outcome = Assign(wants);
  ASSERT_EQ(outcome.err, 0);
  for (int i = 0; i < 63; ++i) EXPECT_EQ(outcome.counter[i], i + 1);
  EXPECT_EQ(outcome.counter[63], 0);
}

// A textbook recursive matching, for sizes that brute force cannot do.
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

TEST(Constraint, SixtyFourSparseWantsFitExactlyWhenAMaximumMatchingIsFull) {
  std::mt19937_64 random(7);
  int fits = 0;
  for (int i = 0; i < 2'000; ++i) {
    Wants wants;
    while (wants.size() < 64) {
      u64 allowed = 0;
      for (int k = 0; k < 5; ++k) allowed |= BIT_ULL(random() % 64);
      wants.push_back({allowed, allowed & random(), static_cast<s8>(random() % 64), false});
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

TEST(Constraint, MoreWantsThanThereCanBeCountersAreInvalid) {
  const Wants wants(65, {~0ULL, 0, REFPMU_COUNTER_NONE, false});
  EXPECT_EQ(Assign(wants).err, -EINVAL);
}

}  // namespace
}  // namespace pmuconf
