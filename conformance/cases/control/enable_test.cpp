// SPDX-License-Identifier: Apache-2.0
// Enable and disable: single events, repeated calls, groups, and single members.
#include "cases/common.h"
#include "cases/subject.h"
#include "rules/CTL.h"
#include "stimulus/stimuli.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Control, DisabledBitSetsInitialState, .rules = {rule::CTL_001, rule::CTL_004},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  for (const bool leader_off : {false, true}) {
    for (const bool member_off : {false, true}) {
      const Event leader = Open(spec, {.disabled = leader_off});
      const Event member = Open(spec, {.group_fd = leader.fd(), .disabled = member_off});
      target().Stimulate(spec, 100);
      EXPECT_THAT(leader.Read(), Counted(spec, leader_off ? 0 : 100)) << rule::CTL_001;
      EXPECT_THAT(member.Read(), Counted(spec, leader_off || member_off ? 0 : 100))
          << rule::CTL_004;
      leader.Enable();
      target().Stimulate(spec, 7);
      EXPECT_THAT(leader.Read(), Counted(spec, leader_off ? 7 : 107)) << rule::CTL_001;
      EXPECT_THAT(member.Read(), Counted(spec, member_off   ? 0
                                               : leader_off ? 7
                                                            : 107))
          << rule::CTL_004;
    }
  }
}

// A PMU without a stimulus shows at least that these events open.
CONFORMANCE_CASE(Control, EnabledEventsOpen, .rules = {rule::CTL_001}) {
  for (const EventSpec& spec : target().Events({.inexact = true})) {
    ASSERT_THAT(TryOpen(spec), Succeeds());
    EXPECT_THAT(TryOpen(spec, {.disabled = false}), Succeeds()) << rule::CTL_001 << spec.name;
  }
}

CONFORMANCE_CASE(Control, EnabledEventCountsFromOpen, .rules = {rule::CTL_001},
                 .needs = {Cap::kStimulus},
                 .over = {Over<dim::Start>(), Over<dim::Scope>(), Over<dim::Cpu>()}) {
  for (const EventSpec& spec : target().Events()) {
    const bool at_open = At<dim::Start>() == dim::Start::kOpen;
    const OpenResult opened = TryOpen(spec, AtScope(*this, {.disabled = !at_open}));
    ASSERT_THAT(opened, Succeeds());
    const Event& event = opened.event;
    if (At<dim::Start>() == dim::Start::kIoctl) event.Enable();
    if (At<dim::Start>() == dim::Start::kGroup) event.EnableGroup();
    target().Stimulate(spec, 13);
    EXPECT_THAT(event.Read(), Counted(spec, 13));
  }
}

// A context switch also puts the member on, so one round is no evidence.
CONFORMANCE_CASE(Control, EnabledMemberOfAnotherSoftwarePmuStarts, .rules = {rule::CTL_002},
                 .needs = {Cap::kSoftware}) {
  const Event leader = Open(Software(PERF_COUNT_SW_CPU_CLOCK));
  const Event member = Open(Software(PERF_COUNT_SW_PAGE_FAULTS), {.group_fd = leader.fd()});
  constexpr int kRounds = 20;
  int silent = 0;
  for (int i = 0; i < kRounds; ++i) {
    member.Disable();
    leader.Enable();
    const std::uint64_t before = member.Read().value;
    member.Enable();
    TouchFreshPages(3);
    leader.Disable();
    if (member.Read().value < before + 3) ++silent;
  }
  EXPECT_EQ(silent, 0);
}

CONFORMANCE_CASE(Control, SecondEnableChangesNothing, .rules = {rule::CTL_002},
                 .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Scope>(), Over<dim::Cpu>()}) {
  for (const EventSpec& spec : target().Events({.any_general = true})) {
    const Event event = Open(spec, AtScope(*this));
    const Event bystander = Open(spec, {.disabled = false});
    for (std::uint64_t n = 1; n <= 3; ++n) {
      event.Enable();
      target().Stimulate(spec, 40);
      event.Enable();
      target().Stimulate(spec, 2);
      EXPECT_THAT(event.Read(), Counted(spec, n * 42));
      event.Disable();
      EXPECT_THAT(bystander.Read(), Counted(spec, n * 42));
    }
  }
}

