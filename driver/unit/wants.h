// SPDX-License-Identifier: Apache-2.0
// Wants and their assignment, and the brute force that checks it, for the tests of constraint.h.
#ifndef PMUCONF_DRIVER_UNIT_WANTS_H_
#define PMUCONF_DRIVER_UNIT_WANTS_H_

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core.h"

namespace pmuconf {

using Wants = std::vector<refpmu_want>;

struct Outcome {
  int err;
  std::vector<s8> counter;
  std::vector<s8> extra;
};

constexpr s8 kUntouched = 99;

inline Outcome Assign(const Wants& wants) {
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

inline u64 Bit(int counter) { return counter >= 0 && counter < 64 ? BIT_ULL(counter) : 0; }

inline refpmu_want Narrow(u64 allowed) {
  return {.allowed = allowed, .previous = REFPMU_COUNTER_NONE};
}

inline refpmu_want Wide(u64 evens) {
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
inline bool Feasible(const Options& options) {
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
inline void ExpectPlaces(const Wants& wants, const Outcome& outcome) {
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

inline void ExpectUntouched(const Outcome& outcome) {
  for (s8 counter : outcome.counter) ASSERT_EQ(counter, kUntouched);
  for (s8 extra : outcome.extra) ASSERT_EQ(extra, kUntouched);
}

// Verifies each guarantee of constraint.h by brute force.
inline void ExpectBest(const Wants& wants) {
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

inline std::string Sets(const Wants& wants) {
  std::ostringstream text;
  for (const refpmu_want& want : wants) {
    text << (want.wide ? " wide " : " ") << std::hex << want.allowed;
  }
  return text.str();
}

}  // namespace pmuconf

#endif  // PMUCONF_DRIVER_UNIT_WANTS_H_
