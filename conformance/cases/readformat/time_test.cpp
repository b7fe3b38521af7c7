// SPDX-License-Identifier: Apache-2.0
// Enabled and running times, readings through passed descriptors, and readings after the task has
// exited.
#include <sched.h>

#include "cases/common.h"
#include "cases/pass_fd.h"
#include "rules/MUX.h"
#include "rules/RDF.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(ReadFormat, RunningEqualsEnabledWhileAllFit,
                 .rules = {rule::RDF_012, rule::MUX_015}, .needs = {Cap::kStimulus}) {
  const MuxInterval interval(1);
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs);
  EnableEach(events);
  std::vector<std::uint64_t> want(specs.size());
  for (int round = 0; round < 10; ++round) {
    const std::vector<std::uint64_t> more = PulseEach(specs, 3);
    BusyWait(0.002);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      want[i] += more[i];
      const Reading reading = events[i].Read();
      EXPECT_EQ(reading.time_running, reading.time_enabled) << rule::RDF_012 << rule::MUX_015;
      EXPECT_GT(reading.time_running, 0u) << rule::RDF_012;
      EXPECT_THAT(reading, Counted(specs[i], want[i])) << rule::MUX_015;
    }
  }
}

CONFORMANCE_CASE(ReadFormat, TimesStandStillWhileTheTaskSleeps,
                 .rules = {rule::RDF_013, rule::RDF_016},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  port();
  Child child([&spec] {
    target().Stimulate(spec, 777);
    return 0;
  });
  const std::string stat = "/proc/" + std::to_string(child.pid()) + "/stat";
  ASSERT_TRUE(RepeatUntil([] { sched_yield(); },
                          [&] { return ReadFile(stat)->find(") S ") != std::string::npos; }));
  const Event event = Open(spec, {.pid = child.pid()});
  event.Enable();
  const Reading first = event.Read();
  target().Stimulate(spec, 50);
  BusyWait(0.003);
  const Reading second = event.Read();
  EXPECT_EQ(second.time_enabled, first.time_enabled) << rule::RDF_013;
  EXPECT_EQ(second.time_running, first.time_running) << rule::RDF_013;
  EXPECT_THAT(second, Counted(spec, 0)) << rule::RDF_013;

  ASSERT_EQ(child.Run(), 0);
  const Reading last = event.Read();
  EXPECT_THAT(last, Counted(spec, 777)) << rule::RDF_016;
  EXPECT_GT(last.time_running, second.time_running) << rule::RDF_016;
  BusyWait(0.001);
  EXPECT_EQ(event.Read().time_enabled, last.time_enabled) << rule::RDF_016;
}

CONFORMANCE_CASE(ReadFormat, InheritedDescriptorReadsTheSameEvent, .rules = {rule::RDF_015},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  event.Enable();
  target().Stimulate(spec, 123);
  Child child([&event, &spec] {
    target().Stimulate(spec, 9);
    return event.Read().value == 123 ? 0 : 1;
  });
  EXPECT_EQ(child.Run(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 123));
}

CONFORMANCE_CASE(ReadFormat, PassedDescriptorReadsTheSameEvent, .rules = {rule::RDF_015},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  FdPipe pipe;
  Child child([&] {
    const Event event = Open(spec, {.disabled = false});
    target().Stimulate(spec, 66);
    pipe.Send(event.fd());
    return 0;
  });
  child.Go();
  const Event event(pipe.Receive(), MakeAttr(spec));
  target().Stimulate(spec, 1'000);
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 66));
}

}  // namespace
}  // namespace pmuconf
