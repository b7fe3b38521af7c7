// SPDX-License-Identifier: Apache-2.0
// A count is the number of events while the event was enabled, on each counter and over any
// sequence of enables and disables.
#include "cases/common.h"
#include "rules/CNT.h"
#include "rules/DRV.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Counting, OpenedDisabledReadsZero, .rules = {rule::CNT_001},
                 .needs = {Cap::kStimulus}) {
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    target().Stimulate(spec, 321);
    const Reading before = event.Read();
    EXPECT_THAT(before, Counted(spec, 0));
    EXPECT_EQ(before.time_enabled, 0u) << spec.name;
    EXPECT_EQ(before.time_running, 0u) << spec.name;

    event.Enable();
    target().Stimulate(spec, 5);
    EXPECT_THAT(event.Read(), Counted(spec, 5));
  }
}

CONFORMANCE_CASE(Counting, RepeatedEnableDisableCountsExactly,
                 .rules = {rule::CNT_002, rule::CNT_005}, .needs = {Cap::kStimulus}) {
  Measurement errors = {.name = "error",
                        .title = "Difference between count and truth",
                        .mark = Mark::kPoints,
                        .x = {"true count", "events"},
                        .y = {"count minus truth", "events"},
                        .series = {}};
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    std::uint64_t want = 0;
    Series& error = errors.series.emplace_back(Series{spec.name, {}});
    for (std::uint64_t n = 0; n < 24; ++n) {
      event.Enable();
      target().Stimulate(spec, n * n + 1);
      event.Disable();
      target().Stimulate(spec, 3 * n + 1);
      want += n * n + 1;
      const Reading reading = event.Read();
      const auto truth = static_cast<double>(want);
      error.points.emplace_back(truth, static_cast<double>(reading.value) - truth);
      Attach(errors);
      ASSERT_THAT(reading, Counted(spec, want)) << rule::CNT_005;
    }
  }
}

CONFORMANCE_CASE(Counting, CpuEventEnableDisableCountsExactly,
                 .rules = {rule::CNT_001, rule::CNT_002, rule::CNT_005},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec, {.pid = -1, .cpu = EventCpu()});
    target().Stimulate(spec, 11);
    EXPECT_THAT(event.Read(), Counted(spec, 0)) << rule::CNT_001;
    for (std::uint64_t n = 1; n <= 8; ++n) {
      event.Enable();
      target().Stimulate(spec, 1'000'003);
      event.Disable();
      target().Stimulate(spec, n);
      ASSERT_THAT(event.Read(), Counted(spec, n * 1'000'003)) << rule::CNT_005;
    }
  }
}

CONFORMANCE_CASE(Counting, IdenticalEventsAgreeOnEveryCounter,
                 .rules = {rule::CNT_012, rule::DRV_034}, .needs = {Cap::kStimulus, Cap::kPort}) {
  for (const EventSpec& spec : target().Events()) {
    const std::vector<EventSpec> same(CounterCount(spec), spec);
    const std::vector<Event> events = OpenEach(same);
    EnableEach(events);
    target().Stimulate(spec, 4'711);
    for (const Event& event : events) {
      const Reading reading = event.Read();
      EXPECT_THAT(reading, Counted(spec, 4'711)) << rule::CNT_012;
      EXPECT_EQ(reading.time_running, reading.time_enabled) << spec.name;
    }
    // The model of a device numbers its counters as it wants.
    if (target().Has(Cap::kRegisters)) {
      EXPECT_EQ(port().Stats().used, spec.counters) << rule::DRV_034 << " " << spec.name;
    } else if (target().Has(Cap::kCounters) && target().Has(Cap::kOwnCounters)) {
      EXPECT_EQ(std::popcount(port().Stats().used), std::popcount(spec.counters))
          << rule::DRV_034 << " " << spec.name;
    }
  }
}

CONFORMANCE_CASE(Counting, NeverScheduledEventReadsZeroWithZeroRunning, .rules = {rule::CNT_013},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing}) {
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> pinned =
      OpenEach(std::vector(CounterCount(spec), spec), {.pinned = true});
  const Event waiting = Open(spec);
  EnableEach(pinned);
  waiting.Enable();
  target().Stimulate(spec, 900);
  const Reading reading = waiting.Read();
  EXPECT_EQ(reading.value, 0u);
  EXPECT_EQ(reading.time_running, 0u);
  EXPECT_GT(reading.time_enabled, 0u);
  for (const Event& event : pinned) EXPECT_THAT(event.Read(), Counted(spec, 900));
}

CONFORMANCE_CASE(Counting, ReadingWhileRunningIsUpToDate, .rules = {rule::CNT_014, rule::DRV_012},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    event.Enable();
    std::uint64_t want = 0;
    for (std::uint64_t n : {1u, 1u, 2u, 0u, 65'535u, 65'536u, 3u}) {
      target().Stimulate(spec, n);
      want += n;
      ASSERT_THAT(event.Read(), Counted(spec, want)) << rule::DRV_012;
      ASSERT_THAT(event.Read(), Counted(spec, want)) << rule::CNT_014;
    }
    event.Disable();
    EXPECT_THAT(event.Read(), Counted(spec, want)) << rule::DRV_012;
  }
}

}  // namespace
}  // namespace pmuconf
