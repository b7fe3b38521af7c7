// SPDX-License-Identifier: Apache-2.0
// PERF_EVENT_IOC_PERIOD: the next overflow occurs after exactly the new period.
#include "cases/common.h"
#include "cases/subject.h"
#include "perf/ring.h"
#include "rules/CTL.h"
#include "rules/REC.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

void ExpectOverflowAfter(const EventSpec& spec, Ring& ring, std::uint64_t period) {
  Pulse(spec, period - 1);
  EXPECT_EQ(ring.Drain().samples.size(), 0u) << period;
  Pulse(spec, 1);
  EXPECT_EQ(ring.Drain().samples.size(), 1u) << period;
}

CONFORMANCE_CASE(Control, NewPeriodTakesEffectAtOnce, .rules = {rule::CTL_015},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Left>(), Over<dim::Scope>(), Over<dim::Member>(),
                          Over<dim::Counter>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const auto done = [this](std::uint64_t period) {
    switch (At<dim::Left>()) {
      case dim::Left::kFull:
        return std::uint64_t{0};
      case dim::Left::kPart:
        return period * 3 / 8;
      case dim::Left::kOne:
        break;
    }
    return period - 1;
  };
  const Subject subject(*this, {.sample_period = 1'000});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  Pulse(spec, done(1'000));
  event.Period(400);
  ExpectOverflowAfter(spec, ring, 400);
  ExpectOverflowAfter(spec, ring, 400);
  Pulse(spec, done(400));
  event.Disable();
  event.Period(70'000'000'000);
  event.Enable();
  ExpectOverflowAfter(spec, ring, 70'000'000'000);
  event.Period(100);
  ExpectOverflowAfter(spec, ring, 100);
  EXPECT_THAT(event.Read(),
              Counted(spec, done(1'000) + 400 + 400 + done(400) + 70'000'000'000 + 100));
}

// The counters that only some events can use.
CONFORMANCE_CASE(Control, NewPeriodTakesEffectOnEachCounter, .rules = {rule::CTL_015},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  for (const EventSpec& spec : target().Events()) {
    auto [event, ring] = Sampler(spec, {.sample_period = 1'000}, 1);
    Pulse(spec, 999);
    event.Period(400);
    ExpectOverflowAfter(spec, ring, 400);
    EXPECT_THAT(event.Read(), Counted(spec, 999 + 400));
  }
}

// Disables and enables the event in the middle of the first period of the new length.
CONFORMANCE_CASE(Control, SampleAfterStopReportsNewPeriod, .rules = {rule::CTL_015, rule::REC_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, {.sample_period = 1'000, .sample_type = PERF_SAMPLE_PERIOD});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  Pulse(spec, 2'500);
  event.Period(400);
  Pulse(spec, 100);
  event.Disable();
  event.Enable();
  Pulse(spec, 700);
  const std::vector<Sample> samples = ring.Drain().samples;
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[2].period, 400u) << rule::REC_010;
  EXPECT_EQ(samples[3].period, 400u) << rule::REC_010;
}

CONFORMANCE_CASE(Control, BadPeriodsAreRefusedAndTheOldOneStays,
                 .rules = {rule::CTL_016, rule::CTL_018}, .needs = {Cap::kStimulus, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_period = 500});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  Pulse(spec, 120);
  EXPECT_THAT(event.TryPeriod(0), FailsWith(EINVAL)) << rule::CTL_016;
  EXPECT_THAT(event.TryPeriod(std::uint64_t{1} << 63), FailsWith(EINVAL)) << rule::CTL_016;
  EXPECT_THAT(event.TryPeriod(target().min_period() - 1), FailsWith(EINVAL)) << rule::CTL_018;
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_PERIOD, 1), FailsWith(EFAULT)) << rule::CTL_016;
  Pulse(spec, 380);
  EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::CTL_018;
  EXPECT_THAT(event.TryPeriod(target().min_period()), Succeeds()) << rule::CTL_018;
}

CONFORMANCE_CASE(Control, CountingEventHasNoPeriod, .rules = {rule::CTL_016},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  EXPECT_THAT(event.TryPeriod(1'000), FailsWith(EINVAL));
  Pulse(spec, 3'000);
  EXPECT_THAT(event.Read(), Counted(spec, 3'000));
}

CONFORMANCE_CASE(Control, EveryPermittedFrequencyIsTaken, .rules = {rule::CTL_031},
                 .needs = {Cap::kSampling, Cap::kFrequency},
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_freq = 1'000});
  const Event& event = subject.event();
  for (const bool enabled : {false, true}) {
    if (enabled) event.Enable();
    for (const std::uint64_t frequency :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{31}, SampleRateLimit::kNoLimit}) {
      EXPECT_THAT(event.TryPeriod(frequency), Succeeds()) << frequency;
    }
    EXPECT_THAT(event.TryPeriod(SampleRateLimit::kNoLimit + 1), FailsWith(EINVAL));
  }
}

}  // namespace
}  // namespace pmuconf
