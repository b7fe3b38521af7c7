// SPDX-License-Identifier: Apache-2.0
// Tests the assignment of counters against brute force: complete, stable, and with the best use of
// preferences. For extra registers and exclusive features see register_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

using Wants = std::vector<refpmu_want>;

const refpmu_constraint_vector kAssignments[] = {
#include "constraint.inc"
};

struct Outcome {
  int err;
  std::vector<s8> counter;
  std::vector<s8> extra;
};

constexpr s8 kUntouched = 99;

Outcome Assign(const Wants& wants) {
  std::vector<refpmu_place> places(wants.size(), {kUntouched, kUntouched});
  Outcome outcome = {};
  outcome.err =
      refpmu_constraint_assign(wants.data(), static_cast<unsigned>(wants.size()), places.data());
  for (const refpmu_place& place : places) {
    outcome.counter.push_back(place.counter);
    outcome.extra.push_back(place.extra);
  }
  return outcome;
}

u64 Bit(int counter) { return counter >= 0 && counter < 64 ? BIT_ULL(counter) : 0; }

refpmu_want Narrow(u64 allowed) { return {.allowed = allowed, .previous = REFPMU_COUNTER_NONE}; }

refpmu_want Wide(u64 evens) {
  return {.allowed = evens, .previous = REFPMU_COUNTER_NONE, .wide = true};
}

// Counters that a want may have: one of @set; a wide want also takes the next one.
struct Option {
  u64 set;
  bool wide;
};
using Options = std::vector<Option>;

// Returns whether an assignment exists. Tries all assignments at once: `taken` holds the sets of
// counters that the first i wants can occupy, at most 2^(counters) sets.
bool Feasible(const Options& options) {
  std::set<u64> taken = {0};
  for (const Option& option : options) {
    std::set<u64> next;
    for (u64 used : taken) {
      for (u64 rest = option.set; rest != 0; rest &= rest - 1) {
        const u64 bit = rest & (~rest + 1);
        const u64 span = option.wide ? bit | bit << 1 : bit;
        if (!(span & used)) next.insert(used | span);
      }
    }
    taken.swap(next);
  }
  return !taken.empty();
}

// Expects a valid assignment: each want has a counter that it allows, and no two share one.
void ExpectPlaces(const Wants& wants, const Outcome& outcome) {
  u64 used = 0;
  for (size_t i = 0; i < wants.size(); ++i) {
    const u64 bit = Bit(outcome.counter[i]);
    const u64 span = wants[i].wide ? bit | bit << 1 : bit;
    ASSERT_NE(bit & wants[i].allowed, 0u) << "want " << i << " got " << int{outcome.counter[i]};
    ASSERT_TRUE(!wants[i].pinned || outcome.counter[i] == wants[i].previous) << "want " << i;
    ASSERT_EQ(span & used, 0u) << "counter " << int{outcome.counter[i]} << " given twice";
    used |= span;
  }
}

void ExpectUntouched(const Outcome& outcome) {
  for (s8 counter : outcome.counter) ASSERT_EQ(counter, kUntouched);
  for (s8 extra : outcome.extra) ASSERT_EQ(extra, kUntouched);
}

// Verifies each guarantee of constraint.h by brute force.
void ExpectBest(const Wants& wants) {
  Options options;
  for (const refpmu_want& want : wants) {
    options.push_back({want.pinned ? Bit(want.previous) & want.allowed : want.allowed, want.wide});
  }
  const Outcome outcome = Assign(wants);
  ASSERT_EQ(outcome.err, Feasible(options) ? 0 : -ENOSPC);
  if (outcome.err != 0) {
    ExpectUntouched(outcome);
    return;
  }
  ASSERT_NO_FATAL_FAILURE(ExpectPlaces(wants, outcome));
  // In order, each want keeps its counter, unless another want then has no counter or an earlier
  // one would have to move. Then each gets a preferred counter, with the same exceptions.
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < wants.size(); ++i) {
      const u64 wish = options[i].set & (round == 0 ? Bit(wants[i].previous) : wants[i].preferred);
      const u64 bit = Bit(outcome.counter[i]);
      if (options[i].set == bit) continue;
      if (bit & wish) {
        options[i].set = bit;
      } else if (wish) {
        Options trial = options;
        trial[i].set = wish;
        ASSERT_FALSE(Feasible(trial))
            << "want " << i << " in round " << round << " got " << int{outcome.counter[i]};
      }
    }
  }
}

// Calls @test with every multiset of up to @most wants of @kinds.
template <typename Test>
void ForEachMultiset(const Wants& kinds, size_t most, Test test) {
  std::vector<size_t> chosen;
  Wants wants;
  for (;;) {
    test(wants);
    if (testing::Test::HasFatalFailure()) return;
    // Next multiset in order: append the last kind again, or else advance the last element that
    // can.
    if (wants.size() < most) {
      chosen.push_back(chosen.empty() ? 0 : chosen.back());
      wants.push_back(kinds[chosen.back()]);
      continue;
    }
    while (!chosen.empty() && chosen.back() + 1 == kinds.size()) {
      chosen.pop_back();
      wants.pop_back();
    }
    if (chosen.empty()) return;
    wants.back() = kinds[++chosen.back()];
  }
}

std::string Sets(const Wants& wants) {
  std::ostringstream text;
  for (const refpmu_want& want : wants) {
    text << (want.wide ? " wide " : " ") << std::hex << want.allowed;
  }
  return text.str();
}

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
