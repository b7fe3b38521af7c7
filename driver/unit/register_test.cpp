// SPDX-License-Identifier: Apache-2.0
// Tests resources of events other than counters, against brute force: extra registers, the branch
// selector, and exclusive features.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

using Wants = std::vector<refpmu_want>;
// The registers that each want may have, as a set; 0 for a want that needs none.
using Choices = std::vector<unsigned>;

constexpr s8 kUntouched = 99;

refpmu_want Free() { return {.allowed = ~0ULL, .previous = REFPMU_COUNTER_NONE}; }

refpmu_want WithRegister(refpmu_extra kind, u64 value, int previous = REFPMU_REGISTER_NONE) {
  refpmu_want want = Free();
  want.extra = static_cast<u8>(kind);
  want.extra_value = value;
  want.previous_extra = static_cast<s8>(previous);
  return want;
}

refpmu_want Offcore(u64 value, int previous = REFPMU_REGISTER_NONE) {
  return WithRegister(REFPMU_EXTRA_OFFCORE, value, previous);
}

refpmu_want Latency(u64 value, int previous = REFPMU_REGISTER_NONE) {
  return WithRegister(REFPMU_EXTRA_LOAD_LATENCY, value, previous);
}

refpmu_want Branches(u64 select) {
  refpmu_want want = Free();
  want.branches = true;
  want.branch_select = select;
  return want;
}

refpmu_want Exclusive(u64 features) {
  refpmu_want want = Free();
  want.exclusive = features;
  return want;
}

std::vector<refpmu_place> Assign(const Wants& wants, int err) {
  std::vector<refpmu_place> places(wants.size(), {kUntouched, kUntouched});
  EXPECT_EQ(
      refpmu_constraint_assign(wants.data(), static_cast<unsigned>(wants.size()), places.data()),
      err);
  for (const refpmu_place& place : places) {
    EXPECT_EQ(place.counter == kUntouched, err != 0);
    EXPECT_EQ(place.extra == kUntouched, err != 0);
  }
  return places;
}

unsigned Registers(const refpmu_want& want) {
  return want.extra == REFPMU_EXTRA_OFFCORE ? 3 : want.extra == REFPMU_EXTRA_LOAD_LATENCY;
}

unsigned Previous(const refpmu_want& want) {
  return want.previous_extra >= 0 ? Registers(want) & (1u << want.previous_extra) : 0;
}

// Tries all assignments. A register has one value.
bool Feasible(const Wants& wants, const Choices& choices) {
  for (unsigned way = 0; way < 1u << wants.size(); ++way) {
    std::array<const refpmu_want*, 8> holder = {};
    bool fits = true;
    for (size_t i = 0; fits && i < wants.size(); ++i) {
      if (wants[i].extra == REFPMU_EXTRA_NONE) continue;
      const unsigned reg = (way >> i) & 1;
      const refpmu_want*& held = holder[2 * wants[i].extra + reg];
      fits = (choices[i] & (1u << reg)) && (!held || held->extra_value == wants[i].extra_value);
      held = &wants[i];
    }
    if (fits) return true;
  }
  return false;
}

void ExpectBest(const Wants& wants) {
  Choices choices;
  for (const refpmu_want& want : wants) {
    choices.push_back(want.pinned ? Previous(want) : Registers(want));
  }
  const bool fits = Feasible(wants, choices);
  const std::vector<refpmu_place> places = Assign(wants, fits ? 0 : -ENOSPC);
  if (!fits) return;
  for (size_t i = 0; i < wants.size(); ++i) {
    const refpmu_want& want = wants[i];
    if (want.extra == REFPMU_EXTRA_NONE) {
      ASSERT_EQ(places[i].extra, REFPMU_REGISTER_NONE);
      continue;
    }
    const unsigned bit = 1u << places[i].extra;
    ASSERT_NE(bit & choices[i], 0u) << "want " << i << " got " << int{places[i].extra};
    // A want keeps its register, unless another want then has none or an earlier one would have to
    // move.
    Choices trial = choices;
    trial[i] = Previous(want);
    if (bit == trial[i]) {
      choices = trial;
    } else if (trial[i]) {
      ASSERT_FALSE(Feasible(wants, trial)) << "want " << i << " got " << int{places[i].extra};
    }
  }
  for (size_t i = 0; i < wants.size(); ++i) {
    if (wants[i].extra != REFPMU_EXTRA_NONE) choices[i] = 1u << places[i].extra;
  }
  ASSERT_TRUE(Feasible(wants, choices)) << "a register holds two values";
}

// All combinations of register type, value, previous register, and pinned.
Wants Kinds() {
  Wants kinds = {Free()};
  for (int previous = -1; previous < 3; ++previous) {
    for (u64 value : {0, 1, 2}) kinds.push_back(Offcore(value, previous));
    for (u64 value : {0, 1}) kinds.push_back(Latency(value, previous));
  }
  const size_t movable = kinds.size();
  for (size_t i = 0; i < movable; ++i) {
    if (!Previous(kinds[i])) continue;
    kinds.push_back(kinds[i]);
    kinds.back().pinned = true;
  }
  return kinds;
}

// Gives each want its own previous counter, because a pinned want needs one.
void GiveCounters(Wants& wants) {
  for (size_t i = 0; i < wants.size(); ++i) wants[i].previous = static_cast<s8>(i);
}

