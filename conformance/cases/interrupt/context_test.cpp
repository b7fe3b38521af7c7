// SPDX-License-Identifier: Apache-2.0
// Effects of an overflow in interrupt context: each requested one happens once and does no harm.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cases/common.h"
#include "cases/signal/overflow_signals.h"
#include "cases/subject.h"
#include "perf/ring.h"
#include "rules/NMI.h"
#include "system/guarded_stack.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Interrupt, OverflowDeliversSampleWakeupAndSignal, .rules = {rule::NMI_001},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(
      spec, {.sample_period = 10,
             .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                            PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
             .wakeup_events = 1,
             .edit = [](perf_event_attr& attr) {
               attr.sample_regs_user = 1;
               attr.sample_stack_user = 512;
             }});
  Ring ring(event, 16);
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  event.Enable();
  const std::uint64_t last = target().min_period();  // the driver may lengthen a shorter period
  for (int i = 0; i < 40; ++i) {
    target().Stimulate(spec, 10 - last);
    pollfd ready = {event.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 0), 0);
    target().Stimulate(spec, last);
    EXPECT_EQ(poll(&ready, 1, 1'000), 1);
    EXPECT_EQ(signals.Drain().size(), 1u);
    const RingContents contents = ring.Drain();
    ASSERT_EQ(contents.samples.size(), 1u);
    EXPECT_FALSE(contents.samples[0].callchain->empty());
    EXPECT_FALSE(contents.samples[0].stack_user->empty());
  }
}

CONFORMANCE_CASE(Interrupt, ReadingsBetweenOverflowsAddNothingTwice, .rules = {rule::NMI_002},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kCpus2},
                 .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  Ring ring(event, 64);
  event.Enable();
  std::atomic<bool> stop = false;
  std::vector<std::uint64_t> readings;
  std::thread reader([&] {
    PinTo(target().Cpu(1));
    while (!stop && readings.size() < 1'000) readings.push_back(event.Read().value);
  });
  for (int i = 0; i < 30; ++i) target().Stimulate(spec, 107);
  stop = true;
  reader.join();
  EXPECT_THAT(event.Read(), Counted(spec, 3'210));
  EXPECT_EQ(ring.Drain().samples.size(), 321u);
  EXPECT_TRUE(std::is_sorted(readings.begin(), readings.end()));
}

// Time drives the counter. So its interrupts occur at any moment: in reads, in enables and
// disables, and next to another interrupt.
CONFORMANCE_CASE(Interrupt, ClockOverflowsCountNothingTwice, .rules = {rule::NMI_002},
                 .needs = {Cap::kSampling, Cap::kManualClock}) {
  const EventSpec clock = target().Events({.stimulus = StimulusKind::kClock}).front();
  const Event event = Open(clock, {.sample_period = 200'000, .sample_type = PERF_SAMPLE_PERIOD});
  Ring ring(event, 64);
  std::uint64_t before = 0;
  {
    const AutoClock running;
    event.Enable();
    for (int i = 0; i < 1'000; ++i) {
      const std::uint64_t now = event.Read().value;
      ASSERT_GE(now, before);
      before = now;
      if (i % 50 == 0) event.Disable(), event.Enable();
    }
    event.Disable();
  }
  const RingContents contents = ring.Drain();
  const std::uint64_t count = event.Read().value;
  EXPECT_GE(count, before);
  EXPECT_GE(contents.samples.size(), 1u);
  // A late interrupt may merge periods, but no period may appear twice.
  EXPECT_LE(contents.PeriodSum(), count);
}

CONFORMANCE_CASE(Interrupt, EventThatStopsItselfLosesNothing, .rules = {rule::NMI_003},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kCounters3},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_period = 10});
  const auto [spec, event] = subject.Parts();
  const Event witness = Open(spec, {.disabled = false});
  Ring ring(event, 4);
  for (std::uint64_t round = 1; round <= 10; ++round) {
    event.Refresh(1);
    target().Stimulate(spec, 10);
    target().Stimulate(spec, 25);  // the event is off
    EXPECT_THAT(event.Read(), Counted(spec, 10 * round));
    EXPECT_EQ(ring.Drain().samples.size(), 1u);
    EXPECT_THAT(witness.Read(), Counted(spec, 35 * round));
  }
}

CONFORMANCE_CASE(Interrupt, ClosingRightAfterAnOverflowIsHarmless, .rules = {rule::NMI_006},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t live = port().Stats().live_events;
  for (int round = 0; round < 60; ++round) {
    Event event = Open(spec, {.pid = -1,
                              .cpu = CurrentCpu(),
                              .sample_period = 5,
                              .sample_type = PERF_SAMPLE_IP,
                              .wakeup_events = 1});
    const Ring ring(event, 1);
    const OverflowSignals signals(event, gettid(), SIGRTMIN);
    event.Refresh(round % 2 == 0 ? 1 : 100);
    {
      HoldLine hold;
      target().Stimulate(spec, 5);
      if (round % 3 == 0) event.Close();
    }
    event.Close();
    EXPECT_LE(signals.Drain().size(), 1u);
  }
  EXPECT_EQ(port().Stats().live_events, live);
  const Event event = Open(spec, {.sample_period = 10, .disabled = false});
  Ring ring(event, 1);
  target().Stimulate(spec, 100);
  EXPECT_EQ(ring.Drain().samples.size(), 10u);
}

CONFORMANCE_CASE(Interrupt, FaultInASampleOnlyShortensIt, .rules = {rule::NMI_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const auto whole_stack = [](perf_event_attr& attr) { attr.sample_stack_user = 65'528; };
  constexpr std::size_t kStack = 256 * 1024;
  RingContents contents;
  std::uint64_t faults = 0, counted = 0;
  RunOnGuardedStack(kStack, [&](std::uint64_t) {
    const Event event = Open(spec, {.sample_period = 10,
                                    .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER,
                                    .edit = whole_stack});
    Ring ring(event, 256);
    const Event fault = Open(Software(PERF_COUNT_SW_PAGE_FAULTS));
    event.Enable();
    target().Stimulate(spec, 10);  // from here on, code and stack cause no faults
    ring.DrainRaw();
    fault.Enable();
    target().Stimulate(spec, 95);
    fault.Disable();
    faults = fault.Read().value;
    counted = event.Read().value;
    contents = ring.Drain();
  });
  EXPECT_EQ(counted, 105u);
  ASSERT_EQ(contents.samples.size(), 9u);
  for (const Sample& sample : contents.samples) {
    EXPECT_GT(sample.stack_user->size(), 0u);
    EXPECT_LT(sample.stack_user->size(), 65'528u);
  }
  EXPECT_EQ(faults, 0u);
}

}  // namespace
}  // namespace pmuconf
