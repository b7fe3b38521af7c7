// SPDX-License-Identifier: Apache-2.0
// Readings of events elsewhere: on other CPUs, in children, in cgroups, and of events that never
// ran.
#include <fcntl.h>
#include <sched.h>

#include "cases/common.h"
#include "cases/raw_read.h"
#include "harness/offline.h"
#include "harness/uses.h"
#include "rules/RDF.h"
#include "system/cgroup.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(ReadFormat, MismatchedChildGroupReturnsEchild, .rules = {rule::RDF_017},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kCounters3, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  // Makes the contexts of parent and child differ. Otherwise the kernel could swap them at a
  // context switch, and then no event could join the group.
  const Event not_inherited = Open(spec);
  OpenOptions options = {.read_format = Group::kReadFormat, .inherit = true};
  const Event leader = Open(spec, options);
  options.group_fd = leader.fd();
  const Event member = Open(spec, options);
  Child child([&spec] {
    target().Stimulate(spec, 40);
    return 0;
  });
  leader.EnableGroup();
  target().Stimulate(spec, 2);
  EXPECT_EQ(leader.ReadGroup().entries.size(), 2u);
  {
    const Event late = Open(spec, options);  // the child has no such member
    const RawRead torn(leader.fd(), 512);
    EXPECT_EQ(torn.error, ECHILD);
    EXPECT_TRUE(torn.UntouchedFrom(0));
    EXPECT_EQ(RawRead(late.fd(), 512).error, ECHILD);
    ASSERT_EQ(child.Run(), 0);
    EXPECT_EQ(leader.ReadGroup().entries.size(), 3u);
  }
  const GroupReading whole = leader.ReadGroup();
  ASSERT_EQ(whole.entries.size(), 2u);
  for (const GroupEntry& entry : whole.entries) {
    EXPECT_THAT(entry, Counted(spec, 42));
  }
}

CONFORMANCE_CASE(ReadFormat, ReadFromOtherCpuIsCurrent, .rules = {rule::RDF_018},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const int there = target().Cpu(1);
  const Event event = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
  Child busy([there] {
    PinTo(there);
    for (;;) {
      asm volatile("");  // A loop without an effect is undefined.
    }
    return 0;
  });
  std::uint64_t total = 0;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    if (i == 20) busy.Go();  // idle before, busy from here on
    target().Stimulate(spec, i, {.cpu = there});
    total += i;
    ASSERT_THAT(event.Read(), Counted(spec, total));
  }
}

CONFORMANCE_CASE(ReadFormat, ReadOfRunningTaskIsCurrent, .rules = {rule::RDF_018},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kCpus2, Cap::kTasks,
                           Cap::kAnyTask},
                 .timing = "waits until the child runs on CPU 1, at most 5 s") {
  const EventSpec spec = target().AnyEvent();
  const int there = target().Cpu(1);
  Child child([&spec, there] {
    PinTo(there);
    target().Stimulate(spec, 123);
    for (;;) {
      asm volatile("");  // A loop without an effect is undefined.
    }
    return 0;
  });
  const Event event = Open(spec, {.pid = child.pid(), .disabled = false});
  child.Go();
  // The child never leaves its CPU by itself, so the kernel must read the counter on that CPU.
  ASSERT_TRUE(RepeatUntil([] { sched_yield(); }, [&event] { return event.Read().value >= 123; }));
  EXPECT_THAT(event.Read(), Counted(spec, 123));
  const std::uint64_t running = event.Read().time_running;
  EXPECT_TRUE(
      RepeatUntil([] { sched_yield(); }, [&] { return event.Read().time_running > running; }));
}

CONFORMANCE_CASE(ReadFormat, ReadOfOfflineCpuReturnsLastCount, .rules = {rule::RDF_018},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const int there = target().Cpu(1);
  const Event event = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
  target().Stimulate(spec, 77, {.cpu = there});
  const Reading online = event.Read();
  const Offline offline_cpu(there);
  for (int i = 0; i < 3; ++i) {
    const Reading offline = event.Read();
    EXPECT_THAT(offline, Counted(spec, 77));
    EXPECT_GE(offline.time_running, online.time_running);
  }
}

CASE_USES(ReadFormat, CgroupTimesAdvanceWithItsTasks, Feature::kPerfCgroups);
CONFORMANCE_CASE(ReadFormat, CgroupTimesAdvanceWithItsTasks, .rules = {rule::RDF_014},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const CgroupRoot root;
  const Cgroup cgroup(root, "counted");
  const Fd folder = cgroup.Folder();
  const Event event = Open(spec, {.pid = folder.get(),
                                  .cpu = target().Cpu(0),
                                  .flags = PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC});
  event.Enable();
  std::uint64_t total = 0;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const Reading first = event.Read();
    Pulse(spec, 50);
    BusyWait(0.002);
    const Reading still = event.Read();
    EXPECT_THAT(still, Counted(spec, total));
    EXPECT_EQ(still.time_enabled, first.time_enabled);
    EXPECT_EQ(still.time_running, first.time_running);
    Child child([&] {
      cgroup.Enter();
      target().Stimulate(spec, 100 * round);
      // A task that exits stays in its cgroup until its last context switch, which may come after
      // the wait.
      cgroup.Leave();
      return 0;
    });
    ASSERT_EQ(child.Run(), 0);
    total += 100 * round;
    const Reading after = event.Read();
    EXPECT_THAT(after, Counted(spec, total));
    EXPECT_GT(after.time_enabled, still.time_enabled);
    EXPECT_GT(after.time_running, still.time_running);
    EXPECT_LE(after.time_running, after.time_enabled);
  }
}

CONFORMANCE_CASE(ReadFormat, NeverScheduledEventReadsZero, .rules = {rule::RDF_020},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing}) {
  const std::vector<EventSpec> specs = FullSet();
  const EventSpec spec = target().AnyEvent();
  const Event never = Open(spec);
  EXPECT_EQ(never.Read().time_enabled, 0u);
  const std::vector<Event> first = OpenEach(specs, {.disabled = false, .pinned = true});
  never.Enable();
  PulseEach(specs, 100);
  Pulse(spec, 30);
  for (int i = 0; i < 2; ++i) {
    const Reading reading = never.Read();
    EXPECT_EQ(reading.value, 0u);
    EXPECT_EQ(reading.time_running, 0u);
    EXPECT_GT(reading.time_enabled, 0u);
    never.Disable();
  }
  for (const Event& event : first) EXPECT_GT(event.Read().time_running, 0u);
}

}  // namespace
}  // namespace pmuconf
