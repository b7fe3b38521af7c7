// SPDX-License-Identifier: Apache-2.0
// Frequency mode where it is exact: events below the frequency, no events at all, and the period in
// the samples after a change.
#include <algorithm>
#include <iterator>
#include <vector>

#include "harness/case.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "rules/SMP.h"
#include "system/cpu.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kFaster = SampleRateLimit::kNoLimit;  // higher than any stimulus rate

CONFORMANCE_CASE(Sampling, EventsSlowerThanTheFrequencyAreAllSampled,
                 .rules = {rule::SMP_019, rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kFrequency}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_freq = kFaster, .sample_type = PERF_SAMPLE_PERIOD});
  Ring ring(event);
  event.Enable();
  target().Stimulate(spec, 500 * target().min_period());
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 500u) << rule::SMP_019.text;
  EXPECT_EQ(got.PeriodSum(), event.Read().value) << rule::SMP_005.text;
}

CONFORMANCE_CASE(Sampling, FrequencyPeriodsDoNotOverlap, .rules = {rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kFrequency,
                           Cap::kSingleEvents}) {
  const EventSpec spec = target().AnyEvent();
  const Event event =
      Open(spec, {.sample_freq = 1'000, .sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ});
  Ring ring(event);
  event.Enable();
  target().Stimulate(spec, 100'000);
  event.Disable();
  std::uint64_t before = 0;
  for (const Sample& sample : ring.Drain().samples) {
    // A tick may restart a period that is too long, which drops a part of it. No part may be
    // reported twice.
    EXPECT_GE(sample.read->value - before, *sample.period) << rule::SMP_005.text;
    before = sample.read->value;
  }
  EXPECT_GT(before, 0u);
  EXPECT_THAT(event.Read(), Counted(spec, 100'000));
}

// Events above the frequency lengthen the period with each of the first samples. The first sample
// with another period must end that period, not the one before or after it.
// A tick may change a period before its end, and the gap after a late interrupt may match another
// period. So not each attempt must succeed.
CONFORMANCE_CASE(Sampling, SampleReportsElapsedPeriod, .rules = {rule::REC_010, rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kFrequency}) {
  const EventSpec spec = target().AnyEvent();
  // A PMU may lengthen the shortest periods beyond the period in the sample.
  const auto changed = [](const Sample& before, const Sample& after) {
    return *before.period > target().min_period() && *before.period != *after.period;
  };
  const auto sample_has_elapsed_period = [&] {
    const Event event =
        Open(spec, {.sample_freq = 1'000, .sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ});
    Ring ring(event);
    event.Enable();
    std::vector<Sample> samples;
    for (int step = 0; step < 20; ++step) {
      target().Stimulate(spec, 500);
      std::ranges::move(ring.Drain().samples, std::back_inserter(samples));
      const auto before = std::ranges::adjacent_find(samples, changed);
      if (before == samples.end()) continue;
      const Sample& sample = *std::next(before);
      return sample.read->value - before->read->value == *sample.period;
    }
    return false;
  };
  int elapsed_periods = 0;
  for (int i = 0; i < 20; ++i) elapsed_periods += sample_has_elapsed_period() ? 1 : 0;
  EXPECT_GE(elapsed_periods, 10) << rule::REC_010.text;
}

CONFORMANCE_CASE(Sampling, IdleTicksLeaveThePeriodAlone, .rules = {rule::SMP_018},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kFrequency}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_freq = kFaster, .sample_type = PERF_SAMPLE_PERIOD});
  Ring ring(event, 1);
  event.Enable();
  for (int i = 0; i < 3; ++i) {
    BusyWait(0.02);
    target().Stimulate(spec, 2 * target().min_period());
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 2u) << rule::SMP_018.text;
    EXPECT_EQ(got.PeriodSum(), 2 * target().min_period()) << rule::SMP_018.text;
  }
}

}  // namespace
}  // namespace pmuconf
