// SPDX-License-Identifier: Apache-2.0
// Inheritance over fork(2) and threads: which tasks are counted, and that each one is counted once.
#include <algorithm>
#include <thread>

#include "cases/rendezvous.h"
#include "harness/behaviour.h"
#include "harness/case.h"
#include "perf/group.h"
#include "perf/kernel_behaviour.h"
#include "perf/ring.h"
#include "rules/DRC.h"
#include "rules/INH.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

// Runs a child that generates `n` events of `spec`. Returns 0 on success.
int ChildStimulates(const EventSpec& spec, std::uint64_t n) {
  Child child([&] {
    target().Stimulate(spec, n);
    return 0;
  });
  return child.Run();
}

CONFORMANCE_CASE(Inherit, ChildrenAreCountedOnce, .rules = {rule::INH_001, rule::INH_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kTasks}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.inherit = true});
  event.Enable();
  std::uint64_t total = 0;
  for (const std::uint64_t n : {1'000, 1, 77, 1'000'000}) {
    target().Stimulate(spec, 3);
    ASSERT_EQ(ChildStimulates(spec, n), 0);
    total += 3 + n;
    EXPECT_THAT(event.Read(), Counted(spec, total)) << rule::INH_001;
    EXPECT_THAT(event.Read(), Counted(spec, total)) << rule::INH_004;
  }
  event.Disable();
  EXPECT_THAT(event.Read(), Counted(spec, total)) << rule::INH_004;
}

