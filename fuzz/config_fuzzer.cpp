// SPDX-License-Identifier: Apache-2.0
// core/config against a second reading of the event and format lists, written as tables.
#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

#include "property.h"

extern "C" {
#include "core/config.h"
#include "core/events.h"
#include "model/model.h"
}

namespace pmuconf::fuzz {
namespace {

constexpr u32 kHardware = 0;
constexpr u32 kRaw = 4;
constexpr u64 kAdvertised = 0xffff;  // format/event config:0-7, format/umask config:8-15
constexpr u64 kLongestPeriod = INT64_MAX;

enum class Place { kAny, kFirstTwo, kLast };

struct KnownEvent {
  u64 code;
  int generic;  // PERF_COUNT_HW_*, -1 for none
  int fixed;    // fixed counter, -1 for none
  Place place;
};

// What the driver's documentation promises, one line an event.
constexpr std::array<KnownEvent, 11> kEvents = {{
    {0x003c, 0, 1, Place::kAny},
    {0x00c0, 1, 0, Place::kAny},
    {0x4f2e, 2, -1, Place::kAny},
    {0x412e, 3, -1, Place::kAny},
    {0x00c4, 4, -1, Place::kAny},
    {0x00c5, 5, -1, Place::kAny},
    {0x013c, 9, 2, Place::kAny},
    {0x01d0, -1, -1, Place::kAny},
    {0x01d1, -1, -1, Place::kAny},
    {0x01d2, -1, -1, Place::kFirstTwo},
    {0x01d3, -1, -1, Place::kLast},
}};
constexpr u64 kGenericIds = 10;  // PERF_COUNT_HW_MAX

bool Owns(const refpmu_caps& caps, u32 type) { return type == caps.own_type || type == kRaw; }

const KnownEvent* ByCode(u64 code) {
  for (const KnownEvent& event : kEvents)
    if (event.code == code) return &event;
  return nullptr;
}

const KnownEvent* ByGeneric(u64 id) {
  for (const KnownEvent& event : kEvents)
    if (event.generic >= 0 && static_cast<u64>(event.generic) == id) return &event;
  return nullptr;
}

u64 Counters(const KnownEvent& event, const refpmu_caps& caps) {
  u64 set = 0;
  for (int i = 0; i < caps.general; ++i) {
    if (event.place == Place::kAny || (event.place == Place::kFirstTwo && i < 2) ||
        (event.place == Place::kLast && i == caps.general - 1))
      set |= u64{1} << i;
  }
  if (event.fixed >= 0 && event.fixed < caps.fixed) set |= u64{1} << (32 + event.fixed);
  return set;
}

// Every reason to refuse, each with its errno: which of several is told first is the driver's.
struct Reading {
  const KnownEvent* event = nullptr;
  std::set<int> refusals;
};

Reading Read(const refpmu_attr& attr, const refpmu_caps& caps) {
  Reading reading;
  std::set<int>& no = reading.refusals;
  const bool own = Owns(caps, attr.type);
  if (!own && attr.type != kHardware) {
    no.insert(-ENOENT);
    return reading;
  }
  reading.event = own ? ByCode(attr.config) : ByGeneric(attr.config);
  if (reading.event == nullptr) no.insert(own || attr.config >= kGenericIds ? -EINVAL : -ENOENT);
  if (attr.config1 != 0 || attr.config2 != 0 || attr.config3 != 0) no.insert(-EINVAL);
  const bool period = attr.sample_period != 0 && !attr.freq;
  if (period && (attr.sample_period < caps.min_period || attr.sample_period > kLongestPeriod))
    no.insert(-EINVAL);
  if (attr.precise_ip != 0 || (attr.sample_type & 0x800) != 0) no.insert(-EOPNOTSUPP);
  if (attr.exclude_idle || attr.exclude_host) no.insert(-EOPNOTSUPP);
  return reading;
}

refpmu_caps AnyCaps(FuzzedDataProvider& data) {
  refpmu_caps caps = {};
  // Types 0 to 5 are the ABI's own; a PMU gets a dynamic one, or RAW when it is the CPU's.
  caps.own_type = data.ConsumeBool() ? kRaw : data.ConsumeIntegralInRange(6u, 40u);
  caps.general = data.ConsumeIntegralInRange<u8>(1, 32);
  caps.fixed = data.ConsumeIntegralInRange<u8>(0, 3);
  caps.width = data.ConsumeIntegralInRange<u8>(16, 64);
  caps.min_period = data.ConsumeBool() ? 1 : data.ConsumeIntegralInRange<u64>(1, 1u << 20);
  return caps;
}

u64 AnyConfig(FuzzedDataProvider& data) {
  switch (data.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return kEvents[data.ConsumeIntegralInRange<size_t>(0, kEvents.size() - 1)].code;
    case 1:
      return data.ConsumeIntegralInRange<u64>(0, kGenericIds + 2);
    case 2:
      return data.ConsumeIntegral<u16>();
    default:
      return data.ConsumeIntegral<u64>();
  }
}

refpmu_attr AnyAttr(FuzzedDataProvider& data, const refpmu_caps& caps) {
  refpmu_attr attr = {};
  const u32 any_type = data.ConsumeIntegral<u32>();
  attr.type = data.PickValueInArray(
      {caps.own_type, caps.own_type, kHardware, kRaw, any_type % 48, any_type});
  attr.config = AnyConfig(data);
  if (data.ConsumeIntegralInRange(0, 15) == 15) attr.config1 = data.ConsumeIntegral<u64>();
  if (data.ConsumeIntegralInRange(0, 15) == 15) attr.config2 = data.ConsumeIntegral<u64>();
  if (data.ConsumeIntegralInRange(0, 15) == 15) attr.config3 = data.ConsumeIntegral<u64>();
  if (data.ConsumeBool()) {
    const unsigned bits = data.ConsumeIntegralInRange(1u, 64u);
    attr.sample_period = data.ConsumeIntegral<u64>() & refpmu_low_bits(bits);
  }
  attr.branch_sample_type = data.ConsumeIntegral<u8>();
  // Rare ones share a byte, so that most inputs get past them.
  const auto rare = data.ConsumeIntegral<u8>();
  attr.precise_ip = (rare & 0xf0) == 0xf0 ? rare & 3 : 0;
  attr.sample_type = (rare & 0xf4) == 0xe4 ? 0x800 : 0;
  attr.exclude_idle = (rare & 0xf4) == 0xd4;
  attr.exclude_host = (rare & 0xf4) == 0xc4;
  const auto common = data.ConsumeIntegral<u8>();
  attr.freq = (common & 1) != 0;
  attr.exclude_user = (common & 2) != 0;
  attr.exclude_kernel = (common & 4) != 0;
  attr.exclude_hv = (common & 8) != 0;
  attr.exclude_guest = (common & 16) != 0;
  return attr;
}

// Compared byte by byte: padding included, so a partial or stray write shows.
struct Slot {
  Slot() { std::memset(bytes, 0xa5, sizeof(bytes)); }
  refpmu_request* request() { return reinterpret_cast<refpmu_request*>(bytes); }
  bool Untouched() const { return std::memcmp(bytes, Slot().bytes, sizeof(bytes)) == 0; }
  alignas(refpmu_request) unsigned char bytes[sizeof(refpmu_request)];
};

bool Same(const refpmu_request& a, const refpmu_request& b) {
  return a.evtsel == b.evtsel && a.allowed == b.allowed && a.preferred == b.preferred &&
         a.period == b.period && a.sampling == b.sampling && a.freq == b.freq;
}

void CheckAccepted(const refpmu_attr& attr, const refpmu_caps& caps, const KnownEvent& event,
                   const refpmu_request& request) {
  HOLDS(request.allowed != 0, "an accepted event has a counter to go to");
  HOLDS(request.allowed == Counters(event, caps), "the counters are those that can count it");
  HOLDS(refpmu_events_counters(event.code, &caps) == request.allowed,
        "the counters of a code are told the same way twice");
  HOLDS((request.preferred & ~request.allowed) == 0, "a preferred counter is an allowed one");
  HOLDS((request.preferred >> 32) == (request.allowed >> 32) && (request.preferred << 32) == 0,
        "fixed counters are preferred, and nothing else");

  HOLDS((request.evtsel & (REFPMU_EVTSEL_EVENT | REFPMU_EVTSEL_UMASK)) == event.code,
        "the selector holds the event's code");
  HOLDS(((request.evtsel & REFPMU_EVTSEL_USR) != 0) == !attr.exclude_user,
        "user mode is counted unless it is excluded");
  HOLDS(((request.evtsel & REFPMU_EVTSEL_OS) != 0) == !attr.exclude_kernel,
        "kernel mode is counted unless it is excluded");
  HOLDS((request.evtsel & REFPMU_EVTSEL_INT) != 0, "the counter interrupts when it wraps");
  HOLDS((request.evtsel &
         ~(kAdvertised | REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS | REFPMU_EVTSEL_INT)) == 0,
        "no other bit is in the selector, the enable bit least of all");

  HOLDS(request.sampling == (attr.sample_period != 0), "a period or frequency makes it sample");
  HOLDS(request.freq == (request.sampling && attr.freq), "the mode is the one asked for");
  HOLDS(request.period >= 1 && request.period <= kLongestPeriod, "the first period can be used");
  if (request.freq) {
    HOLDS(request.period == 1, "a frequency starts with a period of one");
  } else if (request.sampling) {
    HOLDS(request.period == attr.sample_period, "the first period is the one asked for");
  } else {
    HOLDS(request.period == (u64{1} << (caps.width - 1)) - 1,
          "a counting event folds every half range");
  }
}

// Bits that mean nothing yet, one at a time, on an event that is otherwise accepted.
void CheckReservedBits(const refpmu_attr& accepted, const refpmu_caps& caps) {
  const std::array<u64 refpmu_attr::*, 4> fields = {&refpmu_attr::config, &refpmu_attr::config1,
                                                    &refpmu_attr::config2, &refpmu_attr::config3};
  for (const auto field : fields) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      if (field == &refpmu_attr::config && ((kAdvertised >> bit) & 1) != 0) continue;
      refpmu_attr attr = accepted;
      attr.*field ^= u64{1} << bit;
      Slot slot;
      HOLDS(refpmu_config_parse(&attr, &caps, slot.request()) == -EINVAL,
            "a bit outside the advertised formats is refused");
      HOLDS(slot.Untouched(), "a refusal writes nothing");
    }
  }
}