TEST(Registers, EverySequenceOfThreeUsersGetsTheBestAssignment) {
  const Wants kinds = Kinds();
  ASSERT_EQ(kinds.size(), 29u);
  for (const refpmu_want& a : kinds) {
    for (const refpmu_want& b : kinds) {
      for (const refpmu_want& c : kinds) {
        Wants wants = {a, b, c};
        GiveCounters(wants);
        ExpectBest(wants);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(Registers, RandomUsersGetTheBestAssignment) {
  std::mt19937_64 random(14);
  const Wants kinds = Kinds();
  for (int i = 0; i < 20'000; ++i) {
    Wants wants(random() % 9);
    for (refpmu_want& want : wants) {
      want = kinds[random() % kinds.size()];
      // Mostly one value; otherwise hardly any set would fit.
      if (random() % 4) want.extra_value = 0;
    }
    GiveCounters(wants);
    ExpectBest(wants);
    ASSERT_FALSE(HasFailure()) << "round " << i;
  }
}

// Tries all assignments of counters, one want after the other.
bool CountersFit(const Wants& wants) {
  std::set<u64> taken = {0};
  for (const refpmu_want& want : wants) {
    std::set<u64> next;
    for (u64 used : taken) {
      for (unsigned counter = 0; counter < 8; ++counter) {
        const u64 span = (want.wide ? 3ULL : 1ULL) << counter;
        if ((want.allowed >> counter & 1) && !(used & span)) next.insert(used | span);
      }
    }
    taken.swap(next);
  }
  return !taken.empty();
}

// Returns whether the wants agree on the branch selector and the exclusive features.
bool NoneExcludesAnother(const Wants& wants) {
  for (const refpmu_want& a : wants) {
    for (const refpmu_want& b : wants) {
      if (&a == &b) continue;
      if (a.exclusive & b.exclusive) return false;
      if (a.branches && b.branches && a.branch_select != b.branch_select) return false;
    }
  }
  return true;
}

TEST(Registers, RandomWantsOfAllResourcesAreAssignedIfPossible) {
  std::mt19937_64 random(15);
  int fits = 0;
  for (int i = 0; i < 20'000; ++i) {
    Wants wants(random() % 9);
    Choices choices;
    for (refpmu_want& want : wants) {
      want = Free();
      want.wide = random() % 4 == 0;
      // A counter is allowed with probability 3/4, so that most results depend on the other
      // resources.
      const u64 some = random();
      want.allowed = (some | random()) & (want.wide ? 0x55 : 0xff);
      want.extra = random() % 3 ? u8{REFPMU_EXTRA_NONE} : static_cast<u8>(1 + random() % 2);
      want.extra_value = random() % 8 == 0;
      want.previous_extra = REFPMU_REGISTER_NONE;
      want.branches = random() % 2;
      want.branch_select = random() % 32 == 0;
      want.exclusive = random() % 16 ? 0 : 1 + random() % 3;
      choices.push_back(Registers(want));
    }
    const bool fit = CountersFit(wants) && Feasible(wants, choices) && NoneExcludesAnother(wants);
    Assign(wants, fit ? 0 : -ENOSPC);
    ASSERT_FALSE(HasFailure()) << "round " << i;
    fits += fit;
  }
  EXPECT_GT(fits, 2'000);
  EXPECT_LT(fits, 18'000);
}

TEST(Registers, EqualValuesShareOneRegister) {
  const std::vector<refpmu_place> places =
      Assign({Offcore(5), Offcore(5), Offcore(7), Offcore(5)}, 0);
  EXPECT_EQ(places[0].extra, 0);
  EXPECT_EQ(places[1].extra, 0);
  EXPECT_EQ(places[2].extra, 1);
  EXPECT_EQ(places[3].extra, 0);
  Assign({Offcore(5), Offcore(7), Offcore(9)}, -ENOSPC);
  Assign({Latency(5), Latency(5), Offcore(6), Offcore(7)}, 0);
  Assign({Latency(5), Latency(6)}, -ENOSPC);
}

TEST(Registers, AllBranchUsersShareOneSelector) {
  EXPECT_EQ(Assign({Branches(0x4), Free(), Branches(0x4)}, 0)[2].extra, REFPMU_REGISTER_NONE);
  Assign({Branches(0x4), Free(), Branches(0x5)}, -ENOSPC);
  Assign({Branches(0), Branches(0x1)}, -ENOSPC);
  // The selector is ignored if the want does not use branches.
  refpmu_want other = Branches(0x5);
  other.branches = false;
  Assign({Branches(0x4), other}, 0);
}

TEST(Registers, ExclusiveFeatureHasAtMostOneUser) {
  Assign({Exclusive(0x1), Exclusive(0x2), Exclusive(0x8000000000000000), Free()}, 0);
  Assign({Exclusive(0x3), Free(), Exclusive(0x6)}, -ENOSPC);
  Assign({Exclusive(0x8000000000000000), Exclusive(~0ULL)}, -ENOSPC);
}

TEST(Registers, MalformedWantIsAlwaysInvalid) {
  refpmu_want strange = Free();
  strange.extra = REFPMU_EXTRA_MAX;
  Assign({strange}, -EINVAL);
  for (int previous : {-128, -1, 2, 127}) {
    refpmu_want want = Offcore(1, previous);
    want.previous = 0;
    want.pinned = true;
    Assign({Offcore(5), Offcore(7), Offcore(9), want}, -EINVAL);
  }
  refpmu_want second = Latency(1, 1);
  second.previous = 0;
  second.pinned = true;
  Assign({second}, -EINVAL);
}

}  // namespace
}  // namespace pmuconf
