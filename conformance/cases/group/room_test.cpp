// SPDX-License-Identifier: Apache-2.0
// Groups for which there is no room: the driver refuses them and keeps nothing of the attempt.
#include "cases/common.h"
#include "rules/DRV.h"
#include "rules/GRP.h"

namespace pmuconf {
namespace {

// A driver may ignore disabled members at open. So a group can become far too large when it is
// enabled.
CONFORMANCE_CASE(Group, OversizedGroupWaitsUntilItFits, .rules = {rule::GRP_012, rule::GRP_001},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kOwnCounters, Cap::kGroups}) {
  constexpr std::size_t kMembers = 80;
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec);
  std::vector<Event> members;
  while (members.size() < kMembers) {
    OpenResult member = TryOpen(spec, {.group_fd = leader.fd()});
    if (!member.ok()) break;
    members.push_back(std::move(member.event));
  }
  if (members.size() < kMembers) return;  // the driver counts disabled members, too
  EnableEach(members);
  leader.Enable();  // the last one, so that the kernel tries only the whole group
  target().Stimulate(spec, 30);
  EXPECT_EQ(leader.Read().time_running, 0u) << rule::GRP_001;
  for (const Event& member : members) {
    EXPECT_THAT(member.Read(), Counted(spec, 0)) << rule::GRP_001;
    EXPECT_EQ(member.Read().time_running, 0u) << rule::GRP_001;
  }
  leader.DisableGroup();
  members.front().Enable();
  leader.Enable();
  target().Stimulate(spec, 7);
  EXPECT_THAT(leader.Read(), Counted(spec, 7)) << rule::GRP_012;
  EXPECT_THAT(members.front().Read(), Counted(spec, 7)) << rule::GRP_012;
}

// Pinned events leave one counter free, so no group of two fits. An event of some code may need
// more than a counter.
CONFORMANCE_CASE(Group, GroupOfAnyEventWithoutRoomLeavesNoTrace,
                 .rules = {rule::DRV_006, rule::DRV_018},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kGroups, Cap::kMultiplexing},
                 .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const std::size_t n = CounterCount(spec);
  {
    const std::vector<Event> pinned =
        OpenEach(std::vector(n - 1, spec),
                 {.pid = -1, .cpu = CurrentCpu(), .disabled = false, .pinned = true});
    EventSpec other = spec;
    other.config1 = 0;
    for (other.config = 0; other.config < 256; ++other.config) {
      const OpenResult leader = TryOpen(other);
      if (!leader.ok()) continue;  // the PMU has no such event
      const OpenResult member = TryOpen(spec, {.group_fd = leader.event.fd(), .disabled = false});
      if (member.ok()) leader.event.Enable();
    }
  }
  Group group(std::vector(n, spec));
  group.Enable();
  target().Stimulate(spec, 50);
  for (const GroupEntry& entry : group.Read().entries) {
    EXPECT_THAT(entry, Counted(spec, 50)) << rule::DRV_006;
  }
}

}  // namespace
}  // namespace pmuconf
