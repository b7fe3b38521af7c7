// SPDX-License-Identifier: Apache-2.0
// The kernel schedules a group as a whole or not at all, even if some members are disabled.
#include <atomic>
#include <thread>

#include "cases/common.h"
#include "cases/subject.h"
#include "rules/DRV.h"
#include "rules/GRP.h"
#include "rules/MUX.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Group, MembersShareRunningTime, .rules = {rule::GRP_001, rule::MUX_001},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing}) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::size_t size = CounterCount(spec) / 2 + 1;
  std::vector<std::vector<Event>> groups(3);
  for (std::vector<Event>& group : groups) {
    group.push_back(Open(spec));
    while (group.size() < size) {
      group.push_back(Open(spec, {.group_fd = group.front().fd(), .disabled = false}));
    }
  }
  for (const std::vector<Event>& group : groups) group.front().Enable();
  std::uint64_t pulsed = 0;
  EXPECT_TRUE(RepeatUntil([&] { target().Stimulate(spec, 1), ++pulsed; },
                          [&] {
                            return std::all_of(groups.begin(), groups.end(),
                                               [](const std::vector<Event>& group) {
                                                 return group.back().Read().value > 0;
                                               });
                          }))
      << rule::MUX_001;
  std::uint64_t sum = 0;
  for (const std::vector<Event>& group : groups) {
    group.front().Disable();
    const Reading leader = group.front().Read();
    for (const Event& member : group) {
      const Reading reading = member.Read();
      EXPECT_EQ(reading.value, leader.value) << rule::GRP_001;
      EXPECT_EQ(reading.time_running, leader.time_running) << rule::GRP_001;
    }
    sum += leader.value;
  }
  EXPECT_EQ(sum, pulsed) << "exactly one of the groups fits at a time";
}

CONFORMANCE_CASE(Group, GroupReadingIsOneSnapshot, .rules = {rule::GRP_007, rule::DRV_019},
                 .needs = {Cap::kStimulus, Cap::kGroups}, .over = {Over<dim::Scope>()}) {
  for (const EventSpec& spec : target().Events()) {
    Group group(std::vector(CounterCount(spec), spec), AtScope(*this));
    group.Enable();
    for (std::uint64_t n = 1; n <= 20; ++n) {
      target().Stimulate(spec, 31);
      for (int repeat = 0; repeat < 2; ++repeat) {
        for (const GroupEntry& entry : group.Read().entries) {
          ASSERT_THAT(entry, Counted(spec, 31 * n)) << rule::DRV_019;
        }
      }
    }
  }
}

CONFORMANCE_CASE(Group, RemoteGroupReadingIsOneSnapshot, .rules = {rule::GRP_007},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kGroups, Cap::kCpus2,
                           Cap::kAnyTask, Cap::kCounters},
                 .over = {Over<dim::Cpu>()}) {
  // A device counts also while a CPU reads its counters. So its events happen on the CPU that
  // reads.
  if (target().Claims(Cap::kSystemWide)) PinTo(target().DesignatedCpu());
  const EventSpec spec = target().AnyEvent();
  Group group(std::vector(CounterCount(spec), spec));
  group.Enable();
  std::atomic<bool> stop = false;
  std::vector<GroupReading> readings;
  const int other = OtherCpu();
  std::thread reader([&] {
    PinTo(other);
    while (!stop) readings.push_back(group.Read());
  });
  for (int i = 0; i < 200; ++i) target().Stimulate(spec, 3);
  stop = true;
  reader.join();
  for (const GroupReading& reading : readings) {
    for (const GroupEntry& entry : reading.entries) {
      ASSERT_EQ(entry.value, reading.entries.front().value);
    }
  }
  for (const GroupEntry& entry : group.Read().entries) EXPECT_THAT(entry, Counted(spec, 600));
}

