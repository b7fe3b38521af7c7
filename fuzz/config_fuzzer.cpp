// SPDX-License-Identifier: Apache-2.0
// core/config against an independent reading of the event and format lists, written as tables.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>

#include "oracle/refpmu_events.h"
#include "property.h"

extern "C" {
#include "core/config.h"
#include "core/events.h"
#include "model/model.h"
}

namespace pmuconf::fuzz {
namespace {

constexpr u32 kHardware = 0;
constexpr u32 kCache = 3;
constexpr u32 kRaw = 4;
constexpr u64 kEdge = kRefpmuEdge;
constexpr u64 kInv = kRefpmuInv;
constexpr u64 kCmask = kRefpmuCmask;
constexpr u64 kLongestPeriod = INT64_MAX;

constexpr u64 kWide = 0x01d4;

// PERF_SAMPLE_BRANCH_*
constexpr u64 kBranchUser = 0x1, kBranchKernel = 0x2, kBranchAny = 0x8, kBranchAnyCall = 0x10,
              kBranchAnyReturn = 0x20, kBranchIndCall = 0x40, kBranchAbort = 0x80,
              kBranchTransactions = 0x300, kBranchCond = 0x400, kBranchCallStack = 0x800,
              kBranchIndJump = 0x1000, kBranchCall = 0x2000, kBranchKinds = 0x3ff8,
              kBranchKnown = 0x7ffff;

// The filters that exclude the type of branches that a bit of LBR_SELECT drops.
struct BranchKind {
  u64 select;
  u64 filters;
};
constexpr std::array<BranchKind, 7> kBranchSelect = {{
    {0x004, kBranchAny | kBranchCond},
    {0x008, kBranchAny | kBranchAnyCall | kBranchCall | kBranchCallStack},
    {0x010, kBranchAny | kBranchAnyCall | kBranchIndCall | kBranchCallStack},
    {0x020, kBranchAny | kBranchAnyReturn | kBranchCallStack},
    {0x040, kBranchAny | kBranchIndJump},
    {0x080, kBranchAny},
    {0x100, kBranchAny | kBranchAnyCall | kBranchAnyReturn},
}};

// PERF_SAMPLE_*
constexpr u64 kSampleMemory = 0x14ac008, kSampleRegs = 0x40000, kSampleBranches = 0x800;

bool IsOwnType(const refpmu_caps& caps, u32 type) { return type == caps.own_type || type == kRaw; }

bool CanUse(RefpmuPlace place, int counter, const refpmu_caps& caps) {
  switch (place) {
    case RefpmuPlace::kFirstTwo:
      return counter < 2;
    case RefpmuPlace::kLast:
      return counter == caps.general - 1;
    case RefpmuPlace::kPairs:
      return counter % 2 == 0 && counter + 1 < caps.general;
    case RefpmuPlace::kRecords:
      return caps.records;
    default:
      return true;
  }
}

u64 Counters(u64 config, const refpmu_caps& caps) {
  const RefpmuEvent* const event = RefpmuByCode(config & kRefpmuCode);
  if (event == nullptr) return 0;
  u64 set = 0;
  for (int i = 0; i < caps.general; ++i)
    if (CanUse(event->place, i, caps)) set |= u64{1} << i;
  const bool plain = (config & ~kRefpmuCode) == 0;
  if (plain && event->fixed >= 0 && event->fixed < caps.fixed) set |= u64{1} << (32 + event->fixed);
  return set;
}

struct ExtraRegister {
  int kind;
  u64 valid;
};

ExtraRegister ExtraRegisterOf(u64 config) {
  switch (config & kRefpmuCode) {
    case 0x01b7:
    case 0x01bb:
      return {REFPMU_EXTRA_OFFCORE, 0x3fffff8fff};
    case 0x01cd:
      return {REFPMU_EXTRA_LOAD_LATENCY, 0xffff};
    default:
      return {REFPMU_EXTRA_NONE, 0};
  }
}

// Every reason to refuse, each with its errno. If there are several, the driver may return any of
// them.
struct Expected {
  RefpmuEncoding encoding = {};
  std::set<int> refusals;
};

void ReadEvent(const refpmu_attr& attr, const refpmu_caps& caps, Expected& expected) {
  std::set<int>& no = expected.refusals;
  const bool own = IsOwnType(caps, attr.type);
  if (attr.config2 != 0 || attr.config3 != 0 || (!own && attr.config1 != 0)) no.insert(-EINVAL);
  if (own) {
    expected.encoding = {attr.config, attr.config1};
    const bool malformed = (attr.config & ~kRefpmuConfig) != 0 ||
                           ((attr.config & kInv) != 0 && (attr.config & kCmask) == 0) ||
                           (attr.config1 & ~ExtraRegisterOf(attr.config).valid) != 0;
    if (malformed || Counters(attr.config, caps) == 0) no.insert(-EINVAL);
    return;
  }
  const bool is_id =
      attr.type == kHardware ? attr.config < kRefpmuGeneric.size() : RefpmuIsCache(attr.config);
  if (!is_id) {
    no.insert(-EINVAL);
    return;
  }
  const RefpmuEncoding* const encoding =
      attr.type == kHardware ? &kRefpmuGeneric.at(attr.config) : RefpmuByCache(attr.config);
  if (encoding == nullptr || Counters(encoding->config, caps) == 0)
    no.insert(-ENOENT);
  else
    expected.encoding = *encoding;
}

void ReadBranches(const refpmu_attr& attr, const refpmu_caps& caps, std::set<int>& no) {
  const u64 kinds = attr.branch_sample_type & kBranchKinds;
  if ((attr.sample_type & kSampleBranches) == 0) return;
  if (caps.lbr == 0 || (attr.branch_sample_type & ~kBranchKnown) != 0) no.insert(-EOPNOTSUPP);
  if (kinds == 0 || ((kinds & kBranchCallStack) != 0 && kinds != kBranchCallStack))
    no.insert(-EINVAL);
}

Expected Read(const refpmu_attr& attr, const refpmu_caps& caps) {
  Expected expected;
  std::set<int>& no = expected.refusals;
  if (!IsOwnType(caps, attr.type) && attr.type != kHardware && attr.type != kCache) {
    no.insert(-ENOENT);
    return expected;
  }
  ReadEvent(attr, caps, expected);
  const bool period = attr.sample_period != 0 && !attr.freq;
  if (period && (attr.sample_period < caps.min_period || attr.sample_period > kLongestPeriod))
    no.insert(-EINVAL);
  ReadBranches(attr, caps, no);
  if (attr.precise_ip != 0) {
    if (!caps.records || attr.precise_ip > 3) no.insert(-EOPNOTSUPP);
    if (attr.sample_period == 0) no.insert(-EINVAL);
  }
  if (attr.exclude_idle || attr.exclude_host) no.insert(-EOPNOTSUPP);
  return expected;
}

refpmu_caps AnyCaps(FuzzedDataProvider& data) {
  refpmu_caps caps = {};
  // Types 0 to 5 belong to the ABI. A PMU gets a dynamic type, or RAW if it is the CPU's.
  caps.own_type = data.ConsumeBool() ? kRaw : data.ConsumeIntegralInRange(6u, 40u);
  caps.general = data.ConsumeIntegralInRange<u8>(1, 32);
  caps.fixed = data.ConsumeIntegralInRange<u8>(0, 3);
  caps.width = data.ConsumeIntegralInRange<u8>(16, 64);
  caps.min_period = data.ConsumeBool() ? 1 : data.ConsumeIntegralInRange<u64>(1, 1u << 20);
  caps.lbr = data.PickValueInArray<u8>({0, 8, 16, 32});
  caps.records = data.ConsumeBool();
  return caps;
}

u64 AnyCacheId(FuzzedDataProvider& data) {
  const u64 cache = data.ConsumeIntegralInRange(0u, 7u);
  const u64 operation = data.ConsumeIntegralInRange(0u, 3u);
  return cache | operation << 8 | data.ConsumeIntegralInRange(0u, 2u) << 16;
}

u64 AnyConfig(FuzzedDataProvider& data) {
  const u64 code =
      kRefpmuEvents[data.ConsumeIntegralInRange<size_t>(0, kRefpmuEvents.size() - 1)].code;
  switch (data.ConsumeIntegralInRange(0, 5)) {
    case 0:
      return code;
    case 1:
      return code | (data.ConsumeIntegral<u32>() & (kEdge | kInv | kCmask));
    case 2:
      return data.ConsumeIntegralInRange<u64>(0, kRefpmuGeneric.size() + 2);
    case 3:
      return AnyCacheId(data);
    case 4:
      return data.ConsumeIntegral<u16>();
    default:
      return data.ConsumeIntegral<u64>();
  }
}

// Rare fields share a byte, so that most inputs do not set them.
void AddRare(FuzzedDataProvider& data, refpmu_attr& attr) {
  const auto rare = data.ConsumeIntegral<u8>();
  attr.exclude_idle = (rare & 0xf4) == 0xd4;
  attr.exclude_host = (rare & 0xf4) == 0xc4;
  if ((rare & 0xf0) == 0xf0) attr.config2 = data.ConsumeIntegral<u64>();
  if ((rare & 0xf0) == 0xe0) attr.config3 = data.ConsumeIntegral<u64>();
}

refpmu_attr AnyAttr(FuzzedDataProvider& data, const refpmu_caps& caps) {
  refpmu_attr attr = {};
  const u32 any_type = data.ConsumeIntegral<u32>();
  attr.type = data.PickValueInArray(
      {caps.own_type, caps.own_type, kHardware, kCache, kRaw, any_type % 48, any_type});
  attr.config = attr.type == kCache && data.ConsumeBool() ? AnyCacheId(data) : AnyConfig(data);
  if (ExtraRegisterOf(attr.config).valid != 0 || data.ConsumeIntegralInRange(0, 15) == 15)
    attr.config1 = data.ConsumeIntegral<u64>() & refpmu_low_bits(data.ConsumeIntegral<u8>() % 64);
  if (data.ConsumeBool()) {
    const unsigned bits = data.ConsumeIntegralInRange(1u, 64u);
    attr.sample_period = data.ConsumeIntegral<u64>() & refpmu_low_bits(bits);
  }
  attr.sample_type = data.ConsumeIntegralInRange<u64>(0, 0x1ffffff);
  if (data.ConsumeBool()) attr.sample_type &= ~kSampleBranches;
  attr.branch_sample_type = data.ConsumeIntegral<u16>();
  if (data.ConsumeIntegralInRange(0, 15) == 15)
    attr.branch_sample_type |= u64{1} << data.ConsumeIntegralInRange(14, 63);
  attr.precise_ip = data.PickValueInArray<u8>({0, 0, 0, 1, 2, 3, 4});
  AddRare(data, attr);
  const auto common = data.ConsumeIntegral<u8>();
  attr.freq = (common & 1) != 0;
  attr.exclude_user = (common & 2) != 0;
  attr.exclude_kernel = (common & 4) != 0;
  attr.exclude_hv = (common & 8) != 0;
  attr.exclude_guest = (common & 16) != 0;
  return attr;
}

// The whole structures are compared, including padding, so that a partial or stray write is
// detected. They are compared word by word, since ASan checks each call of memset or memcmp.
struct Slot {
  static constexpr u64 kFill = 0xa55aa55aa55aa55a;
  Slot() { std::fill(words.begin(), words.end(), kFill); }
  refpmu_request* request() { return reinterpret_cast<refpmu_request*>(words.data()); }
  bool Untouched() const {
    u64 changed = 0;
    for (const u64 word : words) changed |= word ^ kFill;
    return changed == 0;
  }
  static_assert(sizeof(refpmu_request) % sizeof(u64) == 0);
  alignas(refpmu_request) std::array<u64, sizeof(refpmu_request) / sizeof(u64)> words;
};

bool Same(const refpmu_request& a, const refpmu_request& b) {
  return a.evtsel == b.evtsel && a.allowed == b.allowed && a.preferred == b.preferred &&
         a.period == b.period && a.extra_value == b.extra_value && a.record == b.record &&
         a.branch_select == b.branch_select && a.branch_filter == b.branch_filter &&
         a.sampling == b.sampling && a.freq == b.freq && a.wide == b.wide && a.extra == b.extra &&
         a.precise == b.precise && a.branches == b.branches;
}

void CheckCounters(const refpmu_attr& attr, const refpmu_caps& caps, const RefpmuEncoding& encoding,
                   const refpmu_request& request) {
  PROPERTY(request.allowed != 0, "an accepted event can use at least one counter");
  PROPERTY(request.allowed == Counters(encoding.config, caps),
           "the counters are those that can count it");
  PROPERTY(refpmu_events_counters(encoding.config, &caps) == request.allowed,
           "both readings of a code have the same counters");
  PROPERTY((request.preferred >> 32) == (request.allowed >> 32) && (request.preferred << 32) == 0,
           "fixed counters are preferred, and nothing else");
  PROPERTY(request.wide == ((encoding.config & kRefpmuCode) == kWide),
           "the one wide event takes two counters");

  const u64 rings =
      (attr.exclude_user ? 0 : REFPMU_EVTSEL_USR) | (attr.exclude_kernel ? 0 : REFPMU_EVTSEL_OS);
  PROPERTY(request.evtsel == (encoding.config | rings | REFPMU_EVTSEL_INT),
           "the selector has the event, its rings and the interrupt, but not the enable bit");
  PROPERTY(request.extra == ExtraRegisterOf(encoding.config).kind &&
               request.extra_value == encoding.config1,
           "the extra register is the event's, with the requested value");
}

void CheckPeriodOf(const refpmu_attr& attr, const refpmu_caps& caps,
                   const refpmu_request& request) {
  PROPERTY(request.sampling == (attr.sample_period != 0), "a period or frequency makes it sample");
  PROPERTY(request.freq == (request.sampling && attr.freq), "the mode is the requested one");
  if (request.freq) {
    PROPERTY(request.period == caps.min_period, "a frequency starts with the shortest period");
  } else if (request.sampling) {
    PROPERTY(request.period == attr.sample_period, "the first period is the requested one");
  } else {
    PROPERTY(request.period == (u64{1} << (caps.width - 1)) - 1,
             "a counting event folds every half range");
  }
}

u64 BranchSelect(u64 filter) {
  constexpr u64 kNarrowing = kBranchKinds & ~(kBranchAbort | kBranchTransactions);
  const bool all = (filter & kBranchAbort) != 0 || (filter & kNarrowing) == 0;
  u64 select = (filter & kBranchCallStack) != 0 ? 0x200 : 0;
  if ((filter & kBranchKernel) == 0) select |= 0x1;
  if ((filter & kBranchUser) == 0) select |= 0x2;
  for (const BranchKind& kind : kBranchSelect)
    if (!all && (filter & kind.filters) == 0) select |= kind.select;
  return select;
}

void CheckSamples(const refpmu_attr& attr, const refpmu_caps& caps, const refpmu_request& request) {
  const bool branches = (attr.sample_type & kSampleBranches) != 0;
  PROPERTY(request.branches == branches, "branches are recorded if samples carry them");
  PROPERTY(request.branch_filter == (branches ? attr.branch_sample_type : 0),
           "the filter of branches is the requested one");
  PROPERTY(request.branch_select == (branches ? BranchSelect(attr.branch_sample_type) : 0),
           "the device drops exactly the types of branches that are not requested");

  u64 groups = 0;
  if (attr.precise_ip != 0) {
    if ((attr.sample_type & kSampleMemory) != 0) groups |= 0x1;
    if ((attr.sample_type & kSampleRegs) != 0) groups |= 0x2;
    if (branches) groups |= 0x8 | static_cast<u64>(caps.lbr - 1) << 24;
  }
  PROPERTY(request.precise == attr.precise_ip, "an event is as precise as requested");
  PROPERTY(request.record == groups, "a record has exactly the data that samples show");
}

// Bits without a meaning, one at a time, on an event that is otherwise accepted.
void CheckReservedBits(const refpmu_attr& accepted, const refpmu_caps& caps) {
  const std::array<std::pair<u64 refpmu_attr::*, u64>, 4> fields = {
      {{&refpmu_attr::config, kRefpmuConfig},
       {&refpmu_attr::config1, ExtraRegisterOf(accepted.config).valid},
       {&refpmu_attr::config2, 0},
       {&refpmu_attr::config3, 0}}};
  Slot slot;
  refpmu_attr attr = accepted;
  for (const auto& [field, advertised] : fields) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      if (((advertised >> bit) & 1) != 0) continue;
      attr.*field ^= u64{1} << bit;
      PROPERTY(refpmu_config_parse(&attr, &caps, slot.request()) == -EINVAL,
               "a bit outside the advertised formats is refused");
      PROPERTY(slot.Untouched(), "a refusal writes nothing");
      attr.*field = accepted.*field;
    }
  }
}

