// SPDX-License-Identifier: Apache-2.0
// Events of a cgroup count its members and the members of cgroups below it, and no other tasks.
#include "system/cgroup.h"

#include "harness/case.h"
#include "harness/uses.h"
#include "rules/CTX.h"
#include "rules/RDF.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

Event OpenOf(const Cgroup& group, const EventSpec& spec, int cpu) {
  const Fd folder = group.Folder();
  return Open(spec, {.pid = folder.get(),
                     .cpu = cpu,
                     .flags = PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP,
                     .disabled = false});
}

CASE_USES(Cgroup, EventCountsTasksWhileMembers, Feature::kPerfCgroups);
CONFORMANCE_CASE(Cgroup, EventCountsTasksWhileMembers, .rules = {rule::CTX_006},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  const EventSpec spec = target().AnyEvent();
  const CgroupRoot root;
  const Cgroup outer(root, "pmuconf");
  const Cgroup inner(root, "pmuconf/inner");
  const Event of_outer = OpenOf(outer, spec, target().Cpu(0));
  const Event of_inner = OpenOf(inner, spec, target().Cpu(0));
  Child child([&] {
    target().Stimulate(spec, 1);
    outer.Enter();
    target().Stimulate(spec, 20);
    inner.Enter();
    target().Stimulate(spec, 300);
    outer.Enter();
    target().Stimulate(spec, 4'000);
    outer.Leave();
    target().Stimulate(spec, 50'000);
    return 0;
  });
  target().Stimulate(spec, 600'000);
  ASSERT_EQ(child.Run(), 0);
  EXPECT_THAT(of_outer.Read(), Counted(spec, 4'320));
  EXPECT_THAT(of_inner.Read(), Counted(spec, 300));
}

CASE_USES(Cgroup, EventCountsMembersOnItsCpuOnly, Feature::kPerfCgroups);
CONFORMANCE_CASE(Cgroup, EventCountsMembersOnItsCpuOnly, .rules = {rule::CTX_006},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const CgroupRoot root;
  const Cgroup group(root, "pmuconf");
  const Event here = OpenOf(group, spec, target().Cpu(0));
  const Event there = OpenOf(group, spec, target().Cpu(1));
  Child member([&] {
    group.Enter();
    for (std::uint64_t i = 1; i <= 10; ++i) {
      PinTo(target().Cpu(i % 2));
      target().Stimulate(spec, i);
    }
    group.Leave();
    return 0;
  });
  member.Go();
  target().Stimulate(spec, 7'000, {.cpu = target().Cpu(1)});
  ASSERT_EQ(member.Wait(), 0);
  target().Stimulate(spec, 7'000);
  EXPECT_THAT(here.Read(), Counted(spec, 2 + 4 + 6 + 8 + 10));
  EXPECT_THAT(there.Read(), Counted(spec, 1 + 3 + 5 + 7 + 9));
}

CASE_USES(Cgroup, TimesIncludeThoseOfCgroupsBelow, Feature::kPerfCgroups);
// The clocks of the two cgroups start and stop at the same moments.
CONFORMANCE_CASE(Cgroup, TimesIncludeThoseOfCgroupsBelow, .rules = {rule::RDF_014},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kGroups, Cap::kTasks,
                           Cap::kAnyTask},
                 .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const CgroupRoot root;
  const Cgroup outer(root, "pmuconf");
  const Cgroup inner(root, "pmuconf/inner");
  const Event of_outer = OpenOf(outer, spec, target().Cpu(0));
  const Event of_inner = OpenOf(inner, spec, target().Cpu(0));
  Child child([&] {
    inner.Enter();
    target().Stimulate(spec, 10);
    inner.Leave();
    return 0;
  });
  ASSERT_EQ(child.Run(), 0);
  const Reading above = of_outer.Read(), below = of_inner.Read();
  EXPECT_THAT(above, Counted(spec, 10));
  EXPECT_GT(below.time_enabled, 0u);
  EXPECT_EQ(above.time_enabled, below.time_enabled);
  EXPECT_EQ(above.time_running, below.time_running);
}

}  // namespace
}  // namespace pmuconf
