// SPDX-License-Identifier: Apache-2.0
// core/constraint against brute force (up to 8 wants) and against a matching from the counters'
// side.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "property.h"

extern "C" {
#include "core/constraint.h"
}

namespace pmuconf::fuzz {
namespace {

constexpr unsigned kMaxWants = 64;
constexpr unsigned kBruteForceWants = 8;
constexpr s8 kUntouched = 0x55;

using Counters = std::array<s8, kMaxWants + 2>;

bool Contains(u64 set, int counter) {
  return counter >= 0 && counter < 64 && ((set >> counter) & 1) != 0;
}

bool PinIsValid(const refpmu_want& want) {
  return !want.pinned || Contains(want.allowed, want.previous);
}

u64 Options(const refpmu_want& want) {
  return want.pinned ? u64{1} << want.previous : want.allowed;
}

bool Place(const std::vector<u64>& options, size_t next, u64 taken) {
  if (next == options.size()) return true;
  for (u64 open = options[next] & ~taken; open != 0; open &= open - 1) {
    if (Place(options, next + 1, taken | (open & -open))) return true;
  }
  return false;
}

// Tries every way. A want with at least as many options as there are wants never stands in the
// way, so it is left out: that keeps the search small.
bool FitsByBruteForce(const std::vector<refpmu_want>& wants) {
  std::vector<u64> options;
  for (const refpmu_want& want : wants) {
    if (static_cast<size_t>(std::popcount(Options(want))) < wants.size())
      options.push_back(Options(want));
  }
  std::sort(options.begin(), options.end(),
            [](u64 a, u64 b) { return std::popcount(a) < std::popcount(b); });
  return Place(options, 0, 0);
}

// A matching grown from the counters: each counter looks for a want, the other way round from core.
class CounterSideMatching {
 public:
  explicit CounterSideMatching(const std::vector<refpmu_want>& wants)
      : wants_(wants), owner_(wants.size(), -1) {}

  bool Complete() {
    size_t matched = 0;
    for (int counter = 0; counter < 64; ++counter) {
      seen_.assign(wants_.size(), false);
      if (Serve(counter)) ++matched;
    }
    return matched == wants_.size();
  }

 private:
  bool Serve(int counter) {
    for (size_t i = 0; i < wants_.size(); ++i) {
      if (seen_[i] || !Contains(Options(wants_[i]), counter)) continue;
      seen_[i] = true;
      if (owner_[i] < 0 || Serve(owner_[i])) {
        owner_[i] = counter;
        return true;
      }
    }
    return false;
  }

  const std::vector<refpmu_want>& wants_;
  std::vector<int> owner_;
  std::vector<bool> seen_;
};

// A device of a few counters makes collisions likely; the full 64 bits reach the edges.
std::vector<refpmu_want> Wants(FuzzedDataProvider& data) {
  const auto device = data.PickValueInArray<u64>(
      {0x0fULL, 0x70000000fULL, 0xffULL, 0x7000000ffULL, 0x7ffffffffULL, ~0ULL});
  const unsigned n = data.ConsumeBool() ? data.ConsumeIntegralInRange(0u, kBruteForceWants)
                                        : data.ConsumeIntegralInRange(0u, kMaxWants);
  std::vector<refpmu_want> wants(n);
  for (refpmu_want& want : wants) {
    want.allowed = data.ConsumeIntegral<u64>() & device;
    want.preferred = data.ConsumeIntegral<u64>() & want.allowed;
    want.previous = data.ConsumeBool() ? s8{REFPMU_COUNTER_NONE} : data.ConsumeIntegral<s8>();
    want.pinned = data.ConsumeIntegralInRange(0, 7) == 7;
  }
  return wants;
}

Counters Blank() {
  Counters counters;
  counters.fill(kUntouched);
  return counters;
}

void CheckAssignment(const std::vector<refpmu_want>& wants, const Counters& counters) {
  u64 taken = 0;
  for (size_t i = 0; i < wants.size(); ++i) {
    HOLDS(Contains(wants[i].allowed, counters[i]), "an event sits on a counter that can count it");
    HOLDS(!Contains(taken, counters[i]), "no two events share a counter");
    HOLDS(!wants[i].pinned || counters[i] == wants[i].previous, "a pinned event stays");
    taken |= u64{1} << counters[i];
  }
  for (size_t i = wants.size(); i < counters.size(); ++i)
    HOLDS(counters[i] == kUntouched, "nothing is written past the last event");
}

// Everybody runs where the first call put them: every event can be kept, so every event is.
void CheckKept(std::vector<refpmu_want> wants, const Counters& counters, bool pinned) {
  for (size_t i = 0; i < wants.size(); ++i) {
    wants[i].previous = counters[i];
    wants[i].pinned = pinned;
  }
  Counters again = Blank();
  HOLDS(refpmu_constraint_assign(wants.data(), wants.size(), again.data()) == 0,
        "what fits still fits when it is already in place");
  HOLDS(again == counters, "an event keeps its counter when all can keep theirs");
}

void CheckOne(const std::vector<refpmu_want>& wants) {
  Counters counters = Blank();
  const int status = refpmu_constraint_assign(wants.data(), wants.size(), counters.data());

  Counters second = Blank();
  HOLDS(refpmu_constraint_assign(wants.data(), wants.size(), second.data()) == status &&
            second == counters,
        "the same wants give the same answer");

  if (!std::all_of(wants.begin(), wants.end(), PinIsValid)) {
    HOLDS(status == -EINVAL, "a pin without a counter of its own is refused");
    HOLDS(counters == Blank(), "a refusal writes nothing");
    return;
  }
  const bool fits = CounterSideMatching(wants).Complete();
  if (wants.size() <= kBruteForceWants)
    HOLDS(FitsByBruteForce(wants) == fits, "both oracles agree");
  HOLDS(status == (fits ? 0 : -ENOSPC), "an assignment is found exactly when there is one");
  if (!fits) {
    HOLDS(counters == Blank(), "a refusal writes nothing");
    return;
  }
  CheckAssignment(wants, counters);
  CheckKept(wants, counters, /*pinned=*/true);
  CheckKept(wants, counters, /*pinned=*/false);
}

void CheckPreferred(const refpmu_want& want) {
  if (want.preferred == 0) return;
  const refpmu_want fresh = {want.allowed, want.preferred, REFPMU_COUNTER_NONE, false};
  s8 counter = kUntouched;
  HOLDS(refpmu_constraint_assign(&fresh, 1, &counter) == 0, "one event with a counter fits");
  HOLDS(Contains(want.preferred, counter), "an event alone gets a counter it prefers");
}

void CheckTooMany(const std::vector<refpmu_want>& wants, unsigned excess) {
  std::vector<refpmu_want> many(kMaxWants + excess, wants.front());
  std::vector<s8> counters(many.size(), kUntouched);
  HOLDS(refpmu_constraint_assign(many.data(), many.size(), counters.data()) == -EINVAL,
        "more wants than counters can exist are refused as malformed");
  HOLDS(std::all_of(counters.begin(), counters.end(), [](s8 c) { return c == kUntouched; }),
        "a refusal writes nothing");
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  const std::vector<refpmu_want> wants = Wants(data);
  CheckOne(wants);
  if (wants.empty()) return 0;
  CheckPreferred(wants.front());
  CheckTooMany(wants, data.ConsumeIntegralInRange(1u, 3u));
  return 0;
}
