// SPDX-License-Identifier: Apache-2.0
// Tests the assignment of counters to wants of two counters, alone and together with narrow wants.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "core.h"
#include "wants.h"

namespace pmuconf {
namespace {

// Masks of the device's events on 8 general and 3 fixed counters, and other masks that overlap
// without inclusion.
const Wants kFamilies = {
    Narrow(0xff),           Narrow(0x03), Narrow(0x80), Narrow(0x1000000ffULL),
    Narrow(0x2000000ffULL), Narrow(0x0f), Narrow(0x3c), Narrow(0xc3),
    Narrow(0x81),           Wide(0x55),   Wide(0x05),   Wide(0x44),
};

TEST(Constraint, EveryMultisetOfEightWantsOfTwelveFamiliesIsAssignedIfPossible) {
  int fits = 0;
  int all = 0;
  ForEachMultiset(kFamilies, 8, [&](const Wants& wants) {
    // Also in reverse: the order of the wants must not matter for the existence of an assignment.
    const Outcome outcome = Assign(wants);
    const Wants reverse(wants.rbegin(), wants.rend());
    ASSERT_EQ(Assign(reverse).err, outcome.err) << Sets(wants);
    Options options;
    for (const refpmu_want& want : wants) options.push_back({want.allowed, want.wide});
    // This order keeps the number of sets in Feasible() small.
    std::sort(options.begin(), options.end(), [](const Option& a, const Option& b) {
      return a.wide != b.wide ? a.wide : a.set < b.set;
    });
    // Brute force proves that no assignment exists. If one exists, checking the result is enough.
    ++all;
    if (outcome.err != 0) {
      ASSERT_FALSE(Feasible(options)) << Sets(wants);
    } else {
      ++fits;
      ASSERT_NO_FATAL_FAILURE(ExpectPlaces(wants, outcome)) << Sets(wants);
    }
  });
  EXPECT_EQ(all, 125'970);  // binomial coefficient of 20 and 8
  EXPECT_GT(fits, 1'000);
}

TEST(Constraint, EverySequenceOfFourMixedWantsOfTwoPairsIsAssignedIfPossible) {
  Wants kinds;
  for (u64 allowed = 1; allowed < 16; ++allowed) kinds.push_back(Narrow(allowed));
  for (u64 evens : {0x1, 0x4, 0x5}) kinds.push_back(Wide(evens));
  for (size_t code = 0; code < 18u * 18 * 18 * 18; ++code) {
    Wants wants;
    for (size_t rest = code, i = 0; i < 4; ++i, rest /= 18) wants.push_back(kinds[rest % 18]);
    ExpectBest(wants);
    if (HasFatalFailure()) FAIL() << Sets(wants);
  }
}

TEST(Constraint, EveryMultisetOfThreeWantsOfThreePairsIsAssignedIfPossible) {
  Wants kinds;
  for (u64 allowed = 1; allowed < 64; ++allowed) kinds.push_back(Narrow(allowed));
  for (u64 evens : {0x01, 0x04, 0x05, 0x10, 0x11, 0x14, 0x15}) kinds.push_back(Wide(evens));
  ForEachMultiset(kinds, 3, [](const Wants& wants) {
    ExpectBest(wants);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << Sets(wants);
  });
}

TEST(Constraint, TwoWantsOfTwoPairsGetPreviousAndPreferredCounters) {
  Wants kinds;
  for (bool wide : {false, true}) {
    for (u64 allowed = 1; allowed < 16; ++allowed) {
      if (wide && (allowed & 0xa)) continue;
      for (int previous = -1; previous < 5; ++previous) {
        for (u64 preferred = 0; preferred < 16; ++preferred) {
          if (preferred & ~allowed) continue;
          for (bool pinned : {false, true}) {
            if (pinned && !(Bit(previous) & allowed)) continue;
            kinds.push_back({.allowed = allowed,
                             .preferred = preferred,
                             .previous = static_cast<s8>(previous),
                             .pinned = pinned,
                             .wide = wide});
          }
        }
      }
    }
  }
  for (const refpmu_want& first : kinds) {
    for (const refpmu_want& second : kinds) {
      ExpectBest({first, second});
      if (HasFatalFailure()) FAIL() << Sets({first, second});
    }
  }
}

TEST(Constraint, RandomMixedWantsOfFivePairsGetTheBestAssignment) {
  std::mt19937_64 random(12);
  constexpr u64 kEvens = 0x155;
  int fits = 0;
  for (int i = 0; i < 6'000; ++i) {
    Wants wants;
    u64 pins = 0;
    const size_t n = random() % 9;
    while (wants.size() < n) {
      const bool wide = random() % 3 == 0;
      const u64 some = random();
      refpmu_want want = wide ? Wide(some & kEvens) : Narrow(some & random() & 0x3ff);
      if (random() % 2) want.preferred = want.allowed & random();
      if (random() % 2) want.previous = static_cast<s8>(random() % 10);
      const u64 bit = Bit(want.previous) & want.allowed;
      const u64 span = wide ? bit | bit << 1 : bit;
      want.pinned = random() % 4 == 0 && bit && !(span & pins);
      if (want.pinned) pins |= span;
      wants.push_back(want);
    }
    ExpectBest(wants);
    if (HasFatalFailure()) FAIL() << "round " << i;
    fits += Assign(wants).err == 0;
  }
  EXPECT_GT(fits, 1'500);
  EXPECT_LT(fits, 5'500);
}

TEST(Constraint, KnownAssignmentOfTheLargestDeviceIsFound) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 300; ++i) {
    // Each want gets a counter, and then a few more that it allows.
    std::vector<int> free(64);
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), random);
    const size_t n_wide = random() % 17;
    const unsigned more = random() % 4;
    u64 used = 0;
    Wants wants;
    std::vector<int> evens(16);
    for (int k = 0; k < 16; ++k) evens[k] = 2 * k;
    std::shuffle(evens.begin(), evens.end(), random);
    for (size_t k = 0; k < n_wide; ++k) {
      refpmu_want want = Wide(BIT_ULL(evens[k]));
      for (unsigned j = 0; j < more; ++j) want.allowed |= BIT_ULL(2 * (random() % 16));
      used |= 3ULL << evens[k];
      wants.push_back(want);
    }
    for (int counter : free) {
      if (used & BIT_ULL(counter)) continue;
      refpmu_want want = Narrow(BIT_ULL(counter));
      for (unsigned j = 0; j < more; ++j) want.allowed |= BIT_ULL(random() % 64);
      wants.push_back(want);
    }
    std::shuffle(wants.begin(), wants.end(), random);
    const Outcome outcome = Assign(wants);
    ASSERT_EQ(outcome.err, 0) << "round " << i << Sets(wants);
    ExpectPlaces(wants, outcome);
    ASSERT_FALSE(HasFatalFailure()) << "round " << i;
    // All counters are in use, so one more want does not fit.
    wants.push_back(Narrow(~0ULL));
    ASSERT_EQ(Assign(wants).err, wants.size() > 64 ? -EINVAL : -ENOSPC) << "round " << i;
  }
}

TEST(Constraint, InvalidMaskOfAWideWantIsRejected) {
  for (u64 allowed : {0x2ULL, 0x3ULL, 0x100000000ULL, ~0ULL}) {
    const Outcome outcome = Assign({Wide(allowed)});
    EXPECT_EQ(outcome.err, -EINVAL) << std::hex << allowed;
    ExpectUntouched(outcome);
  }
  refpmu_want odd = Wide(0x5);
  odd.previous = 1;
  EXPECT_EQ(Assign({odd}).counter[0], 0);
  odd.pinned = true;
  EXPECT_EQ(Assign({odd}).err, -EINVAL);
}

// Algorithm of other drivers: most constrained first, each on the first free counter.
bool GreedyFits(Wants wants) {
  std::stable_sort(wants.begin(), wants.end(), [](const refpmu_want& a, const refpmu_want& b) {
    return __builtin_popcountll(a.allowed) < __builtin_popcountll(b.allowed);
  });
  u64 used = 0;
  for (const refpmu_want& want : wants) {
    u64 span = 0;
    for (u64 rest = want.allowed; rest != 0 && span == 0; rest &= rest - 1) {
      const u64 bit = rest & (~rest + 1);
      const u64 taken = want.wide ? bit | bit << 1 : bit;
      if (!(taken & used)) span = taken;
    }
    if (span == 0) return false;
    used |= span;
  }
  return true;
}

TEST(Constraint, SetsThatGreedyAssignmentRejectsAreAssigned) {
  // Overlapping masks of equal size: greedy gives the first want the counter that the others need.
  const Wants overlap = {Narrow(0x3), Narrow(0x5), Narrow(0x5)};
  EXPECT_FALSE(GreedyFits(overlap));
  EXPECT_EQ(Assign(overlap).err, 0);
  // Events of the device on 4 counters: a wide one, and two of pulse_c, which allows the first two.
  const Wants wide = {Wide(0x5), Narrow(0x3), Narrow(0x3)};
  EXPECT_FALSE(GreedyFits(wide));
  const Outcome outcome = Assign(wide);
  ASSERT_EQ(outcome.err, 0);
  EXPECT_EQ(outcome.counter[0], 2);
  // Every set that the greedy algorithm can assign must be assigned.
  ForEachMultiset(kFamilies, 5, [](const Wants& wants) {
    ASSERT_TRUE(!GreedyFits(wants) || Assign(wants).err == 0) << Sets(wants);
  });
}

}  // namespace
}  // namespace pmuconf
