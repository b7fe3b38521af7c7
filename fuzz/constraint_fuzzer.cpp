// SPDX-License-Identifier: Apache-2.0
// core/constraint against brute force (up to 8 wants), and against a matching from the counters'
// side. Wide wants, registers and exclusions are compared with all possible assignments.
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

bool FitsFrom(const std::vector<u64>& options, size_t next, u64 used_counters) {
  if (next == options.size()) return true;
  for (u64 open = options[next] & ~used_counters; open != 0; open &= open - 1) {
    if (FitsFrom(options, next + 1, used_counters | (open & -open))) return true;
  }
  return false;
}

// Tries all assignments. A want with at least as many options as there are wants always fits, so it
// is omitted to keep the search small.
bool FitsByBruteForce(const std::vector<refpmu_want>& wants) {
  std::vector<u64> options;
  for (const refpmu_want& want : wants) {
    if (static_cast<size_t>(std::popcount(Options(want))) < wants.size())
      options.push_back(Options(want));
  }
  std::sort(options.begin(), options.end(),
            [](u64 a, u64 b) { return std::popcount(a) < std::popcount(b); });
  return FitsFrom(options, 0, 0);
}

// A matching that starts from the counters: each counter searches for a want, unlike in core.
class CounterSideMatching {
 public:
  explicit CounterSideMatching(const std::vector<refpmu_want>& wants)
      : wants_(wants), owner_(wants.size(), -1) {}

  bool Complete() {
    size_t matched = 0;
    for (int counter = 0; counter < 64; ++counter) {
      seen_.assign(wants_.size(), false);
      if (AssignWant(counter)) ++matched;
    }
    return matched == wants_.size();
  }

