// SPDX-License-Identifier: Apache-2.0
// The attrs that event_init() must reject, and the errno for each.

#include <array>
#include <set>

#include "arch/arch.h"
#include "cases/common.h"
#include "cases/subject.h"
#include "harness/behaviour.h"
#include "rules/ERR.h"
#include "rules/INI.h"

namespace pmuconf {
namespace {

perf_event_attr AttrOf(std::uint32_t type, std::uint64_t config) {
  EventSpec spec;
  spec.type = type;
  spec.config = config;
  return MakeAttr(spec);
}

// The options with which an event without a PMU type reaches the target. If other CPUs have another
// core PMU, which could take the event, the event is bound to this CPU.
OpenOptions OnThisKindOfCpu() { return {.cpu = target().Has(Cap::kSomeCpus) ? CurrentCpu() : -1}; }

OpenResult TryOpenOfType(std::uint32_t type, std::uint64_t config) {
  EventSpec spec;
  spec.type = type;
  spec.config = config;
  return TryOpen(spec, OnThisKindOfCpu());
}

// The types of all PMUs in sysfs.
std::set<std::uint32_t> KnownTypes() {
  std::set<std::uint32_t> types;
  for (const std::string& device : ListFolder(kEventSource)) {
    const auto text = ReadFile(std::string(kEventSource) + "/" + device + "/type");
    if (text) types.insert(static_cast<std::uint32_t>(std::stoul(*text)));
  }
  return types;
}

// The bits of config (0), config1 and so on that sysfs format/ declares.
std::uint64_t DeclaredBits(int config) {
  std::uint64_t bits = 0;
  for (const std::string& name : ListFolder(DeviceFile("format"))) {
    const auto text = ReadFile(DeviceFile("format/" + name));
    const auto field = text ? ParseFormat(*text) : std::nullopt;
    if (!field || field->config != config) continue;
    bits |= *field->Encode(~0ULL >> (64 - field->width()));
  }
  return bits;
}

CONFORMANCE_CASE(Init, UnownedTypeIsRefused, .rules = {rule::INI_001, rule::INI_003},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  const refpmu_stats before = port().Stats();
  const std::set<std::uint32_t> known = KnownTypes();
  const std::uint64_t code = target().AnyEvent().config;
  for (const std::uint32_t type : {*known.rbegin() + 1, *known.rbegin() + 1'000, 0x7fffffffu}) {
    EXPECT_THAT(TryOpen(AttrOf(type, code)), FailsWith(ENOENT)) << rule::INI_001 << type;
    EXPECT_THAT(TryOpen(AttrOf(type, ~0ULL)), FailsWith(ENOENT)) << rule::INI_001 << type;
  }
  const refpmu_stats after = port().Stats();
  EXPECT_EQ(after.live_events, before.live_events) << rule::INI_003;
  EXPECT_EQ(after.calls[REFPMU_CALL_DESTROY], before.calls[REFPMU_CALL_DESTROY]) << rule::INI_003;
}

CONFORMANCE_CASE(Init, ForeignEventsReachTheirPmu,
                 .rules = {rule::INI_002, rule::INI_003, rule::INI_016},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  const refpmu_stats before = port().Stats();
  for (const perf_sw_ids id : {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_CPU_CLOCK,
                               PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_DUMMY}) {
    EXPECT_THAT(TryOpen(Software(id)), Succeeds()) << rule::INI_003;
  }
  for (const std::uint64_t id : std::initializer_list<std::uint64_t>{
           PERF_COUNT_SW_MAX, std::uint64_t{1} << 31, std::uint64_t{1} << 32, ~0ULL}) {
    EXPECT_THAT(TryOpen(AttrOf(PERF_TYPE_SOFTWARE, id)), FailsWith(ENOENT)) << rule::INI_016;
  }
  EXPECT_EQ(port().Stats().live_events, before.live_events) << rule::INI_002;

  const Event own = Open(target().AnyEvent());
  EXPECT_EQ(port().Stats().live_events, before.live_events + 1) << rule::INI_002;
}

CONFORMANCE_CASE(Init, DynamicTypesOfOthersDoNotReachThisPmu, .rules = {rule::INI_002},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  const std::uint64_t config = target().AnyEvent().config;
  for (const std::uint32_t type : KnownTypes()) {
    if (type < PERF_TYPE_MAX || type == target().type()) continue;
    const std::uint64_t before = port().Stats().calls[REFPMU_CALL_EVENT_INIT];
    const OpenResult result = TryOpen(AttrOf(type, config));
    EXPECT_EQ(port().Stats().calls[REFPMU_CALL_EVENT_INIT], before) << "type " << type;
  }
}

// The generic event `spec`, with the PMU of that type selected in its config.
EventSpec Named(EventSpec spec, std::uint32_t type) {
  spec.config |= std::uint64_t{type} << PERF_PMU_TYPE_SHIFT;
  return spec;
}

// The bits of config for the code of an event, without the bits of its filters.
std::uint64_t CodeBits() {
  std::uint64_t bits = 0;
  for (const std::string name : {"event", "umask"}) {
    const auto text = ReadFile(DeviceFile("format/" + name));
    const auto field = text ? ParseFormat(*text) : std::nullopt;
    if (field) bits |= *field->Encode((std::uint64_t{1} << field->width()) - 1);
  }
  return bits;
}

// A PMU behind a port page may have events that its target file does not claim.
CONFORMANCE_CASE(Init, CodesWithoutACounterAreRefused, .rules = {rule::INI_004},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kRegisters}) {
  std::set<std::uint64_t> known;
  for (const std::uint64_t code : target().Codes()) known.insert(code);
  const std::uint64_t declared = CodeBits();
  std::set<std::uint64_t> others = {0, declared};
  for (std::uint64_t code = 0; code < 0x10000; code += 0x101) others.insert(code & declared);
  for (const std::uint64_t code : known) {
    for (int bit = 0; bit < 64; ++bit) others.insert(code ^ (declared & (1ULL << bit)));
  }
  for (const std::uint64_t code : others) {
    if (known.contains(code)) continue;
    EXPECT_THAT(TryOpen(AttrOf(target().type(), code)), FailsWithOneOf(EINVAL, ENOENT))
        << "config " << code;
  }
  for (const std::uint64_t code : known) {
    EXPECT_THAT(TryOpen(AttrOf(target().type(), code)), Succeeds()) << "config " << code;
  }
}

CONFORMANCE_CASE(Init, UndeclaredBitsAreRefusedOneByOne, .rules = {rule::INI_011, rule::INI_004},
                 .needs = {Cap::kCounters}) {
  const std::array<std::uint64_t, 3> declared = {DeclaredBits(0), DeclaredBits(1), DeclaredBits(2)};
  std::vector<EventSpec> specs = {target().AnyEvent()};
  const EventSpec first = target().Events().front();  // may be one of a fixed counter
  if (first.name != specs.front().name) specs.push_back(first);
  for (const EventSpec& spec : specs) {
    for (int bit = 0; bit < 64; ++bit) {
      const std::uint64_t mask = std::uint64_t{1} << bit;
      for (std::size_t field = 0; field < declared.size(); ++field) {
        if ((declared[field] & mask) != 0) continue;
        perf_event_attr attr = MakeAttr(spec);
        if (field == 0) attr.config ^= mask;
        if (field == 1) attr.config1 ^= mask;
        if (field == 2) attr.config2 ^= mask;
        EXPECT_THAT(TryOpen(attr), FailsWith(EINVAL))
            << rule::INI_011 << " config" << field << ":" << bit;
      }
    }
  }
}

CONFORMANCE_CASE(Init, UndeclaredBitsOfConfig3AreRefusedOneByOne, .rules = {rule::INI_011},
                 .needs = {Cap::kCounters}) {
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    if ((DeclaredBits(3) & mask) != 0) continue;
    perf_event_attr attr = MakeAttr(target().AnyEvent());
    attr.size = PERF_ATTR_SIZE_VER8;
    attr.config3 = mask;
    // A kernel without this field returns E2BIG for the size of the attr.
    EXPECT_THAT(TryOpen(attr), FailsWithOneOf(EINVAL, E2BIG)) << " config3:" << bit;
  }
}

CONFORMANCE_CASE(Init, GenericEventsMatchClaims, .rules = {rule::INI_005, rule::INI_006},
                 .needs = {Cap::kStimulus, Cap::kGenericEvents}) {
  std::set<std::uint64_t> claimed;
  for (const EventSpec& spec : target().Events({.generic = true, .inexact = true})) {
    claimed.insert(*spec.generic);
    const OpenResult opened = TryOpen(AsGeneric(spec), OnThisKindOfCpu());
    EXPECT_THAT(opened, Succeeds()) << rule::INI_006 << " claimed: " << spec.name;
    if (!opened.ok() || spec.stimulus == StimulusKind::kNone) continue;
    opened.event.Enable();
    Pulse(spec, 31);
    EXPECT_THAT(opened.event.Read(), Counted(spec, 31)) << rule::INI_006;
  }
  for (std::uint64_t id = 0; id < PERF_COUNT_HW_MAX; ++id) {
    if (claimed.contains(id)) continue;
    EXPECT_THAT(TryOpenOfType(PERF_TYPE_HARDWARE, id), FailsWith(ENOENT)) << rule::INI_006 << id;
  }
  std::set<std::uint64_t> beyond = {PERF_COUNT_HW_MAX};
  for (int bit = 4; bit < 32; ++bit) {  // the low bits of each one are a claimed id
    for (const std::uint64_t id : claimed) beyond.insert(id | std::uint64_t{1} << bit);
  }
  for (const std::uint64_t id : beyond) {
    EXPECT_THAT(TryOpenOfType(PERF_TYPE_HARDWARE, id), FailsWithOneOf(EINVAL, ENOENT))
        << rule::INI_005 << id;
  }
}

CONFORMANCE_CASE(Init, GenericEventReachesTheNamedPmuAlone, .rules = {rule::INI_008, rule::INI_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kGenericEvents}) {
  const std::set<std::uint32_t> kinds = OtherCoreTypes();
  for (const EventSpec& spec : target().Events({.generic = true})) {
    const OpenResult opened = TryOpen(Named(AsGeneric(spec), target().type()));
    EXPECT_THAT(opened, Succeeds()) << rule::INI_008 << spec.name;
    if (!opened.ok()) continue;
    opened.event.Enable();
    Pulse(spec, 12);
    EXPECT_THAT(opened.event.Read(), Counted(spec, 12)) << rule::INI_008;
    for (const std::uint32_t type : KnownTypes()) {
      if (type < PERF_TYPE_MAX || type == target().type()) continue;
      const std::uint64_t before = port().Stats().live_events;
      const OpenResult foreign = TryOpen(Named(AsGeneric(spec), type));
      EXPECT_EQ(port().Stats().live_events, before) << rule::INI_008 << type;
      if (kinds.contains(type)) continue;
      EXPECT_THAT(foreign, FailsWith(ENOENT)) << rule::INI_009 << type;
    }
  }
}

CONFORMANCE_CASE(Init, GenericEventOfUnknownPmuCounts, .rules = {rule::INI_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kGenericEvents}) {
  const std::uint32_t unowned = *KnownTypes().rbegin() + 1;
  for (const EventSpec& spec : target().Events({.generic = true})) {
    const std::uint64_t before = port().Stats().live_events;
    const OpenResult opened = TryOpen(Named(AsGeneric(spec), unowned), OnThisKindOfCpu());
    ASSERT_THAT(opened, Succeeds()) << spec.name;
    ASSERT_EQ(port().Stats().live_events, before + 1) << spec.name;
    opened.event.Enable();
    Pulse(spec, 14);
    EXPECT_THAT(opened.event.Read(), Counted(spec, 14));
  }
  EventSpec unknown;
  unknown.type = PERF_TYPE_HARDWARE;
  unknown.config = PERF_COUNT_HW_MAX;
  EXPECT_THAT(TryOpen(Named(unknown, unowned), OnThisKindOfCpu()), FailsWithOneOf(ENOENT, EINVAL));
}

CONFORMANCE_CASE(Init, ExtendedRegistersAreRefused, .rules = {rule::INI_014},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  if (reg::ExtendedRegisters() == 0) SkipWithout("registers beyond the general ones");
  for (const std::uint64_t type : {PERF_SAMPLE_REGS_USER, PERF_SAMPLE_REGS_INTR}) {
    for (int number = 0; number < 64; ++number) {
      if ((reg::ExtendedRegisters() & reg::Bit(number)) == 0) continue;
      const refpmu_stats before = port().Stats();
      const auto edit = [number](perf_event_attr& attr) {
        attr.sample_regs_user = attr.sample_regs_intr = reg::Bit(number);
      };
      EXPECT_THAT(TryOpen(target().AnyEvent(), {.sample_type = type, .edit = edit}),
                  FailsWith(EOPNOTSUPP))
          << number;
      const refpmu_stats after = port().Stats();
      EXPECT_EQ(after.calls[REFPMU_CALL_DESTROY], before.calls[REFPMU_CALL_DESTROY] + 1) << number;
      EXPECT_EQ(after.live_events, before.live_events) << number;
    }
  }
}

CONFORMANCE_CASE(Init, RawEventsReachTheCorePmu, .rules = {rule::INI_004},
                 .needs = {Cap::kStimulus, Cap::kGenericEvents}) {
  for (const EventSpec& spec : target().Events({})) {
    EventSpec raw = spec;
    raw.type = PERF_TYPE_RAW;
    const OpenResult opened = TryOpen(raw, OnThisKindOfCpu());
    EXPECT_THAT(opened, Succeeds()) << spec.name;
    if (!opened.ok()) continue;
    opened.event.Enable();
    Pulse(spec, 23);
    EXPECT_THAT(opened.event.Read(), Counted(spec, 23)) << spec.name;
  }
}

CONFORMANCE_CASE(Init, CacheEventsMatchClaims, .rules = {rule::INI_007},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  std::set<std::uint64_t> claimed;
  for (const EventSpec& spec : target().CacheEvents()) claimed.insert(spec.config);
  for (std::uint64_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX + 2u; ++cache) {
    for (std::uint64_t op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX + 2u; ++op) {
      for (std::uint64_t result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX + 2u; ++result) {
        const std::uint64_t config = cache | op << 8 | result << 16;
        const bool legal = cache < PERF_COUNT_HW_CACHE_MAX && op < PERF_COUNT_HW_CACHE_OP_MAX &&
                           result < PERF_COUNT_HW_CACHE_RESULT_MAX;
        const int want = claimed.contains(config) ? 0 : ENOENT;
        const std::uint64_t before = port().Stats().live_events;
        const OpenResult plain = TryOpenOfType(PERF_TYPE_HW_CACHE, config);
        EXPECT_EQ(port().Stats().live_events, before + (want == 0 ? 1 : 0)) << "config " << config;
        // If the target claims no cache events, another PMU may accept this one.
        if (!claimed.empty() || !plain.ok()) {
          EXPECT_THAT(plain, FailsWithOneOf(want, legal ? want : EINVAL)) << "config " << config;
        }
        EventSpec spec;
        spec.type = PERF_TYPE_HW_CACHE;
        spec.config = config;
        EXPECT_THAT(TryOpen(Named(spec, target().type())),
                    FailsWithOneOf(want, legal ? want : EINVAL))
            << "config " << config;
      }
    }
  }
}

CONFORMANCE_CASE(Init, CacheEventCountsNamedOperation, .rules = {rule::INI_029, rule::INI_008},
                 .needs = {Cap::kStimulus, Cap::kCacheEvents, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().CacheEvents();
  OpenOptions plain = OnThisKindOfCpu();
  plain.disabled = false;
  for (const EventSpec& spec : specs) {
    ASSERT_THAT(TryOpen(spec, plain), Succeeds()) << rule::INI_029 << spec.name;
    const Event event = Open(spec, plain);
    const Event extended = Open(Named(spec, target().type()), {.disabled = false});
    std::uint64_t want = 0;
    std::uint64_t n = 17;
    for (const EventSpec& other : specs) {
      ++n;  // each event has a number of its own, so that no other one can pass for it
      // Events with the same code and response count the same pulses. Those with the same code and
      // another response are left out, because they may count these pulses, too.
      const bool same = other.code == spec.code && other.response == spec.response;
      if (!same && other.code == spec.code) continue;
      Pulse(other, n);
      want += same ? n : 0;
    }
    EXPECT_THAT(event.Read(), Counted(spec, want)) << rule::INI_029;
    EXPECT_THAT(extended.Read(), Counted(spec, want)) << rule::INI_008 << spec.name;
  }
}

// An access is a hit or a miss. So each response of a miss is also a response of an access.
CONFORMANCE_CASE(Init, CacheMissesAreAccesses, .rules = {rule::INI_029},
                 .needs = {Cap::kStimulus, Cap::kCacheEvents, Cap::kOffCore, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().CacheEvents();
  for (const EventSpec& access : specs) {
    for (const EventSpec& miss : specs) {
      if (access.response == 0 || miss.config != access.config + (1 << 16)) continue;
      const Event accesses = Open(Named(access, target().type()), {.disabled = false});
      const Event misses = Open(Named(miss, target().type()), {.disabled = false});
      Pulse(access, 50);
      Pulse(miss, 8);
      EXPECT_THAT(accesses.Read(), Counted(access, 58)) << access.name;
      EXPECT_THAT(misses.Read(), Counted(miss, 8)) << miss.name;
    }
  }
}

CONFORMANCE_CASE(Init, BranchStackIsRefusedWithoutBranches, .rules = {rule::INI_015, rule::INI_026},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const std::uint64_t before = port().Stats().calls[REFPMU_CALL_DESTROY];
  const bool there = target().branches() > 0;
  std::uint64_t destroyed = 0;
  for (const EventSpec& spec : target().Events()) {
    OpenOptions options = {.sample_period = 1'000, .sample_type = PERF_SAMPLE_BRANCH_STACK};
    options.edit = [](perf_event_attr& attr) { attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY; };
    EXPECT_THAT(TryOpen(spec, options), FailsWith(there ? 0 : EOPNOTSUPP)) << rule::INI_015;
    destroyed += there ? 1 : 0;
  }
  EXPECT_EQ(port().Stats().calls[REFPMU_CALL_DESTROY] - before, destroyed) << rule::INI_026;
}

CONFORMANCE_CASE(Init, PrecisionBeyondThePmuIsRefused, .rules = {rule::INI_028},
                 .needs = {Cap::kCounters, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  const bool fixed = At<dim::Counter>() == dim::Counter::kFixed;
  const EventSpec spec = fixed ? target().Events({.fixed = true}).front() : target().AnyEvent();
  Event leader;
  if (At<dim::Member>() == dim::Member::kLast) {
    leader = Open(target().AnyEvent(), AtScope(*this));
  }
  for (std::uint64_t precise = 1; precise <= 3; ++precise) {
    const bool beyond = precise > target().precise();
    OpenOptions options = AtScope(*this, {.sample_period = 1'000});
    if (leader.is_open()) options.group_fd = leader.fd();
    options.edit = [precise](perf_event_attr& attr) { attr.precise_ip = precise & 3; };
    EXPECT_THAT(TryOpen(spec, options), FailsWith(beyond ? EOPNOTSUPP : 0));
    options.sample_period = 0;
    const OpenResult counting = TryOpen(spec, options);
    EXPECT_TRUE(counting.error == EINVAL || (beyond && counting.error == EOPNOTSUPP))
        << counting.error;
  }
}

// Sets exclude bits that the PMUs do not support.
void ExcludeHostAndIdle(perf_event_attr& attr) {
  attr.exclude_host = 1;
  attr.exclude_idle = 1;
}

// The kernel offers the event to each PMU of the machine, so each one is verified, not only the
// target.
CONFORMANCE_CASE(Init, ForeignTypeIsRefusedFirst, .rules = {rule::ERR_032},
                 .needs = {Cap::kCounters}) {
  for (const std::uint64_t bits :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    perf_event_attr foreign = AttrOf(*KnownTypes().rbegin() + 1, ~0ULL);
    foreign.config1 = foreign.config2 = bits;
    ExcludeHostAndIdle(foreign);
    EXPECT_THAT(TryOpen(foreign), FailsWith(ENOENT)) << bits;
    foreign.sample_period = 1'000;
    foreign.precise_ip = 3;
    EXPECT_THAT(TryOpen(foreign), FailsWith(ENOENT)) << "precise: " << bits;
    foreign.sample_type = PERF_SAMPLE_BRANCH_STACK;
    foreign.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
    EXPECT_THAT(TryOpen(foreign), FailsWith(ENOENT)) << "with a branch stack: " << bits;
  }
}

CONFORMANCE_CASE(Init, MalformedAttrReturnsEinvalFirst, .rules = {rule::ERR_032},
                 .needs = {Cap::kStimulus, Cap::kCounters}) {
  EventSpec others_field = target().AnyEvent();
  others_field.config1 |= 1ULL << 63;
  perf_event_attr of_others = MakeAttr(others_field);
  ExcludeHostAndIdle(of_others);
  EXPECT_THAT(TryOpen(of_others), FailsWith(EINVAL));
  for (const std::uint64_t stray : {1ULL << 16, 1ULL << 22, 1ULL << 63}) {
    perf_event_attr malformed = MakeAttr(target().AnyEvent());
    if ((DeclaredBits(0) & stray) != 0) continue;
    malformed.config |= stray;
    ExcludeHostAndIdle(malformed);
    EXPECT_THAT(TryOpen(malformed), FailsWith(EINVAL));
  }
  for (std::uint64_t id : {std::uint64_t{PERF_COUNT_HW_MAX}, std::uint64_t{0xffff'ffff}}) {
    perf_event_attr malformed = AttrOf(PERF_TYPE_HARDWARE, id);
    ExcludeHostAndIdle(malformed);
    EXPECT_THAT(TryOpen(malformed), FailsWithOneOf(EINVAL, ENOENT));
  }
}

CONFORMANCE_CASE(Init, PeriodBelowTheShortestIsRefused, .rules = {rule::INI_035},
                 .needs = {Cap::kSampling}) {
  const std::uint64_t shortest = target().min_period();
  for (const EventSpec& spec : target().Events()) {
    EXPECT_THAT(TryOpen(spec, {.sample_period = shortest}), Succeeds());
    EXPECT_THAT(TryOpen(spec, {.sample_period = shortest - 1}), FailsWith(EINVAL));
    EXPECT_THAT(TryOpen(spec, {.sample_period = 1}), FailsWith(EINVAL));
    EXPECT_THAT(TryOpen(spec), Succeeds());
    EXPECT_THAT(TryOpen(spec, {.sample_freq = 1}), Succeeds());
  }
}

}  // namespace
}  // namespace pmuconf