CONFORMANCE_CASE(Group, LeaderAloneStopsAndResumesTheGroup, .rules = {rule::GRP_013},
                 .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs, AtScope(*this));
  std::vector<std::uint64_t> want(specs.size());
  for (std::uint64_t round = 1; round <= 3; ++round) {
    group.leader().Enable();
    const std::vector<std::uint64_t> more = PulseEach(specs, 40 * round);
    for (std::size_t i = 0; i < specs.size(); ++i) want[i] += more[i];
    group.leader().Disable();
    PulseEach(specs, 700);
    const GroupReading reading = group.Read();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      EXPECT_THAT(reading.entries[i], Counted(specs[i], want[i]));
    }
  }
}

CONFORMANCE_CASE(Group, DisabledMemberDoesNotHoldTheGroupBack, .rules = {rule::GRP_009},
                 .needs = {Cap::kStimulus, Cap::kCounters3},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec, AtScope(*this));
  const Event paused = Open(spec, AtScope(*this, {.group_fd = leader.fd()}));
  const Event member = Open(spec, AtScope(*this, {.group_fd = leader.fd(), .disabled = false}));
  leader.Enable();
  target().Stimulate(spec, 64);
  EXPECT_THAT(leader.Read(), Counted(spec, 64));
  EXPECT_THAT(member.Read(), Counted(spec, 64));
  EXPECT_THAT(paused.Read(), Counted(spec, 0));
  EXPECT_EQ(paused.Read().time_running, 0u);
  paused.Enable();
  target().Stimulate(spec, 6);
  paused.Disable();
  const Reading reading = paused.Read();
  target().Stimulate(spec, 50);
  EXPECT_THAT(reading, Counted(spec, 6));
  EXPECT_THAT(paused.Read(), Counted(spec, 6));
  EXPECT_EQ(paused.Read().time_running, reading.time_running);
}

CONFORMANCE_CASE(Group, DisabledMemberNeedsNoCounter, .rules = {rule::GRP_009},
                 .needs = {Cap::kStimulus, Cap::kCounters3}) {
  const EventSpec spec = target().AnyEvent();
  // The pinned events leave two counters: for the leader and for one member.
  const std::vector<Event> others =
      OpenEach(std::vector(CounterCount(spec) - 2, spec), {.disabled = false, .pinned = true});
  const Event leader = Open(spec);
  const Event paused = Open(spec, {.group_fd = leader.fd()});
  const Event member = Open(spec, {.group_fd = leader.fd(), .disabled = false});
  leader.Enable();
  target().Stimulate(spec, 64);
  EXPECT_THAT(leader.Read(), Counted(spec, 64));
  EXPECT_THAT(member.Read(), Counted(spec, 64));
  EXPECT_THAT(paused.Read(), Counted(spec, 0));
  for (const Event& other : others) EXPECT_THAT(other.Read(), Counted(spec, 64));
}

CONFORMANCE_CASE(Group, FailedGroupGivesItsCountersBack,
                 .rules = {rule::GRP_012, rule::DRV_006, rule::DRV_018},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t idle = port().Stats().used;
  for (int round = 0; round < 12; ++round) {
    std::vector<Event> pinned = OpenEach(std::vector(2, spec), {.disabled = false, .pinned = true});
    Group group(std::vector(CounterCount(spec) - 1, spec));
    group.Enable();
    target().Stimulate(spec, 100);
    EXPECT_EQ(group.Read().time_running, 0u) << rule::GRP_001;
    EXPECT_EQ(std::popcount(port().Stats().used), 2) << rule::DRV_006;
    for (const Event& event : pinned) EXPECT_THAT(event.Read(), Counted(spec, 100));

    pinned.clear();
    group.Disable();
    group.Enable();
    target().Stimulate(spec, 5);
    for (const GroupEntry& entry : group.Read().entries) {
      ASSERT_THAT(entry, Counted(spec, 5)) << rule::GRP_012;
    }
  }
  EXPECT_EQ(port().Stats().used, idle) << rule::DRV_018;
}

}  // namespace
}  // namespace pmuconf
