// SPDX-License-Identifier: Apache-2.0
// Control operations on inherited events, throttled events, filters and breakpoints.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases/breakpoint.h"
#include "cases/common.h"
#include "cases/rendezvous.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/CTL.h"
#include "rules/NMI.h"
#include "system/context.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Control, ResetKeepsWhatExitedChildrenAdded, .rules = {rule::CTL_009},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false, .inherit = true});
  target().Stimulate(spec, 3);
  // Prevents a swap of contexts between this task and a child: no child runs before `apart` makes
  // the context of this task differ from its clones.
  const NoPreemption no_preemption;
  Child ended([&spec] {
    target().Stimulate(spec, 100);
    return 0;
  });
  const Rendezvous rendezvous;
  Child running([&] {
    target().Stimulate(spec, 4'000);
    rendezvous.ReportAndWait();
    target().Stimulate(spec, 50);
    return 0;
  });
  const Event apart = Open(spec);
  ASSERT_EQ(ended.Run(), 0);
  running.Go();
  rendezvous.WaitUntilReached();
  EXPECT_THAT(event.Read(), Counted(spec, 4'103));
  event.Reset();
  EXPECT_THAT(event.Read(), Counted(spec, 100));
  rendezvous.Continue();
  ASSERT_EQ(running.Wait(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 150));
  event.Reset();
  target().Stimulate(spec, 7);
  EXPECT_THAT(event.Read(), Counted(spec, 157));
}

CONFORMANCE_CASE(Control, PrctlReachesTheCopiesInChildren, .rules = {rule::CTL_024},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false, .inherit = true});
  const Rendezvous rendezvous;
  Child child([&] {
    for (const std::uint64_t n : {1, 20, 300}) {
      rendezvous.ReportAndWait();
      target().Stimulate(spec, n);
    }
    rendezvous.ReportAndWait();
    return 0;
  });
  child.Go();
  rendezvous.WaitUntilReached();
  for (const int switched : {0, PR_TASK_PERF_EVENTS_DISABLE, PR_TASK_PERF_EVENTS_ENABLE}) {
    if (switched != 0) prctl(switched);
    rendezvous.Continue();
    rendezvous.WaitUntilReached();
  }
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 301));
}

