// SPDX-License-Identifier: Apache-2.0
// Fixed periods: the number of samples, the time of each one, and the sum of their periods.
#include "cases/subject.h"
#include "harness/case.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "rules/SMP.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Sampling, SamplesEqualCountDividedByPeriod,
                 .rules = {rule::SMP_001, rule::SMP_005, rule::REC_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  for (const std::uint64_t period : {2, 7, 65'537}) {
    SCOPED_TRACE(period);
    const Subject subject(*this, {.sample_period = period, .sample_type = PERF_SAMPLE_PERIOD});
    const auto [spec, event] = subject.Parts();
    Ring ring(event, 4);
    event.Enable();
    Pulse(spec, 13 * period + period / 2);
    event.Disable();
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 13u) << rule::SMP_001;
    EXPECT_EQ(got.PeriodSum() + period / 2, event.Read().value) << rule::SMP_005;
    for (const Sample& sample : got.samples) {
      EXPECT_EQ(sample.period, period) << rule::REC_010;
    }
    EXPECT_THAT(got.lost, testing::IsEmpty());
  }
}

CONFORMANCE_CASE(Sampling, PeriodOneSamplesEveryEvent, .rules = {rule::SMP_002, rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, {.sample_period = 1, .sample_type = PERF_SAMPLE_PERIOD});
  const auto [spec, event] = subject.Parts();
  Ring ring(event);
  event.Enable();
  Pulse(spec, 1);
  EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::SMP_002;
  Pulse(spec, 300);
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 300u) << rule::SMP_002;
  EXPECT_EQ(got.PeriodSum(), 300u) << rule::SMP_005;
  EXPECT_THAT(event.Read(), Counted(spec, 301));
}

CONFORMANCE_CASE(Sampling, OverflowComesWithTheLastEventOfThePeriod, .rules = {rule::SMP_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  for (const std::uint64_t period : {2ull, 1'000ull, (1ull << 32) + 1}) {
    SCOPED_TRACE(period);
    const Subject subject(*this, {.sample_period = period});
    const auto [spec, event] = subject.Parts();
    Ring ring(event, 1);
    event.Enable();
    for (int i = 0; i < 2; ++i) {
      Pulse(spec, period - 1);
      EXPECT_EQ(ring.Drain().samples.size(), 0u) << "too early";
      Pulse(spec, 1);
      EXPECT_EQ(ring.Drain().samples.size(), 1u) << "missing";
    }
  }
}

// Periods around half of the counter's range, around all of it, and beyond.
std::vector<std::uint64_t> LongPeriods() {
  const std::uint64_t half = (target().counter_mask() >> 1) + 1;
  return {half - 1, half,         half + 1,          target().counter_mask(),
          2 * half, 2 * half + 1, 3 * half + 12'345, 8 * half + 7};
}

CONFORMANCE_CASE(Sampling, PeriodBeyondTheCounterGivesOneSample,
                 .rules = {rule::SMP_003, rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kLongPeriods},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  for (const std::uint64_t period : LongPeriods()) {
    SCOPED_TRACE(period);
    const Subject subject(*this, {.sample_period = period, .sample_type = PERF_SAMPLE_PERIOD});
    const auto [spec, event] = subject.Parts();
    Ring ring(event, 1);
    event.Enable();
    target().Stimulate(spec, period - 1);
    EXPECT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_003;
    target().Stimulate(spec, 1 + period + 17);
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 2u) << rule::SMP_003;
    EXPECT_EQ(got.PeriodSum() + 17, event.Read().value) << rule::SMP_005;
    EXPECT_THAT(event.Read(), Counted(spec, 2 * period + 17));
  }
}

CONFORMANCE_CASE(Sampling, PeriodZeroOnlyCounts, .rules = {rule::SMP_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 4);
  event.Enable();
  const std::uint64_t n = 3 * (target().counter_mask() + 1) + 11;
  target().Stimulate(spec, n);
  event.Disable();
  EXPECT_THAT(ring.DrainRaw(), testing::IsEmpty());
  EXPECT_THAT(event.Read(), Counted(spec, n));
}

CONFORMANCE_CASE(Sampling, ReadingIncludesTheUnfinishedPeriod, .rules = {rule::SMP_014},
                 .needs = {Cap::kStimulus, Cap::kSampling}, .budget_s = 30,
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>(),
                          Over<dim::Before>()}) {
  const Subject subject(*this, {.sample_period = 1'000});
  const auto [spec, event] = subject.Parts();
  event.Enable();
  std::uint64_t total = 0;
  for (const std::uint64_t n : {1, 998, 1, 1, 2'500, 498, 1, 1}) {
    Pulse(spec, n);
    total += n;
    EXPECT_THAT(event.Read(), Counted(spec, total));
  }
  event.Disable();
  EXPECT_THAT(event.Read(), Counted(spec, total));
}

CONFORMANCE_CASE(Sampling, ReadingsDoNotDisturbThePeriod, .rules = {rule::SMP_001, rule::SMP_014},
                 .needs = {Cap::kStimulus, Cap::kSampling},
                 .over = {Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, {.sample_period = 50});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 4);
  event.Enable();
  for (std::uint64_t total = 1; total <= 100; ++total) {
    Pulse(spec, 1);
    ASSERT_THAT(event.Read(), Counted(spec, total)) << rule::SMP_014;
  }
  EXPECT_EQ(ring.Drain().samples.size(), 2u) << rule::SMP_001;
}

CONFORMANCE_CASE(Sampling, SampleHoldsTheCountAtItsOverflow,
                 .rules = {rule::SMP_006, rule::REC_006}, .needs = {Cap::kStimulus, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, {.sample_period = 77,
                                .sample_type = PERF_SAMPLE_READ,
                                .read_format = kReadTimes | PERF_FORMAT_ID});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 8);
  event.Enable();
  Pulse(spec, 77 * 20);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 20u);
  for (std::size_t i = 0; i < got.samples.size(); ++i) {
    const Reading& reading = *got.samples[i].read;
    EXPECT_EQ(reading.value, 77 * (i + 1)) << rule::SMP_006;
    EXPECT_EQ(reading.id, event.Id()) << rule::REC_006;
    EXPECT_LE(reading.time_running, reading.time_enabled) << rule::REC_006;
  }
}

CONFORMANCE_CASE(Sampling, ExcludedKernelEventsGiveNoSample, .rules = {rule::SMP_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kExcludes},
                 .over = {Over<dim::Member>(), Over<dim::Counter>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const Subject subject(
      *this, {.sample_period = 10, .sample_type = PERF_SAMPLE_IP, .exclude_kernel = true});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  Pulse(spec, 9, {.privilege = Privilege::kUser, .ip = 0x401000});
  Pulse(spec, 25, {.privilege = Privilege::kKernel, .ip = ~0ull << 12});
  EXPECT_EQ(ring.Drain().samples.size(), 0u);
  Pulse(spec, 1, {.privilege = Privilege::kUser, .ip = 0x402000});
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  EXPECT_EQ(got.samples[0].ip, 0x402000u);
  EXPECT_THAT(event.Read(), Counted(spec, 10));
}

}  // namespace
}  // namespace pmuconf