CONFORMANCE_CASE(Control, SecondDisableChangesNothing, .rules = {rule::CTL_003},
                 .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Scope>(), Over<dim::Cpu>()}) {
  for (const EventSpec& spec : target().Events({.any_general = true})) {
    const Event event = Open(spec, AtScope(*this));
    const Event bystander = Open(spec, {.disabled = false});
    event.Enable();
    target().Stimulate(spec, 10);
    for (std::uint64_t n = 1; n <= 4; ++n) {
      event.Disable();
      target().Stimulate(spec, 100);
      EXPECT_THAT(event.Read(), Counted(spec, 10));
      EXPECT_THAT(bystander.Read(), Counted(spec, 10 + 100 * n));
    }
  }
}

CONFORMANCE_CASE(Control, GroupFlagReachesAllMembersFromAnyDescriptor,
                 .rules = {rule::CTL_005, rule::CTL_008}, .needs = {Cap::kStimulus, Cap::kGroups},
                 .over = {Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs, AtScope(*this));
  for (std::size_t member = 0; member < group.size(); ++member) {
    group[member].ResetGroup();
    group[member].EnableGroup();
    const std::vector<std::uint64_t> want = PulseEach(specs, 50);
    group[member].DisableGroup();
    PulseEach(specs, 9);
    const GroupReading reading = group.Read();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      EXPECT_THAT(reading.entries[i], Counted(specs[i], want[i])) << rule::CTL_005;
    }
    group[member].ResetGroup();
    for (const GroupEntry& entry : group.Read().entries) {
      EXPECT_EQ(entry.value, 0u) << rule::CTL_008;
    }
  }
}

CONFORMANCE_CASE(Control, SiblingDisableLeavesOthersCounting, .rules = {rule::CTL_006},
                 .needs = {Cap::kStimulus, Cap::kGroups}, .over = {Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs, AtScope(*this));
  group.Enable();
  for (std::size_t off = 1; off < specs.size(); ++off) {
    group.Reset();
    std::vector<std::uint64_t> want = PulseEach(specs, 20);
    group[off].Disable();
    std::vector<std::uint64_t> more = PulseEach(specs, 300);
    more[off] = 0;
    group[off].Enable();
    const std::vector<std::uint64_t> last = PulseEach(specs, 4);
    const GroupReading reading = group.Read();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      EXPECT_THAT(reading.entries[i], Counted(specs[i], want[i] + more[i] + last[i]))
          << i << " while " << off << " was off";
    }
  }
}

CONFORMANCE_CASE(Control, DisableKeepsPrivilegesOfOthers, .rules = {rule::CTL_006},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs);
  std::vector<std::uint64_t> happened(specs.size());
  for (std::size_t off = 0; off < specs.size(); ++off) {
    EnableEach(events);
    events[off].Disable();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (i == off) continue;
      Pulse(specs[i], 7, {.privilege = Privilege::kKernel});
      Pulse(specs[i], 30, {.privilege = Privilege::kUser});
      for (std::size_t same = 0; same < specs.size(); ++same) {
        if (same != off && ShareStimulus(specs[same], specs[i])) happened[same] += 37;
      }
      EXPECT_THAT(events[i].Read(), Counted(specs[i], happened[i]))
          << i << " while " << off << " was off";
    }
  }
}

CONFORMANCE_CASE(Control, OtherFlagBitsAffectOneEvent, .rules = {rule::CTL_029},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec);
  const Event member = Open(spec, {.group_fd = leader.fd()});
  for (int bit = 1; bit < 64; ++bit) {
    const unsigned long flags = 1UL << bit;
    EXPECT_THAT(leader.TryEnable(flags), Succeeds());
    target().Stimulate(spec, 1);
    EXPECT_THAT(leader.TryIoctl(PERF_EVENT_IOC_DISABLE, flags), Succeeds());
  }
  EXPECT_THAT(leader.Read(), Counted(spec, 63));
  EXPECT_THAT(member.Read(), Counted(spec, 0));
}

CONFORMANCE_CASE(Control, UnknownIoctlIsRefused, .rules = {rule::CTL_023},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  event.Enable();
  target().Stimulate(spec, 5);
  EXPECT_THAT(event.TryIoctl(_IO('$', 0x7f)), FailsWith(ENOTTY));
  EXPECT_THAT(event.TryIoctl(_IO('%', 0)), FailsWith(ENOTTY));
  target().Stimulate(spec, 5);
  EXPECT_THAT(event.Read(), Counted(spec, 10));
}

}  // namespace
}  // namespace pmuconf
