// SPDX-License-Identifier: Apache-2.0
// Groups on a PMU of the whole machine: one that fits opens and counts, one that never fits is
// rejected.
#include "cases/uncore/uncore.h"
#include "harness/behaviour.h"
#include "rules/DRC.h"
#include "rules/GRP.h"
#include "rules/UNC.h"
#include "system/context.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Uncore, FullGroupCountsAllTheTime, .rules = {rule::UNC_010},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSystemWide, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = FullSet();
  ASSERT_GE(specs.size(), target().general());
  Group group(specs);
  group.Enable();
  const std::vector<std::uint64_t> want = PulseEach(specs, 40);
  group.Disable();
  const GroupReading reading = group.Read();
  EXPECT_EQ(reading.time_running, reading.time_enabled);
  ASSERT_EQ(reading.entries.size(), specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], want[i]));
  }
}

CONFORMANCE_CASE(Uncore, GroupBeyondTheCountersIsRefused, .rules = {rule::UNC_010, rule::DRC_110},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kOwnCounters, Cap::kSystemWide,
                           Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(target().general() + 1);
  GroupOpenResult group = TryOpenGroup(specs);
  EXPECT_THAT(group, FailsWith(EINVAL)) << rule::UNC_010;
  ASSERT_EQ(group.events.size(), target().general()) << rule::UNC_010;
  group.events.front().EnableGroup();
  Pulse(specs.front(), 11);
  EXPECT_THAT(group.events.front().ReadGroup().entries.front(), Counted(specs.front(), 11))
      << rule::UNC_010;
}

CONFORMANCE_CASE(Uncore, ConstraintsDecideIfGroupFits, .rules = {rule::UNC_010},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kOwnCounters, Cap::kSystemWide,
                           Cap::kConstraints, Cap::kGroups}) {
  const EventSpec picky = target().Events({.constrained = true}).front();
  const EventSpec any = target().AnyEvent();
  const std::size_t capacity = CounterCount(picky);
  // The constrained events come last, when the other ones have taken the counters that they need.
  std::vector<EventSpec> fits(target().general() - capacity, any);
  fits.insert(fits.end(), capacity, picky);
  Group group(fits);
  group.Enable();
  Pulse(any, 6);
  Pulse(picky, 8);
  const GroupReading reading = group.Read();
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const std::uint64_t want = fits[i].code == any.code ? 6 : 8;
    EXPECT_THAT(reading.entries[i], Counted(fits[i], want));
  }
  const GroupOpenResult never = TryOpenGroup(std::vector<EventSpec>(capacity + 1, picky));
  EXPECT_THAT(never, FailsWith(EINVAL));
  EXPECT_EQ(never.events.size(), capacity);
}

// Also for a target that claims no groups, because its driver refuses them.
CONFORMANCE_CASE(Uncore, TwoEventsFormGroup, .rules = {rule::UNC_010},
                 .needs = {Cap::kCounters, Cap::kSystemWide}) {
  if (target().general() < 2) SkipUnclaimed("needs two counters");
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event first = Open(specs[0], {.disabled = false, .pinned = true});
  const Event second = Open(specs[1], {.disabled = false, .pinned = true});
  std::vector<std::byte> bytes;
  for (const Event* const event : {&first, &second}) {
    ASSERT_THAT(event->TryRead(64, &bytes), Succeeds());
    if (bytes.empty()) SkipUnclaimed("needs two events that count at the same time");
  }
  EXPECT_THAT(TryOpenGroup(specs), Succeeds());
}

// Members with the same event may share a counter, which must then count until the last one stops.
CONFORMANCE_CASE(Uncore, StopOfAMemberStopsNoOther, .rules = {rule::UNC_011},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec, {.disabled = false});
  Event member = Open(spec, {.group_fd = leader.fd(), .disabled = false});
  Pulse(spec, 5);
  member.Disable();
  Pulse(spec, 60);
  EXPECT_THAT(member.Read(), Counted(spec, 5));
  EXPECT_THAT(leader.Read(), Counted(spec, 65)) << rule::UNC_011 << "the member was disabled";
  member.Enable();
  Pulse(spec, 700);
  EXPECT_THAT(member.Read(), Counted(spec, 705));
  EXPECT_THAT(leader.Read(), Counted(spec, 765)) << rule::UNC_011 << "the member was enabled";
  member.Close();
  Pulse(spec, 8'000);
  EXPECT_THAT(leader.Read(), Counted(spec, 8'765)) << rule::UNC_011 << "the member was closed";
}

CONFORMANCE_CASE(Uncore, BusyDeviceTakesNewGroups, .rules = {rule::UNC_010},
                 .needs = {Cap::kSystemWide, Cap::kGroups}) {
  Group busy(FullSet());
  busy.Enable();
  EXPECT_THAT(TryOpenGroup(FullSet()), Succeeds());
}

CONFORMANCE_CASE(Uncore, SoftwareMembersTakeNoCounter, .rules = {rule::UNC_010, rule::GRP_005},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kGroups}) {
  std::vector<EventSpec> specs = FullSet();
  // Events of the PMU also follow the software events. The driver checks the whole group at each
  // open.
  specs.insert(specs.begin() + 1, Software(PERF_COUNT_SW_DUMMY));
  specs.push_back(Software(PERF_COUNT_SW_CPU_MIGRATIONS));
  const GroupOpenResult group = TryOpenGroup(specs);
  ASSERT_THAT(group, Succeeds()) << rule::GRP_005;
  const Event& leader = group.events.front();
  leader.EnableGroup();
  Pulse(specs.front(), 12);
  EXPECT_THAT(leader.ReadGroup().entries.front(), Counted(specs.front(), 12)) << rule::UNC_010;
}

CONFORMANCE_CASE(Uncore, MembersOfACoresPmuAreRefused, .rules = {rule::GRP_005},
                 .needs = {Cap::kStimulus, Cap::kSystemWide}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec, {.disabled = false});
  perf_event_attr cycles = {};
  cycles.size = sizeof(cycles);
  cycles.type = PERF_TYPE_HARDWARE;
  cycles.config = PERF_COUNT_HW_CPU_CYCLES;
  const int cpu = target().DesignatedCpu();
  const OpenResult opened = TryOpen(cycles, -1, cpu);
  if (opened.error == ENOENT) SkipWithout("a PMU of the cores");
  ASSERT_THAT(opened, Succeeds());
  const Event& alone = opened.event;
  EXPECT_THAT(TryOpen(cycles, -1, cpu, leader.fd()), FailsWith(EINVAL));
  EXPECT_THAT(TryOpen(MakeAttr(spec), -1, cpu, alone.fd()), FailsWith(EINVAL));
  Pulse(spec, 31);
  EXPECT_THAT(leader.Read(), Counted(spec, 31));
}

}  // namespace
}  // namespace pmuconf
