// SPDX-License-Identifier: Apache-2.0
// Frequency mode where it is exact: events below the frequency, no events at all, and the period in
// the samples after a change.
#include <algorithm>
#include <iterator>
#include <vector>

#include "cases/subject.h"
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
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kFrequency},
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_freq = kFaster, .sample_type = PERF_SAMPLE_PERIOD});
  const auto [spec, event] = subject.Parts();
  Ring ring(event);
  event.Enable();
  target().Stimulate(spec, 100 * target().min_period());
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 100u) << rule::SMP_019;
  EXPECT_EQ(got.PeriodSum(), event.Read().value) << rule::SMP_005;
}

CONFORMANCE_CASE(Sampling, FrequencyPeriodsDoNotOverlap, .rules = {rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kFrequency,
                           Cap::kSingleEvents}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] =
      Sampler(spec, {.sample_freq = 1'000, .sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ});
  target().Stimulate(spec, 100'000);
  event.Disable();
  std::uint64_t before = 0;
  for (const Sample& sample : ring.Drain().samples) {
    // A tick may restart a period that is too long, which drops a part of it. No part may be
    // reported twice.
    EXPECT_GE(sample.read->value - before, *sample.period);
    before = sample.read->value;
  }
  EXPECT_GT(before, 0u);
  EXPECT_THAT(event.Read(), Counted(spec, 100'000));
}

// Events above the frequency lengthen the period with each of the first samples. A tick may restart
// a period, which drops a part of it, so more events may lie between two samples than the period of
// the later one; never fewer. A driver that reports the period that begins reports more events than
// have happened. A driver that reports the period before the elapsed one never reports the right
// number in the middle of three growing periods.
CONFORMANCE_CASE(
    Sampling, SampleReportsElapsedPeriod, .rules = {rule::REC_010, rule::SMP_005},
    .needs = {Cap::kStimulus, Cap::kSampling, Cap::kFrequency},
    .timing =
        "waits for a period that no tick has restarted, at most 5 s; the periods of an "
        "attempt grow within less than a tick",
    .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  // A PMU may lengthen the shortest periods beyond the period in the sample.
  const auto period = [](const Sample& sample) { return *sample.period; };
  bool exact = false;
  const auto check = [&](const Sample& first, const Sample& own, const Sample& next) {
    if (period(first) <= target().min_period()) return;
    const std::uint64_t counted = own.read->value - first.read->value;
    EXPECT_GE(counted, period(own)) << rule::SMP_005;
    if (period(first) < period(own) && period(own) < period(next) && counted == period(own))
      exact = true;
  };
  const auto done = [&] { return exact || testing::Test::HasFailure(); };
  const auto attempt = [&] {
    const Subject subject(
        *this, {.sample_freq = 1'000, .sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ});
    Ring ring(subject.event());
    subject.event().Enable();
    std::vector<Sample> samples;
    std::size_t checked = 2;
    // A worker executes the events one by one, and takes long for all steps.
    for (int step = 0; step < 20 && !done(); ++step) {
      Pulse(subject.spec(), 500);
      std::ranges::move(ring.Drain().samples, std::back_inserter(samples));
      for (; checked < samples.size(); ++checked)
        check(samples[checked - 2], samples[checked - 1], samples[checked]);
    }
  };
  EXPECT_TRUE(RepeatUntil(attempt, done)) << rule::REC_010;
}

CONFORMANCE_CASE(Sampling, IdleTicksLeaveThePeriodAlone, .rules = {rule::SMP_018},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kFrequency}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] =
      Sampler(spec, {.sample_freq = kFaster, .sample_type = PERF_SAMPLE_PERIOD}, 1);
  for (int i = 0; i < 3; ++i) {
    BusyWait(0.02);
    target().Stimulate(spec, 2 * target().min_period());
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 2u);
    EXPECT_EQ(got.PeriodSum(), 2 * target().min_period());
  }
}

// Each overflow and each tick corrects an eighth of the error. The last steps correct less than one
// event, and must not be rounded to nothing.
CONFORMANCE_CASE(Sampling, PeriodShrinksToTheShortest, .rules = {rule::SMP_004, rule::SMP_019},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kFrequency},
                 .budget_s = 30,
                 .timing = "waits until a low frequency has lengthened the period, at most 5 s",
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_freq = 100, .sample_type = PERF_SAMPLE_PERIOD});
  const Event& event = subject.event();
  Ring ring(event);
  event.Enable();
  std::uint64_t period = 0;
  const auto step = [&](std::uint64_t events) {
    Pulse(subject.spec(), events);
    for (const Sample& sample : ring.Drain().samples) period = *sample.period;
  };
  ASSERT_TRUE(RepeatUntil([&] { step(10); }, [&] { return period >= 20; })) << rule::SMP_004;
  event.Period(kFaster);
  for (int i = 0; i < 2'000 && period > 1; ++i) step(1'000);
  EXPECT_EQ(period, 1u) << rule::SMP_019;
}

// The remainder of the old period is more than eight new ones when sixteen ticks have shortened the
// period. Then a tick must begin a new one.
CONFORMANCE_CASE(Sampling, TicksEndAPeriodThatIsFarTooLong, .rules = {rule::SMP_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kFrequency},
                 .budget_s = 30,
                 .timing = "waits until some 200 ticks have shortened the period, at most 5 s") {
  constexpr std::uint64_t kLong = 1'000'000'000;
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_freq = 1, .sample_type = PERF_SAMPLE_PERIOD});
  Ring ring(event);
  event.Enable();
  std::uint64_t period = 0;
  for (int i = 0; i < 1'000 && period < kLong; ++i) {
    Pulse(spec, 10 * kLong);
    for (const Sample& sample : ring.Drain().samples) period = *sample.period;
  }
  ASSERT_GE(period, kLong);
  event.Period(kFaster);
  std::size_t samples = 0;
  EXPECT_TRUE(RepeatUntil([&] { Pulse(spec, 1); },
                          [&] { return (samples += ring.Drain().samples.size()) > 0; }));
}

}  // namespace
}  // namespace pmuconf
