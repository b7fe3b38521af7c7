// SPDX-License-Identifier: Apache-2.0
// Events with more than a code: filters of cycles, shared registers, and events on two counters.
#include <initializer_list>
#include <tuple>
#include <utility>

#include "cases/common.h"
#include "rules/DRC.h"
#include "rules/INI.h"

namespace pmuconf {
namespace {

// `spec` with `terms` in place of the same fields of its config, as sysfs format/ encodes them.
EventSpec WithTerms(EventSpec spec, const Terms& terms) {
  for (const auto& [name, value] : terms) {
    const auto text = ReadFile(DeviceFile("format/" + name));
    const auto field = text ? ParseFormat(*text) : std::nullopt;
    if (!field || field->config > 1) throw Broken("format/" + name + " is no field of config[1]");
    const auto all = field->Encode(field->width() == 64 ? ~0ULL : (1ULL << field->width()) - 1);
    const auto encoded = field->Encode(value);
    if (!encoded) throw Broken("format/" + name + " has no room for " + std::to_string(value));
    std::uint64_t& word = field->config == 0 ? spec.config : spec.config1;
    word = (word & ~*all) | *encoded;
    spec.name += "," + name + "=" + std::to_string(value);
  }
  return spec;
}

// The count of one pulse: a cycle with `occurrences` of the event, then an idle cycle.
std::uint64_t PulseCount(unsigned occurrences, std::uint64_t cmask, bool inv, bool edge) {
  if (edge) return occurrences >= std::max<std::uint64_t>(cmask, 1);
  if (cmask == 0) return occurrences;
  return inv ? 1 + (occurrences < cmask) : occurrences >= cmask;
}

CONFORMANCE_CASE(Init, CmaskInvAndEdgeFilterCycles, .rules = {rule::INI_030, rule::DRC_107},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kFilters}) {
  const EventSpec plain = target().AnyEvent();
  for (const std::uint64_t cmask : {0, 1, 2, 3, 15, 16, 255}) {
    for (const auto& [inv, edge] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}}) {
      if (inv == 1 && cmask == 0) continue;
      const EventSpec spec = WithTerms(plain, {{"cmask", cmask}, {"inv", inv}, {"edge", edge}});
      const Event event = Open(spec, {.disabled = false});
      std::uint64_t want = 0;
      for (const unsigned occurrences : {1u, 2u, 3u, 14u, 16u, 63u}) {
        target().Stimulate(spec, 100 + occurrences, {.per_pulse = occurrences});
        want += (100 + occurrences) * PulseCount(occurrences, cmask, inv != 0, edge != 0);
        ASSERT_THAT(event.Read(), Counted(spec, want))
            << rule::INI_030 << occurrences << " occurrences in a cycle";
      }
    }
  }
}

CONFORMANCE_CASE(Init, CmaskInvAndEdgeFilterTicks, .rules = {rule::INI_030},
                 .needs = {Cap::kManualClock, Cap::kFilters, Cap::kFixedCounters}) {
  for (const EventSpec& plain :
       target().Events({.stimulus = StimulusKind::kClock, .fixed = true})) {
    // The event happens in one of each `ticks` ticks of the clock.
    const std::uint64_t ticks = plain.ticks;
    const std::uint64_t edges = ticks > 1 ? 1 : 0;
    for (const auto& [cmask, inv, edge, want] :
         std::initializer_list<std::tuple<int, int, int, std::uint64_t>>{{1, 0, 0, 1},
                                                                         {2, 0, 0, 0},
                                                                         {1, 1, 0, ticks - 1},
                                                                         {2, 1, 0, ticks},
                                                                         {0, 0, 1, edges},
                                                                         {1, 0, 1, edges},
                                                                         {1, 1, 1, edges}}) {
      const auto value = [](int n) { return static_cast<std::uint64_t>(n); };
      const EventSpec spec =
          WithTerms(plain, {{"cmask", value(cmask)}, {"inv", value(inv)}, {"edge", value(edge)}});
      const Event event = Open(spec, {.disabled = false});
      target().Stimulate(spec, 1'000);
      EXPECT_THAT(event.Read(), Counted(spec, 1'000 * want)) << ticks;
    }
  }
}

CONFORMANCE_CASE(Init, FilteredEventsSample, .rules = {rule::INI_030},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kFilters, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = WithTerms(target().AnyEvent(), {{"cmask", 4}, {"edge", 1}});
  const Event event = Open(spec, {.sample_period = 7, .disabled = false});
  const std::uint64_t before = port().Stats().overflows;
  target().Stimulate(spec, 100, {.per_pulse = 3});
  EXPECT_EQ(port().Stats().overflows, before);
  target().Stimulate(spec, 100, {.per_pulse = 4});
  EXPECT_EQ(port().Stats().overflows - before, 100u / 7);
  EXPECT_THAT(event.Read(), Counted(spec, 100));
}

// The first event with an off-core response.
EventSpec OffCoreEvent() {
  for (const EventSpec& spec : target().Events()) {
    if (spec.response != 0) return spec;
  }
  throw Broken("no event with a response");
}

// The same event, which counts only the responses in `allowed`.
EventSpec OfResponses(std::uint64_t allowed) {
  EventSpec spec = OffCoreEvent();
  spec.config1 = allowed;
  spec.name += " of " + std::to_string(allowed);
  return spec;
}

CONFORMANCE_CASE(Init, OffCoreEventCountsMatchingResponses, .rules = {rule::INI_031},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kOffCore, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::uint64_t both = OffCoreEvent().response;
  const std::uint64_t one = both & (both - 1);
  const std::vector<EventSpec> specs = {OfResponses(both), OfResponses(one), OfResponses(both),
                                        OfResponses(one)};
  ASSERT_NE(one, 0u) << "the target's response has only one bit";
  Group group(specs);
  group.Enable();
  target().Stimulate(specs[0], 30, {.response = both});
  target().Stimulate(specs[0], 7, {.response = one});
  const GroupReading reading = group.Read();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], specs[i].config1 == both ? 37 : 7));
  }
}

