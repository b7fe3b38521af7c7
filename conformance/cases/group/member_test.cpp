// SPDX-License-Identifier: Apache-2.0
// Members that are opened and closed, software members, and the largest group that fits.
#include <algorithm>
#include <random>

#include "cases/common.h"
#include "cases/subject.h"
#include "rules/DRC.h"
#include "rules/DRV.h"
#include "rules/GRP.h"
#include "rules/INI.h"
#include "rules/MUX.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Group, SiblingsOutliveTheirLeader, .rules = {rule::GRP_002},
                 .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs, AtScope(*this));
  group.Enable();
  const std::vector<std::uint64_t> first = PulseEach(specs, 300);
  group.leader().Close();
  const std::vector<std::uint64_t> second = PulseEach(specs, 45);
  group[1].Disable();
  const std::vector<std::uint64_t> third = PulseEach(specs, 7);
  for (std::size_t i = 1; i < specs.size(); ++i) {
    std::vector<std::byte> bytes;
    ASSERT_THAT(group[i].TryRead(4096, &bytes), Succeeds());
    const std::optional<GroupReading> reading = ParseGroupReading(bytes, Group::kReadFormat);
    ASSERT_TRUE(reading && reading->entries.size() == 1u);
    EXPECT_THAT(reading->entries[0],
                Counted(specs[i], first[i] + second[i] + (i == 1 ? 0 : third[i])));
  }
}

CONFORMANCE_CASE(Group, SoftwareLeaderMovesToTheHardware,
                 .rules = {rule::GRP_003, rule::INI_022, rule::DRC_024},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kGroups}) {
  const std::vector<EventSpec> specs = FullSet();
  const Event leader = Open(Software(PERF_COUNT_SW_TASK_CLOCK), {.disabled = false});
  const Event second =
      Open(Software(PERF_COUNT_SW_TASK_CLOCK), {.group_fd = leader.fd(), .disabled = false});
  const Reading before = leader.Read();
  std::vector<Event> members;
  for (const EventSpec& spec : specs) {
    OpenResult member = TryOpen(spec, {.group_fd = leader.fd(), .disabled = false});
    ASSERT_THAT(member, Succeeds()) << rule::GRP_003;
    members.push_back(std::move(member.event));
  }
  const OpenResult late =
      TryOpen(Software(PERF_COUNT_SW_TASK_CLOCK), {.group_fd = leader.fd(), .disabled = false});
  ASSERT_THAT(late, Succeeds()) << rule::GRP_003;
  const Reading after = leader.Read();
  EXPECT_GE(after.value, before.value) << rule::GRP_003;
  const std::vector<std::uint64_t> want = PulseEach(specs, 90);
  EXPECT_GT(leader.Read().value, after.value) << rule::GRP_003;
  EXPECT_GT(second.Read().value, 0u) << rule::GRP_003;
  EXPECT_GT(late.event.Read().value, 0u) << rule::GRP_003;
  leader.Disable();
  PulseEach(specs, 90);
  EXPECT_THAT(members[0].Read(), Counted(specs[0], want[0])) << rule::GRP_003;
  EXPECT_THAT(members.back().Read(), Counted(specs.back(), want.back())) << rule::INI_022;
}

CONFORMANCE_CASE(Group, SoftwareMembersTakeNoCounter, .rules = {rule::GRP_004, rule::INI_022},
                 .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  std::vector<EventSpec> specs = FullSet();
  const std::vector<EventSpec> hardware = specs;
  for (std::size_t at = 1; at <= specs.size(); at += 2) {
    specs.insert(specs.begin() + static_cast<std::ptrdiff_t>(at),
                 Software(PERF_COUNT_SW_TASK_CLOCK));
  }
  ASSERT_THAT(TryOpenGroup(specs), Succeeds()) << rule::INI_022;
  Group group(specs, AtScope(*this));
  group.Enable();
  const std::vector<std::uint64_t> want = PulseEach(hardware, 200);
  group.Disable();
  const GroupReading reading = group.Read();
  ASSERT_EQ(reading.entries.size(), specs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].type == PERF_TYPE_SOFTWARE) {
      EXPECT_GT(reading.entries[i].value, 0u) << rule::GRP_004;
    } else {
      EXPECT_THAT(reading.entries[i], Counted(specs[i], want[next])) << rule::INI_022;
      ++next;
    }
  }
}

void ExpectFullGroupCounts(const std::vector<EventSpec>& specs) {
  GroupOpenResult result = TryOpenGroup(specs);
  ASSERT_THAT(result, Succeeds()) << rule::GRP_006;
  result.events.front().EnableGroup();
  const std::vector<std::uint64_t> want = PulseEach(specs, 1'000);
  result.events.front().DisableGroup();
  std::vector<std::byte> bytes;
  ASSERT_THAT(result.events.front().TryRead(4096, &bytes), Succeeds());
  const std::optional<GroupReading> reading = ParseGroupReading(bytes, Group::kReadFormat);
  ASSERT_TRUE(reading && reading->entries.size() == specs.size());
  EXPECT_EQ(reading->time_running, reading->time_enabled) << rule::GRP_006;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading->entries[i], Counted(specs[i], want[i])) << rule::DRV_034;
  }
}

CONFORMANCE_CASE(Group, FullGroupCountsInEveryOrder,
                 .rules = {rule::GRP_006, rule::DRV_016, rule::DRV_034, rule::MUX_012},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  std::vector<EventSpec> specs = FullSet();
  for (int reversed = 0; reversed < 2; ++reversed) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      ExpectFullGroupCounts(specs);
      std::rotate(specs.begin(), specs.begin() + 1, specs.end());
    }
    std::reverse(specs.begin(), specs.end());
  }
}

