// SPDX-License-Identifier: Apache-2.0
// A throttled event that the driver moves to another counter.
#include <bit>

#include "cases/throttle/throttled.h"
#include "rules/REC.h"

namespace pmuconf {
namespace {

// An event that only one general counter can count.
EventSpec NarrowEvent() {
  for (const EventSpec& spec : target().Events({.constrained = true})) {
    const bool general = spec.counters != 0 && spec.counters >> target().general() == 0;
    if (general && std::has_single_bit(spec.counters)) return spec;
  }
  SkipCase(Cap::kConstraints, "no event needs a certain general counter");
}

// The most samples between a THROTTLE record and the next one of an UNTHROTTLE. The sample of the
// overflow that exceeded the limit follows the THROTTLE record.
int SamplesWhileThrottled(const RingContents& got) {
  int most = 0;
  int samples = 0;
  bool throttled = false;
  for (const std::uint32_t type : got.order) {
    if (type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE) samples = 0;
    if (type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE)
      throttled = type == PERF_RECORD_THROTTLE;
    if (throttled && type == PERF_RECORD_SAMPLE) most = std::max(most, ++samples);
  }
  return most;
}

// Throttled events have all counters except one, and an event comes that needs a certain counter.
// In each round another counter is free. So the driver must move an event in all rounds but one.
// perf itself does not take pinned events off for the new one, which would end the throttle.
CONFORMANCE_CASE(Throttle, MovedEventStaysThrottled, .rules = {rule::THR_001, rule::THR_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSampling,
                           Cap::kCounters3, Cap::kConstraints},
                 .timing =
                     "waits for nothing: a tick between the throttle and the move ends the "
                     "throttle, and the round proves nothing",
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const EventSpec narrow_spec = NarrowEvent();
  const std::uint64_t period = target().min_period();
  const SampleRateLimit limit(kOnePerTick);
  // An interrupt that comes late reports several overflows as one, so one stimulus may not
  // throttle.
  const auto overflow_often = [&] {
    for (int i = 0; i < 3; ++i) target().Stimulate(spec, 10 * period);
  };
  for (std::size_t free = 0; free < target().general(); ++free) {
    std::vector<Event> events =
        OpenEach(std::vector(target().general(), spec),
                 {.pid = -1, .cpu = CurrentCpu(), .sample_period = period, .pinned = true});
    std::vector<Ring> rings;
    for (const Event& event : events) rings.emplace_back(event, 16);
    const Event narrow = Open(narrow_spec, {.pid = -1, .cpu = CurrentCpu()});
    EnableEach(events);
    events[free].Close();
    overflow_often();
    narrow.Enable();
    overflow_often();
    narrow.Disable();
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i == free) continue;
      const RingContents got = rings[i].Drain();
      EXPECT_FALSE(got.throttles.empty()) << rule::THR_001;
      EXPECT_LE(SamplesWhileThrottled(got), 1)
          << rule::THR_001 << " counter " << free << " was free, event " << i;
    }
  }
}

}  // namespace
}  // namespace pmuconf