CONFORMANCE_CASE(Init, SharedRegisterConflictIsRefused, .rules = {rule::INI_032},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kOffCore, Cap::kGroups}) {
  const std::uint64_t both = OffCoreEvent().response;
  const std::vector<EventSpec> three = {OfResponses(both), OfResponses(both & (both - 1)),
                                        OfResponses(both & ~(both & (both - 1)))};
  EXPECT_THAT(TryOpenGroup({three[0], three[1]}), Succeeds());
  EXPECT_THAT(TryOpenGroup({three[1], three[2]}), Succeeds());
  EXPECT_THAT(TryOpenGroup(three), FailsWith(EINVAL));

  // One after the other, the events get the registers that they need.
  for (const EventSpec& spec : three) {
    const Event event = Open(spec, {.disabled = false});
    target().Stimulate(spec, 9, {.response = spec.config1});
    EXPECT_THAT(event.Read(), Counted(spec, 9));
  }
  // At the same time, the events rotate. No event may count a response of another one.
  const std::vector<Event> events = OpenEach(three, {.disabled = false});
  for (int round = 0; round < 50; ++round) {
    target().Stimulate(three[1], 10, {.response = three[1].config1});
  }
  EXPECT_THAT(events[2].Read(), Counted(three[2], 0));
  EXPECT_LE(events[1].Read().value, 500u);
}

CONFORMANCE_CASE(Init, SharedRegisterOutlivesOneUser, .rules = {rule::INI_032},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kOffCore, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = OffCoreEvent();
  const Event stays = Open(spec, {.disabled = false});
  {
    const Event goes = Open(spec, {.disabled = false});
    target().Stimulate(spec, 20, {.response = spec.response});
    EXPECT_THAT(goes.Read(), Counted(spec, 20));
  }
  target().Stimulate(spec, 3, {.response = spec.response});
  EXPECT_THAT(stays.Read(), Counted(spec, 23));
}

CONFORMANCE_CASE(Init, LatencyThresholdSelectsLoads, .rules = {rule::INI_031, rule::INI_032},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kLoadLatency, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  EventSpec load;
  for (const EventSpec& spec : target().Events()) {
    if (spec.latency != 0) load = spec;
  }
  // The last threshold on one CPU is the first one on the next. A driver that caches the register
  // for all CPUs would not write it there.
  for (const std::uint64_t threshold : {3, 0, 1, 100, 0xfffe, 0xffff, 3}) {
    const EventSpec spec = WithTerms(load, {{"ldlat", threshold}});
    const Event event = Open(spec, {.disabled = false});
    std::uint64_t want = 0;
    for (const std::uint32_t latency : {1u, 2u, 3u, 4u, 100u, 101u, 0xffffu}) {
      target().Stimulate(spec, 20 + latency % 7, {.latency = latency});
      want += latency > threshold ? 20 + latency % 7 : 0;
      ASSERT_THAT(event.Read(), Counted(spec, want)) << rule::INI_031 << latency;
    }
  }
  const EventSpec short_ones = WithTerms(load, {{"ldlat", 5}});
  const EventSpec long_ones = WithTerms(load, {{"ldlat", 50}});
  EXPECT_THAT(TryOpenGroup({short_ones, short_ones}), Succeeds()) << rule::INI_032;
  EXPECT_THAT(TryOpenGroup({short_ones, long_ones}), FailsWith(EINVAL)) << rule::INI_032;
}