CONFORMANCE_CASE(Inherit, WithoutInheritChildrenAddNothing, .rules = {rule::INH_002},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  event.Enable();
  target().Stimulate(spec, 5);
  ASSERT_EQ(ChildStimulates(spec, 1'000), 0);
  target().Stimulate(spec, 6);
  EXPECT_THAT(event.Read(), Counted(spec, 11));
}

CONFORMANCE_CASE(Inherit, GrandchildrenAndThreadsAreCounted, .rules = {rule::INH_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.inherit = true});
  event.Enable();
  Child child([&spec] {
    target().Stimulate(spec, 10);
    std::thread([&spec] { target().Stimulate(spec, 200); }).join();
    return ChildStimulates(spec, 3'000);
  });
  ASSERT_EQ(child.Run(), 0);
  std::thread([&spec] { target().Stimulate(spec, 40'000); }).join();
  EXPECT_THAT(event.Read(), Counted(spec, 43'210));
}

CONFORMANCE_CASE(Inherit, LivingChildrenAreRead, .rules = {rule::INH_005, rule::INH_004},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.inherit = true});
  event.Enable();
  const Rendezvous rendezvous;
  Child child([&] {
    target().Stimulate(spec, 500);
    rendezvous.ReportAndWait();
    target().Stimulate(spec, 70);
    return 0;
  });
  child.Go();
  rendezvous.WaitUntilReached();
  target().Stimulate(spec, 6'000);
  EXPECT_THAT(event.Read(), Counted(spec, 6'500)) << rule::INH_005;
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 6'570)) << rule::INH_004;
}

CONFORMANCE_CASE(Inherit, LivingChildOnAnotherCpuIsRead, .rules = {rule::INH_005},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kCpus2, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.inherit = true});
  event.Enable();
  const Rendezvous rendezvous;
  Child child([&] {
    PinTo(target().Cpu(1));
    target().Stimulate(spec, 500);
    rendezvous.ReportAndWait();
    return 0;
  });
  child.Go();
  rendezvous.WaitUntilReached();
  EXPECT_THAT(event.Read(), Counted(spec, 500));
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 500));
}

CONFORMANCE_CASE(Inherit, InheritThreadLeavesProcessesOut, .rules = {rule::INH_007},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event =
      Open(spec, {.inherit = true, .edit = [](perf_event_attr& attr) { attr.inherit_thread = 1; }});
  event.Enable();
  std::thread([&spec] { target().Stimulate(spec, 300); }).join();
  ASSERT_EQ(ChildStimulates(spec, 1'000), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 300));
}

CONFORMANCE_CASE(Inherit, GroupsAreInheritedWhole, .rules = {rule::INH_008},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSeveralEvents, Cap::kQuietFork,
                           Cap::kGroups, Cap::kTasks},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(std::min(3U, target().general()));
  Group group(specs, {.inherit = true});
  group.Enable();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    target().Stimulate(specs[i], 5);
    ASSERT_EQ(ChildStimulates(specs[i], 100 * (i + 1)), 0);
  }
  const GroupReading reading = group.Read();
  ASSERT_EQ(reading.entries.size(), specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], 5 + 100 * (i + 1)));
  }
}

CONFORMANCE_CASE(Inherit, SampleReadNeedsTid, .rules = {rule::INH_009},
                 .needs = {Cap::kSampling, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = {.sample_period = 100 * target().min_period(),
                         .sample_type = PERF_SAMPLE_READ,
                         .inherit = true};
  EXPECT_THAT(TryOpen(spec, options), FailsWith(EINVAL));
  options.sample_type |= PERF_SAMPLE_TID;
  const int error = InheritedSampleReadErrno();
  EXPECT_TRUE(IsBehaviour(rule::INH_009, "with_tid", error));
  EXPECT_EQ(TryOpen(spec, options).error, error);
}

CONFORMANCE_CASE(Inherit, BufferOfInheritedEventNeedsCpu, .rules = {rule::INH_010},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event anywhere = Open(spec, {.sample_period = 10, .inherit = true});
  EXPECT_THAT(Ring::TryMap(anywhere, 1), FailsWith(EINVAL));
  // A longer period could be incomplete at a context switch. The switch then hands its remainder to
  // the other task.
  const Event here =
      Open(spec, {.cpu = target().Cpu(0), .sample_period = 1, .disabled = false, .inherit = true});
  Ring ring(here, 1);
  target().Stimulate(spec, 10);
  ASSERT_EQ(ChildStimulates(spec, 35), 0);
  EXPECT_EQ(ring.Drain().samples.size(), 45u);
}

CONFORMANCE_CASE(Inherit, ChildStartsInTheParentsState, .rules = {rule::INH_011},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event opened_off = Open(spec, {.inherit = true});
  const Event opened_on = Open(spec, {.disabled = false, .inherit = true});
  opened_off.Enable();
  opened_on.Disable();
  ASSERT_EQ(ChildStimulates(spec, 100), 0);
  EXPECT_THAT(opened_off.Read(), Counted(spec, 100));
  EXPECT_THAT(opened_on.Read(), Counted(spec, 0));
}

CONFORMANCE_CASE(Inherit, EnableAndDisableReachChildren, .rules = {rule::INH_012},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.inherit = true});
  const Rendezvous rendezvous;
  Child child([&] {
    for (const std::uint64_t n : {1, 20, 300, 4'000}) {
      target().Stimulate(spec, n);
      rendezvous.ReportAndWait();
    }
    return 0;
  });
  child.Go();
  rendezvous.WaitUntilReached();
  EXPECT_THAT(event.Read(), Counted(spec, 0));
  event.Enable();
  rendezvous.Continue();
  rendezvous.WaitUntilReached();
  EXPECT_THAT(event.Read(), Counted(spec, 20));
  event.Disable();
  rendezvous.Continue();
  rendezvous.WaitUntilReached();
  EXPECT_THAT(event.Read(), Counted(spec, 20));
  event.Reset();
  event.Enable();
  rendezvous.Continue();
  rendezvous.WaitUntilReached();
  EXPECT_THAT(event.Read(), Counted(spec, 4'000));
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
}

CONFORMANCE_CASE(Inherit, ClosingTheParentFreesTheChildren,
                 .rules = {rule::INH_024, rule::DRC_038, rule::DRC_039},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t live = port().Stats().live_events;
  const Rendezvous rendezvous;
  Event event = Open(spec, {.disabled = false, .inherit = true});
  Child child([&] {
    event.Close();  // the child's copy of the descriptor, so that the parent's is the last
    rendezvous.ReportAndWait();
    return 0;
  });
  child.Go();
  rendezvous.WaitUntilReached();
  EXPECT_EQ(port().Stats().live_events, live + 2) << rule::INH_024;
  event.Close();
  EXPECT_EQ(port().Stats().live_events, live) << rule::INH_024;
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
}

}  // namespace
}  // namespace pmuconf