void CheckPeriod(u64 period, const refpmu_caps& caps) {
  const bool fine = period >= 1 && period >= caps.min_period && period <= kLongestPeriod;
  PROPERTY(refpmu_config_check_period(period, &caps) == (fine ? 0 : -EINVAL),
           "a period is taken from the shortest to the longest");
}

void CheckOne(const refpmu_attr& attr, const refpmu_caps& caps) {
  Slot slot;
  const int status = refpmu_config_parse(&attr, &caps, slot.request());
  const Expected expected = Read(attr, caps);

  if (expected.refusals.empty()) {
    PROPERTY(status == 0, "an event without a reason to refuse it is accepted");
  } else {
    PROPERTY(expected.refusals.count(status) == 1, "a refusal has the errno of a reason");
    PROPERTY(slot.Untouched(), "a refusal writes nothing");
  }
  Slot second;
  PROPERTY(refpmu_config_parse(&attr, &caps, second.request()) == status,
           "the same request gets the same answer");
  if (status != 0) return;

  const refpmu_request request = *slot.request();
  PROPERTY(Same(request, *second.request()), "the same request gets the same answer");
  CheckCounters(attr, caps, expected.encoding, request);
  CheckPeriodOf(attr, caps, request);
  CheckSamples(attr, caps, request);
  if (IsOwnType(caps, attr.type)) CheckReservedBits(attr, caps);
}