// A PMU behind a port page may have fields that each event can use.
CONFORMANCE_CASE(Init, FieldsOfOtherEventsAreRefused, .rules = {rule::INI_034},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kRegisters}) {
  for (const EventSpec& spec : target().Events()) {
    if (spec.config1 != 0) continue;
    for (int bit = 0; bit < 64; ++bit) {
      EventSpec strange = spec;
      strange.config1 = std::uint64_t{1} << bit;
      EXPECT_THAT(TryOpen(strange), FailsWith(EINVAL)) << spec.name << bit;
    }
  }
}

EventSpec WideEvent() {
  for (const EventSpec& spec : target().Events({.wide = true})) {
    if (spec.wide) return spec;
  }
  throw Broken("no event that takes two counters");
}

CONFORMANCE_CASE(Init, WideEventCountsEachOccurrence, .rules = {rule::INI_033},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kWide, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec wide = WideEvent();
  Group group(std::vector(CounterCount(wide), wide));
  group.Enable();
  std::uint64_t want = 0;
  for (const std::uint32_t occurrences : {1u, 15u, 16u, 40u, 63u}) {
    target().Stimulate(wide, 500, {.per_pulse = occurrences});
    want += std::uint64_t{500} * occurrences;
    for (const GroupEntry& entry : group.Read().entries) {
      ASSERT_THAT(entry, Counted(wide, want)) << occurrences;
    }
  }
}

CONFORMANCE_CASE(Init, WideEventsTakeTwoCounters, .rules = {rule::INI_033},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kWide, Cap::kGroups}) {
  const EventSpec wide = WideEvent();
  const std::size_t pairs = CounterCount(wide);
  EXPECT_THAT(TryOpenGroup(std::vector(pairs + 1, wide)), FailsWith(EINVAL));
  std::vector<EventSpec> specs = target().AnyEvents(target().general() - 2);
  specs.push_back(wide);
  {
    Group group(specs);
    group.Enable();
    target().Stimulate(wide, 100, {.per_pulse = 50});
    EXPECT_THAT(group.Read().entries.back(), Counted(wide, 5'000));
  }
  specs.push_back(target().AnyEvent());
  EXPECT_THAT(TryOpenGroup(specs), FailsWith(EINVAL));
}

// The pinned events leave one counter of each pair free, so the driver must move an event. perf
// itself never moves a pinned event.
CONFORMANCE_CASE(Init, SingleEventsMoveForWideEvent, .rules = {rule::INI_033},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kWide}, .over = {Over<dim::Cpu>()}) {
  const EventSpec wide = WideEvent();
  const EventSpec single = target().AnyEvent();
  const std::size_t n = target().general();
  const std::vector<Event> singles = OpenEach(std::vector(n, single), {.pinned = true});
  for (const std::size_t odd : {0, 1}) {
    std::vector<std::uint64_t> want(n);  // as many events stay as leave two counters free
    for (std::size_t i = odd; i < n && i / 2 + 2 < n; i += 2) want[i] = 70;
    for (const Event& other : singles) other.Reset();
    EnableEach(singles);
    for (std::size_t i = 0; i < n; ++i) {
      if (want[i] == 0) singles[i].Disable();
    }
    {
      const Event event = Open(wide, {.disabled = false});
      target().Stimulate(wide, 100, {.per_pulse = 50});
      target().Stimulate(single, 70);
      EXPECT_THAT(event.Read(), Counted(wide, 5'000));
    }
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_THAT(singles[i].Read(), Counted(single, want[i]));
    }
    DisableEach(singles);
  }
}

CONFORMANCE_CASE(Init, WideEventsSample, .rules = {rule::INI_033},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kWide, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec wide = WideEvent();
  const Event event = Open(wide, {.sample_period = 1'000, .disabled = false});
  const std::uint64_t before = port().Stats().overflows;
  target().Stimulate(wide, 400, {.per_pulse = 50});
  EXPECT_EQ(port().Stats().overflows - before, 20u);
  EXPECT_THAT(event.Read(), Counted(wide, 20'000));
}

}  // namespace
}  // namespace pmuconf