 private:
  bool AssignWant(int counter) {
    for (size_t i = 0; i < wants_.size(); ++i) {
      if (seen_[i] || !Contains(Options(wants_[i]), counter)) continue;
      seen_[i] = true;
      if (owner_[i] < 0 || AssignWant(owner_[i])) {
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

// A device with few counters makes collisions likely; all 64 bits test the limits.
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

// The interface returns places, but the properties are about counters.
int Assign(const refpmu_want* wants, size_t n, s8* counters) {
  std::vector<refpmu_place> places(n, {kUntouched, kUntouched});
  const int status = refpmu_constraint_assign(wants, static_cast<unsigned>(n), places.data());
  for (size_t i = 0; i < n; ++i) counters[i] = places[i].counter;
  return status;
}

Counters UntouchedCounters() {
  Counters counters;
  counters.fill(kUntouched);
  return counters;
}

void CheckAssignment(const std::vector<refpmu_want>& wants, const Counters& counters) {
  u64 used_counters = 0;
  for (size_t i = 0; i < wants.size(); ++i) {
    PROPERTY(Contains(wants[i].allowed, counters[i]), "an event has a counter that can count it");
    PROPERTY(!Contains(used_counters, counters[i]), "no two events share a counter");
    PROPERTY(!wants[i].pinned || counters[i] == wants[i].previous, "a pinned event stays");
    used_counters |= u64{1} << counters[i];
  }
  for (size_t i = wants.size(); i < counters.size(); ++i)
    PROPERTY(counters[i] == kUntouched, "nothing is written past the last event");
}

// All events run where the first call put them, so all of them can keep their counters and must.
void CheckStability(std::vector<refpmu_want> wants, const Counters& counters, bool pinned) {
  for (size_t i = 0; i < wants.size(); ++i) {
    wants[i].previous = counters[i];
    wants[i].pinned = pinned;
  }
  Counters again = UntouchedCounters();
  PROPERTY(Assign(wants.data(), wants.size(), again.data()) == 0,
           "events that fit still fit in their places");
  PROPERTY(again == counters, "an event keeps its counter when all can keep theirs");
}

void CheckOne(const std::vector<refpmu_want>& wants) {
  Counters counters = UntouchedCounters();
  const int status = Assign(wants.data(), wants.size(), counters.data());

  Counters second = UntouchedCounters();
  PROPERTY(Assign(wants.data(), wants.size(), second.data()) == status && second == counters,
           "the same wants give the same answer");

  if (!std::all_of(wants.begin(), wants.end(), PinIsValid)) {
    PROPERTY(status == -EINVAL, "a pin without a separate counter is refused");
    PROPERTY(counters == UntouchedCounters(), "a refusal writes nothing");
    return;
  }
  const bool fits = CounterSideMatching(wants).Complete();
  if (wants.size() <= kBruteForceWants)
    PROPERTY(FitsByBruteForce(wants) == fits, "both oracles agree");
  PROPERTY(status == (fits ? 0 : -ENOSPC), "an assignment is found exactly when there is one");
  if (!fits) {
    PROPERTY(counters == UntouchedCounters(), "a refusal writes nothing");
    return;
  }
  CheckAssignment(wants, counters);
  CheckStability(wants, counters, /*pinned=*/true);
  CheckStability(wants, counters, /*pinned=*/false);
}

void CheckPreferred(const refpmu_want& want) {
  if (want.preferred == 0) return;
  refpmu_want fresh = want;
  fresh.previous = REFPMU_COUNTER_NONE;
  fresh.pinned = false;
  s8 counter = kUntouched;
  PROPERTY(Assign(&fresh, 1, &counter) == 0, "one event with a counter fits");
  PROPERTY(Contains(want.preferred, counter), "an event alone gets a counter it prefers");
}

void CheckTooMany(const std::vector<refpmu_want>& wants, unsigned excess) {
  std::vector<refpmu_want> many(kMaxWants + excess, wants.front());
  std::vector<s8> counters(many.size(), kUntouched);
  PROPERTY(Assign(many.data(), many.size(), counters.data()) == -EINVAL,
           "more wants than counters can exist are refused as malformed");
  PROPERTY(std::all_of(counters.begin(), counters.end(), [](s8 c) { return c == kUntouched; }),
           "a refusal writes nothing");
}

// The following checks use the whole interface with few counters: a want takes one or two of them,
// and possibly a register, the branch selector, or an exclusive feature.
constexpr unsigned kFewCounters = 8;
constexpr unsigned kFewWants = 6;

using WantList = std::vector<refpmu_want>;
using Places = std::vector<refpmu_place>;

WantList AnyWantList(FuzzedDataProvider& data) {
  WantList wants(data.ConsumeIntegralInRange(0u, kFewWants));
  for (refpmu_want& want : wants) {
    const auto kind = data.ConsumeIntegral<u8>();
    want.wide = (kind & 3) == 3;
    want.allowed = data.ConsumeIntegral<u8>() & (want.wide ? 0x55 : 0xff);
    want.preferred = data.ConsumeIntegral<u8>();
    want.previous = data.ConsumeIntegralInRange<s8>(-1, kFewCounters);
    want.pinned = (kind >> 2 & 7) == 7;
    want.extra = data.ConsumeIntegralInRange<u8>(0, REFPMU_EXTRA_MAX - 1);
    want.previous_extra = data.ConsumeIntegralInRange<s8>(-1, 2);
    want.extra_value = data.ConsumeIntegralInRange<u8>(0, 2);
    want.branches = (kind >> 5 & 1) != 0;
    want.branch_select = data.ConsumeIntegralInRange<u8>(0, 1);
    want.exclusive = (kind >> 6) == 3 ? data.ConsumeIntegral<u8>() : 0;
  }
  return wants;
}

u64 Span(const refpmu_want& want, u64 bit) { return want.wide ? bit | bit << 1 : bit; }

unsigned RegistersOf(const refpmu_want& want) {
  return want.extra == REFPMU_EXTRA_OFFCORE ? 2 : want.extra == REFPMU_EXTRA_LOAD_LATENCY;
}

bool ListPinIsValid(const refpmu_want& want) {
  if (!want.pinned) return true;
  return PinIsValid(want) &&
         (want.extra == 0 || (want.previous_extra >= 0 &&
                              static_cast<unsigned>(want.previous_extra) < RegistersOf(want)));
}

// All assignments at the same time: the sets of counters that the first i wants may take.
bool CountersFit(const WantList& wants, const std::vector<u64>& options) {
  std::array<bool, 1u << kFewCounters> used_counters = {true};
  for (size_t i = 0; i < wants.size(); ++i) {
    std::array<bool, 1u << kFewCounters> next = {};
    for (u64 open = options[i]; open != 0; open &= open - 1) {
      const u64 span = Span(wants[i], open & -open);
      for (u64 used = 0; used < used_counters.size(); ++used) {
        if (used_counters[used] && !(used & span)) next[used | span] = true;
      }
    }
    used_counters = next;
  }
  return std::find(used_counters.begin(), used_counters.end(), true) != used_counters.end();
}

bool RegistersFit(const WantList& wants) {
  for (unsigned way = 0; way < 1u << wants.size(); ++way) {
    std::array<const refpmu_want*, 2 * REFPMU_EXTRA_MAX> register_users = {};
    bool fits = true;
    for (size_t i = 0; fits && i < wants.size(); ++i) {
      if (wants[i].extra == 0) continue;
      const unsigned reg = way >> i & 1;
      const refpmu_want*& user = register_users[2 * wants[i].extra + reg];
      fits = reg < RegistersOf(wants[i]) &&
             (!wants[i].pinned || static_cast<unsigned>(wants[i].previous_extra) == reg) &&
             (!user || user->extra_value == wants[i].extra_value);
      user = &wants[i];
    }
    if (fits) return true;
  }
  return false;
}

bool NoWantExcludesAnother(const WantList& wants) {
  for (size_t i = 0; i < wants.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (wants[i].exclusive & wants[k].exclusive) return false;
      if (wants[i].branches && wants[k].branches &&
          wants[i].branch_select != wants[k].branch_select)
        return false;
    }
  }
  return true;
}

void CheckPlaces(const WantList& wants, const Places& places) {
  u64 used_counters = 0;
  for (size_t i = 0; i < wants.size(); ++i) {
    const refpmu_want& want = wants[i];
    PROPERTY(Contains(want.allowed, places[i].counter), "a want has an allowed counter");
    const u64 span = Span(want, u64{1} << places[i].counter);
    PROPERTY((used_counters & span) == 0, "no counter is assigned twice, not even half of a pair");
    used_counters |= span;
    PROPERTY(!want.pinned || places[i].counter == want.previous, "a pinned want stays");
    if (want.extra == 0) {
      PROPERTY(places[i].extra == REFPMU_REGISTER_NONE, "a want that needs no register gets none");
      continue;
    }
    PROPERTY(places[i].extra >= 0 && static_cast<unsigned>(places[i].extra) < RegistersOf(want),
             "a want that needs a register gets an existing one");
    PROPERTY(!want.pinned || places[i].extra == want.previous_extra,
             "the register of a pinned want stays");
    for (size_t k = 0; k < i; ++k) {
      PROPERTY(wants[k].extra != want.extra || places[k].extra != places[i].extra ||
                   wants[k].extra_value == want.extra_value,
               "a register holds one value");
    }
  }
}

// Each want keeps its counter, in order, if the earlier wants keep theirs and the others still fit.
void CheckStays(const WantList& wants, const Places& places, std::vector<u64> options) {
  for (size_t i = 0; i < wants.size(); ++i) {
    if (wants[i].pinned || !Contains(wants[i].allowed, wants[i].previous)) continue;
    const u64 all = options[i];
    options[i] = u64{1} << wants[i].previous;
    if (places[i].counter == wants[i].previous) continue;
    PROPERTY(!CountersFit(wants, options), "a want moves only if it has to");
    options[i] = all;
  }
}

void CheckWantList(const WantList& wants) {
  const refpmu_place blank = {kUntouched, kUntouched};
  Places places(wants.size(), blank);
  const int status =
      refpmu_constraint_assign(wants.data(), static_cast<unsigned>(wants.size()), places.data());

  std::vector<u64> options;
  bool valid = true;
  for (const refpmu_want& want : wants) {
    valid = valid && ListPinIsValid(want);
    options.push_back(valid ? Options(want) : 0);
  }
  if (!valid) {
    PROPERTY(status == -EINVAL, "a pin without a separate place is refused");
  } else {
    const bool fits =
        CountersFit(wants, options) && RegistersFit(wants) && NoWantExcludesAnother(wants);
    PROPERTY(status == (fits ? 0 : -ENOSPC), "a fit is found exactly when there is one");
  }
  if (status != 0) {
    for (const refpmu_place& place : places) {
      PROPERTY(place.counter == kUntouched && place.extra == kUntouched,
               "a refusal writes nothing");
    }
    return;
  }
  CheckPlaces(wants, places);
  CheckStays(wants, places, options);
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  // Inputs whose last byte is at least 0xf0 test the whole interface.
  if (size != 0 && bytes[size - 1] >= 0xf0) {
    data.ConsumeIntegral<u8>();
    CheckWantList(AnyWantList(data));
    return 0;
  }
  const std::vector<refpmu_want> wants = Wants(data);
  CheckOne(wants);
  if (wants.empty()) return 0;
  CheckPreferred(wants.front());
  CheckTooMany(wants, data.ConsumeIntegralInRange(1u, 3u));
  return 0;
}