refpmu_caps FullDevice() {
  refpmu_caps caps = {};
  caps.own_type = 9;
  caps.general = 8;
  caps.fixed = 3;
  caps.width = 48;
  caps.min_period = 1;
  caps.lbr = 32;
  caps.records = true;
  return caps;
}

// Each event of the list in sysfs opens on a device with all features.
void CheckEventList() {
  const refpmu_caps caps = FullDevice();
  for (unsigned i = 0; i < refpmu_events_count; ++i) {
    const refpmu_event& event = refpmu_events[i];
    refpmu_attr attr = {};
    attr.type = caps.own_type;
    attr.config = event.encoding.config;
    attr.config1 = event.encoding.config1;
    PROPERTY(RefpmuByCode(attr.config & kRefpmuCode) != nullptr,
             "a listed event is a documented one");
    PROPERTY(event.name != nullptr && event.name[0] != '\0', "a listed event has a name");
    PROPERTY((event.scale == nullptr) == (event.unit == nullptr), "a scale belongs to a unit");
    Slot slot;
    PROPERTY(refpmu_config_parse(&attr, &caps, slot.request()) == 0,
             "a listed event can be opened");
  }
}

// All generic events and the numbers next to them. They are few, so the harness does not rely on
// random inputs.
void CheckGenericEvents() {
  const refpmu_caps caps = FullDevice();
  refpmu_attr attr = {};
  attr.type = kHardware;
  for (attr.config = 0; attr.config < kRefpmuGeneric.size() + 2; ++attr.config)
    CheckOne(attr, caps);
  refpmu_caps least = {};
  least.own_type = 9;
  least.general = 1;
  least.width = 16;
  least.min_period = 1;
  for (attr.config = 0; attr.config < kRefpmuGeneric.size(); ++attr.config) {
    Slot slot;
    PROPERTY(refpmu_config_parse(&attr, &least, slot.request()) == 0,
             "each device has the counters of a generic hardware event");
  }
  attr.type = kCache;
  for (u64 cell = 0; cell < 8 * 4 * 3; ++cell) {
    attr.config = cell % 8 | cell / 8 % 4 << 8 | cell / 32 << 16;
    CheckOne(attr, caps);
  }
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  pmuconf::fuzz::CheckEventList();
  pmuconf::fuzz::CheckGenericEvents();
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