void CheckPeriod(u64 period, const refpmu_caps& caps) {
  const bool fine = period >= 1 && period >= caps.min_period && period <= kLongestPeriod;
  HOLDS(refpmu_config_check_period(period, &caps) == (fine ? 0 : -EINVAL),
        "a period is taken from the shortest to the longest");
}

void CheckOne(const refpmu_attr& attr, const refpmu_caps& caps) {
  Slot slot;
  const int status = refpmu_config_parse(&attr, &caps, slot.request());
  const Reading reading = Read(attr, caps);

  if (reading.refusals.empty()) {
    HOLDS(status == 0, "an event with nothing against it is accepted");
  } else {
    HOLDS(reading.refusals.count(status) == 1, "a refusal has an errno that something calls for");
    HOLDS(slot.Untouched(), "a refusal writes nothing");
  }
  Slot second;
  HOLDS(refpmu_config_parse(&attr, &caps, second.request()) == status,
        "the same request gets the same answer");
  if (status != 0) return;

  const refpmu_request request = *slot.request();
  HOLDS(Same(request, *second.request()), "the same request gets the same answer");
  CheckAccepted(attr, caps, *reading.event, request);
  if (Owns(caps, attr.type)) CheckReservedBits(attr, caps);
}

// The list that sysfs shows and the second reading tell of the same events.
void CheckEventList() {
  HOLDS(refpmu_events_count == kEvents.size(), "the event list has the documented events");
  for (unsigned i = 0; i < refpmu_events_count; ++i) {
    HOLDS(ByCode(refpmu_events[i].code) != nullptr, "a listed event is a documented one");
    HOLDS(refpmu_events[i].name != nullptr && refpmu_events[i].name[0] != '\0',
          "a listed event has a name");
  }
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  pmuconf::fuzz::CheckEventList();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  const refpmu_caps caps = AnyCaps(data);
  CheckOne(AnyAttr(data, caps), caps);
  CheckPeriod(data.ConsumeIntegral<u64>() >> data.ConsumeIntegralInRange(0, 63), caps);
  return 0;
}
