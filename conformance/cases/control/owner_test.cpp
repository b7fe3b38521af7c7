// SPDX-License-Identifier: Apache-2.0
// Which events an operation affects: ids, redirected output, owners, exited tasks, concurrent
// callers.
#include <sys/prctl.h>

#include <set>
#include <thread>

#include "cases/common.h"
#include "cases/pass_fd.h"
#include "perf/ring.h"
#include "rules/CTL.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Control, AllInterfacesReportSameId, .rules = {rule::CTL_021},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  std::set<std::uint64_t> ids;
  std::vector<Event> events;
  for (const EventSpec& spec : target().Events({.any_general = true})) {
    events.push_back(Open(spec, {.sample_period = 10,
                                 .sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER,
                                 .read_format = PERF_FORMAT_ID}));
    const Event& event = events.back();
    Ring ring(event, 1);
    event.Enable();
    Pulse(spec, 10);
    event.Disable();
    const std::uint64_t id = event.Id();
    EXPECT_EQ(event.Read().id, id);
    const RingContents contents = ring.Drain();
    ASSERT_EQ(contents.samples.size(), 1u);
    EXPECT_EQ(contents.samples[0].id, id);
    EXPECT_EQ(contents.samples[0].identifier, id);
    EXPECT_TRUE(ids.insert(id).second);
  }
}

CONFORMANCE_CASE(Control, LastSetOutputWins, .rules = {rule::CTL_019},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const OpenOptions options = {.sample_period = 10};
  const Event first = Open(spec, options);
  const Event second = Open(spec, options);
  const Event source = Open(spec, options);
  Ring first_ring(first, 1);
  Ring second_ring(second, 1);
  source.Enable();

  source.SetOutput(first);
  Pulse(spec, 20);
  EXPECT_EQ(first_ring.Drain().samples.size(), 2u);
  source.SetOutput(second);
  Pulse(spec, 30);
  EXPECT_EQ(first_ring.Drain().samples.size(), 0u);
  EXPECT_EQ(second_ring.Drain().samples.size(), 3u);
  EXPECT_THAT(source.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(-1)),
              Succeeds());
  Pulse(spec, 40);
  EXPECT_EQ(first_ring.Drain().samples.size(), 0u);
  EXPECT_EQ(second_ring.Drain().samples.size(), 0u);
  EXPECT_THAT(source.Read(), Counted(spec, 90));
}

CONFORMANCE_CASE(Control, PrctlReachesTheCallersEventsAlone, .rules = {rule::CTL_024},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kCounters3, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const pid_t observed = getpid();
  FdPipe pipe;
  Child observer([&] {
    const Event event = Open(spec, {.pid = observed, .disabled = false});
    pipe.Send(event.fd());
    return 0;
  });
  observer.Go();
  const Event others(pipe.Receive(), MakeAttr(spec));
  const Event own = Open(spec, {.disabled = false});
  const Event member = Open(spec, {.group_fd = own.fd(), .disabled = false});

  prctl(PR_TASK_PERF_EVENTS_DISABLE);
  target().Stimulate(spec, 600);
  prctl(PR_TASK_PERF_EVENTS_ENABLE);
  target().Stimulate(spec, 11);
  EXPECT_THAT(own.Read(), Counted(spec, 11));
  EXPECT_THAT(member.Read(), Counted(spec, 11));
  EXPECT_THAT(others.Read(), Counted(spec, 611));
}

CONFORMANCE_CASE(Control, EnableAfterTheTaskIsGoneCountsNothing, .rules = {rule::CTL_028},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  Child child([] { return 0; });
  const Event event = Open(spec, {.pid = child.pid()});
  ASSERT_EQ(child.Run(), 0);
  EXPECT_THAT(event.TryEnable(), Succeeds());
  target().Stimulate(spec, 100);
  EXPECT_THAT(event.Read(), Counted(spec, 0));
}

CONFORMANCE_CASE(Control, ConcurrentEnableDisableEndsDefined, .rules = {rule::CTL_027},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kCpus2, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  const Event witness = Open(spec, {.disabled = false});
  std::vector<std::thread> threads;
  for (const int cpu : target().Cpus()) {
    threads.emplace_back([&event, cpu] {
      PinTo(cpu);
      for (int i = 0; i < 100; ++i) {
        event.Enable();
        event.Disable();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  event.Disable();
  const std::uint64_t before = event.Read().value;
  EXPECT_EQ(before, 0u);
  target().Stimulate(spec, 50);
  EXPECT_THAT(event.Read(), Counted(spec, before));
  event.Enable();
  target().Stimulate(spec, 8);
  EXPECT_THAT(event.Read(), Counted(spec, before + 8));
  EXPECT_THAT(witness.Read(), Counted(spec, 58));
}

}  // namespace
}  // namespace pmuconf