void ExpectEveryPermutationCounts(const std::vector<EventSpec>& specs) {
  std::vector<std::size_t> order(specs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // More than six members have too many permutations. So 720 random ones are tried, as many as six
  // members have.
  std::mt19937 random(1);
  bool more = true;
  for (int tried = 0; more && tried < 720; ++tried) {
    std::vector<EventSpec> permuted;
    for (const std::size_t i : order) permuted.push_back(specs[i]);
    ExpectFullGroupCounts(permuted);
    if (order.size() <= 6) {
      more = std::next_permutation(order.begin(), order.end());
    } else {
      std::shuffle(order.begin(), order.end(), random);
    }
  }
}

CONFORMANCE_CASE(Group, ConstrainedMembersFitInEveryPermutation,
                 .rules = {rule::GRP_006, rule::DRV_016, rule::DRV_034, rule::MUX_012},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kGroups, Cap::kConstraints},
                 .budget_s = 60) {
  std::vector<EventSpec> specs = FullSet();
  specs.resize(target().general());
  ExpectEveryPermutationCounts(specs);
}

// A member that takes two counters, one that only some counters can count, and as many others as
// fit.
CONFORMANCE_CASE(Group, WideMembersFitInEveryPermutation,
                 .rules = {rule::GRP_006, rule::DRV_034, rule::MUX_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters3, Cap::kGroups,
                           Cap::kConstraints, Cap::kWide}) {
  for (const EventSpec& narrow : target().Events({.constrained = true})) {
    std::vector<EventSpec> specs = target().AnyEvents(target().general() - 3);
    specs.push_back(narrow);
    for (const EventSpec& spec : target().Events({.wide = true})) {
      if (spec.wide) specs.push_back(spec);
    }
    ASSERT_EQ(specs.size(), target().general() - 1);
    ExpectEveryPermutationCounts(specs);
  }
}

CONFORMANCE_CASE(Group, OneMemberMoreIsRefused,
                 .rules = {rule::GRP_006, rule::INI_021, rule::INI_023},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kOwnCounters, Cap::kGroups},
                 .over = {Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs, AtScope(*this));
  group.Enable();
  for (const EventSpec& extra : target().Events()) {
    EXPECT_THAT(
        TryOpen(extra, AtScope(*this, {.group_fd = group.leader().fd(), .disabled = false})),
        FailsWith(EINVAL))
        << rule::GRP_006 << " " << extra.name;
  }
  const std::vector<std::uint64_t> want = PulseEach(specs, 10);
  const GroupReading reading = group.Read();
  ASSERT_EQ(reading.entries.size(), specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], want[i])) << rule::INI_023;
  }
}

CONFORMANCE_CASE(Group, LateSiblingStartsFromZero, .rules = {rule::GRP_008, rule::INI_023},
                 .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = FullSet();
  std::vector<Event> events;
  events.push_back(Open(specs[0], AtScope(*this, {.disabled = false})));
  std::vector<std::uint64_t> want(specs.size());
  for (std::size_t members = 1; members <= specs.size(); ++members) {
    const std::vector<std::uint64_t> more = PulseEach(specs, 60);
    for (std::size_t i = 0; i < members; ++i) {
      want[i] += more[i];
      ASSERT_THAT(events[i].Read(), Counted(specs[i], want[i])) << rule::INI_023;
    }
    if (members == specs.size()) break;
    OpenResult late =
        TryOpen(specs[members], AtScope(*this, {.group_fd = events[0].fd(), .disabled = false}));
    ASSERT_THAT(late, Succeeds()) << rule::GRP_008;
    events.push_back(std::move(late.event));
    EXPECT_THAT(events.back().Read(), Counted(specs[members], 0)) << rule::GRP_008;
  }
  for (const Event& event : events) event.Disable();
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_LT(events[i].Read().time_enabled, events[0].Read().time_enabled) << rule::GRP_008;
  }
}

CONFORMANCE_CASE(Group, LargeGroupOfSoftwareMembersReadsWhole, .rules = {rule::GRP_010},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  std::vector<EventSpec> specs(200, Software(PERF_COUNT_SW_DUMMY));
  specs.front() = target().AnyEvent();
  ASSERT_THAT(TryOpenGroup(specs), Succeeds());
  Group group(specs);
  group.Enable();
  target().Stimulate(specs.front(), 12);
  const GroupReading reading = group.Read();
  ASSERT_EQ(reading.entries.size(), specs.size());
  EXPECT_THAT(reading.entries.front(), Counted(specs.front(), 12));
  EXPECT_GT(reading.time_running, 0u);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(reading.entries[i].id, group[i].Id());
  }
}

CONFORMANCE_CASE(Group, ClosedSiblingKeepsOrderOfOthers, .rules = {rule::GRP_014},
                 .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = FullSet();
  for (std::size_t closed = 1; closed < specs.size(); ++closed) {
    Group group(specs, AtScope(*this));
    group.Enable();
    const std::vector<std::uint64_t> first = PulseEach(specs, 80);
    group[closed].Close();
    const std::vector<std::uint64_t> second = PulseEach(specs, 5);
    const GroupReading reading = group.Read();
    ASSERT_EQ(reading.entries.size(), specs.size() - 1);
    for (std::size_t i = 0; i < reading.entries.size(); ++i) {
      const std::size_t member = i < closed ? i : i + 1;
      EXPECT_EQ(reading.entries[i].id, group[member].Id());
      EXPECT_THAT(reading.entries[i], Counted(specs[member], first[member] + second[member]));
    }
  }
}

}  // namespace
}  // namespace pmuconf