CONFORMANCE_CASE(Control, FrequencyAboveTheRateIsRefused, .rules = {rule::CTL_016},
                 .needs = {Cap::kSampling, Cap::kFrequency}) {
  const SampleRateLimit limit(5'000);
  const Event event = Open(target().AnyEvent(), {.sample_freq = 1'000, .disabled = false});
  EXPECT_THAT(event.TryPeriod(5'001), FailsWith(EINVAL));
  EXPECT_THAT(event.TryPeriod(0), FailsWith(EINVAL));
  EXPECT_THAT(event.TryPeriod(5'000), Succeeds());
}

// If a tick unthrottles the event first, the buffer has one unthrottle record as well.
CONFORMANCE_CASE(Control, NewPeriodLiftsTheThrottle, .rules = {rule::CTL_017, rule::NMI_003},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kAnyTask},
                 .timing = "waits for a throttle: a second overflow in a tick; at most 5 s") {
  const SampleRateLimit one_per_tick(1);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 1, .disabled = false, .sample_id_all = true});
  Ring ring(event, 16);
  for (std::uint64_t round = 0; round < 5; ++round) {
    bool throttled = false;
    std::uint64_t samples = 0;
    ASSERT_TRUE(RepeatUntil(
        [&] {
          target().Stimulate(spec, 20);
          const RingContents contents = ring.Drain();
          samples += contents.samples.size();
          for (const ThrottleRecord& record : contents.throttles) throttled = record.throttle;
        },
        [&] { return throttled; }));
    EXPECT_THAT(event.Read(), Counted(spec, samples)) << rule::CTL_017;
    event.Period(1'000 + round);
    const RingContents contents = ring.Drain();
    ASSERT_EQ(contents.throttles.size(), 1u) << rule::CTL_017;
    EXPECT_FALSE(contents.throttles[0].throttle) << rule::CTL_017;
    const std::uint64_t before = event.Read().value;
    target().Stimulate(spec, 500);
    EXPECT_THAT(event.Read(), Counted(spec, before + 500)) << rule::CTL_017;
    event.Reset();
    event.Period(1);
  }
}

SysResult TryFilter(const Event& event, const std::string& filter) {
  return event.TryIoctl(PERF_EVENT_IOC_SET_FILTER, reinterpret_cast<unsigned long>(filter.c_str()));
}

EventSpec SystemCalls() {
  const auto id = ReadFile("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id");
  if (!id) throw Broken("no tracepoint raw_syscalls:sys_enter");
  EventSpec spec;
  spec.name = "raw_syscalls:sys_enter";
  spec.type = PERF_TYPE_TRACEPOINT;
  spec.config = std::stoull(*id);
  return spec;
}

CASE_USES(Control, IncompleteFilterIsRefused, Feature::kTracepoints);
CONFORMANCE_CASE(Control, IncompleteFilterIsRefused, .rules = {rule::CTL_020}) {
  const Event event = Open(SystemCalls());
  for (const char* incomplete : {"id == 1 &&", "id == 1 ||"}) {
    EXPECT_THAT(TryFilter(event, incomplete), FailsWith(EINVAL)) << incomplete;
  }
}

CASE_USES(Control, FilterSelectsTracepointRecords, Feature::kTracepoints);
CONFORMANCE_CASE(Control, FilterSelectsTracepointRecords, .rules = {rule::CTL_020}) {
  const std::vector<Event> events = OpenEach(std::vector(3, SystemCalls()));
  for (const char* garbage : {"id ==", "nothing == 1", "id 1"}) {
    EXPECT_THAT(TryFilter(events[0], garbage), FailsWith(EINVAL)) << garbage;
  }
  const std::string parent = "id == " + std::to_string(SYS_getppid);
  EXPECT_THAT(TryFilter(events[0], parent), Succeeds());
  EXPECT_THAT(TryFilter(events[1], parent + " || id == " + std::to_string(SYS_getuid)), Succeeds());
  EnableEach(events);
  for (int i = 0; i < 30; ++i) syscall(SYS_getppid);
  for (int i = 0; i < 4; ++i) syscall(SYS_getuid);
  DisableEach(events);
  EXPECT_EQ(events[0].Read().value, 30u);
  EXPECT_EQ(events[1].Read().value, 34u);
  EXPECT_GT(events[2].Read().value, 34u) << "without a filter the event also counts ioctl(2)";
}

CONFORMANCE_CASE(Control, PmuWithoutFiltersRefusesThem, .rules = {rule::CTL_020},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  EXPECT_THAT(TryFilter(event, "id == 1"), FailsWith(EINVAL));
  target().Stimulate(spec, 9);
  EXPECT_THAT(event.Read(), Counted(spec, 9));
}

// The stores are volatile, because each one must be an event of the breakpoint.
volatile std::uint64_t watched[2];

void WriteEach(int first, int second) {
  for (int i = 0; i < first; ++i) watched[0] = static_cast<std::uint64_t>(i);
  for (int i = 0; i < second; ++i) watched[1] = static_cast<std::uint64_t>(i);
}

SysResult TryModify(const Event& event, const perf_event_attr& attr) {
  return event.TryIoctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, reinterpret_cast<unsigned long>(&attr));
}

CONFORMANCE_CASE(Control, BreakpointMovesAtOnceAlsoInChildren, .rules = {rule::CTL_022},
                 .needs = {Cap::kBreakpoints}) {
  const Event event = Open(CountStores(watched[0], {.inherit = true}));
  event.Enable();
  WriteEach(5, 70);
  EXPECT_EQ(event.Read().value, 5u);
  const Rendezvous rendezvous;
  Child child([&rendezvous] {
    WriteEach(10, 300);
    rendezvous.ReportAndWait();
    WriteEach(2'000, 40);
    return 0;
  });
  child.Go();
  rendezvous.WaitUntilReached();
  EXPECT_EQ(event.Read().value, 15u);
  perf_event_attr moved = event.attr();
  moved.bp_addr = reinterpret_cast<std::uint64_t>(&watched[1]);
  moved.disabled = 0;
  EXPECT_THAT(TryModify(event, moved), Succeeds());
  WriteEach(600, 3);
  EXPECT_EQ(event.Read().value, 18u);
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_EQ(event.Read().value, 58u);
  moved.type = PERF_TYPE_SOFTWARE;
  EXPECT_THAT(TryModify(event, moved), FailsWith(EINVAL));
}

CONFORMANCE_CASE(Control, OnlyBreakpointsAreModified, .rules = {rule::CTL_022},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  if (spec.type == PERF_TYPE_BREAKPOINT) SkipUnclaimed("needs an event that is no breakpoint");
  const Event event = Open(spec, {.disabled = false});
  EXPECT_THAT(TryModify(event, event.attr()), FailsWith(EOPNOTSUPP));
  EXPECT_THAT(TryModify(event, CountStores(watched[0])), FailsWith(EINVAL));
  target().Stimulate(spec, 9);
  EXPECT_THAT(event.Read(), Counted(spec, 9));
}

}  // namespace
}  // namespace pmuconf
