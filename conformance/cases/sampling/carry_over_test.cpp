// SPDX-License-Identifier: Apache-2.0
// An unfinished period: it survives descheduling, and a new period drops it.
#include "cases/subject.h"
#include "harness/case.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "rules/SMP.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Sampling, UnfinishedPeriodSurvivesDisabling,
                 .rules = {rule::SMP_011, rule::SMP_001}, .needs = {Cap::kStimulus, Cap::kSampling},
                 .budget_s = 30,
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, {.sample_period = 1'000});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  std::uint64_t counted = 0;
  std::size_t samples = 0;
  for (const std::uint64_t n : {70, 1, 929, 999, 2, 1'500, 499, 0, 1, 3'000}) {
    event.Enable();
    Pulse(spec, n);
    event.Disable();
    Pulse(spec, 333);
    counted += n;
    samples += ring.Drain().samples.size();
    EXPECT_EQ(samples, counted / 1'000) << "after " << counted << ": " << rule::SMP_011;
  }
  EXPECT_THAT(event.Read(), Counted(spec, counted));
}

// The event is disabled and enabled when a single event of the period remains.
CONFORMANCE_CASE(Sampling, RemainderBelowMinimumStillOverflows,
                 .rules = {rule::SMP_020, rule::SMP_011},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const std::uint64_t shortest = target().min_period();
  const std::uint64_t period = 10 * shortest;
  const auto check = [&](const EventSpec& spec, const Event& event) {
    Ring ring(event, 1);
    event.Enable();
    Pulse(spec, period - 1);
    event.Disable();
    event.Enable();
    EXPECT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_011;
    Pulse(spec, shortest);
    EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::SMP_020;
    Pulse(spec, period - shortest);
    EXPECT_EQ(ring.Drain().samples.size(), 0u) << "too early: " << rule::SMP_020;
    Pulse(spec, 1);
    EXPECT_EQ(ring.Drain().samples.size(), 1u) << "too late: " << rule::SMP_020;
    EXPECT_THAT(event.Read(), Counted(spec, 2 * period));
  };
  {
    const Subject subject(*this, {.sample_period = period});
    check(subject.spec(), subject.event());
  }
  if (!target().Claims(Cap::kConstraints)) return;
  for (const EventSpec& spec : target().Events({.constrained = true})) {
    check(spec, Open(spec, {.sample_period = period}));
  }
}

CONFORMANCE_CASE(Sampling, UnfinishedLongPeriodSurvivesDisabling,
                 .rules = {rule::SMP_011, rule::SMP_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kLongPeriods},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const std::uint64_t period = 4 * (target().counter_mask() + 1) + 9;
  const Subject subject(*this, {.sample_period = period});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  for (int i = 0; i < 3; ++i) {
    event.Enable();
    target().Stimulate(spec, period / 4);
    event.Disable();
  }
  event.Enable();
  target().Stimulate(spec, period - 3 * (period / 4) - 1);
  EXPECT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_011;
  target().Stimulate(spec, 1);
  EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::SMP_011;
  EXPECT_THAT(event.Read(), Counted(spec, period));
}

CONFORMANCE_CASE(Sampling, UnfinishedPeriodSurvivesMigration, .rules = {rule::SMP_011},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kCpus2},
                 .over = {Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, {.sample_period = 100});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  for (std::size_t i = 0; i < 10; ++i) {
    PinTo(target().Cpu(i % 2));
    Pulse(spec, 35);
  }
  EXPECT_EQ(ring.Drain().samples.size(), 3u);
  const std::uint64_t last = target().min_period();  // the driver may lengthen a shorter period
  Pulse(spec, 50 - last);
  EXPECT_EQ(ring.Drain().samples.size(), 0u);
  Pulse(spec, last);
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  EXPECT_THAT(event.Read(), Counted(spec, 400));
}

CONFORMANCE_CASE(Sampling, UnfinishedPeriodSurvivesContextSwitches, .rules = {rule::SMP_011},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kAnyTask},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_period = 100});
  const EventSpec& spec = subject.spec();
  const Event& event = subject.event();
  Ring ring(event, 1);
  event.Enable();
  for (int i = 0; i < 5; ++i) {
    target().Stimulate(spec, 30);
    Child other([&spec] {
      target().Stimulate(spec, 777);
      return 0;
    });
    ASSERT_EQ(other.Run(), 0);
  }
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  target().Stimulate(spec, 50);
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  EXPECT_THAT(event.Read(), Counted(spec, 200));
}

CONFORMANCE_CASE(Sampling, FirstPeriodIsComplete, .rules = {rule::SMP_017},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  for (const std::uint64_t before : {1, 99, 700, 1'000'000}) {
    {
      std::vector<Event> old;
      for (const EventSpec& spec : specs) {
        old.push_back(Open(spec, {.sample_period = 1'000'001}));
        old.back().Enable();
        target().Stimulate(spec, before);
      }
    }
    auto [event, ring] = Sampler(specs.front(), {.sample_period = 100}, 1);
    target().Stimulate(specs.front(), 99);
    EXPECT_EQ(ring.Drain().samples.size(), 0u);
    target().Stimulate(specs.front(), 1);
    EXPECT_EQ(ring.Drain().samples.size(), 1u);
    EXPECT_THAT(event.Read(), Counted(specs.front(), 100));
  }
}

CONFORMANCE_CASE(Sampling, NewPeriodIsComplete, .rules = {rule::SMP_017, rule::REC_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kSingleEvents},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, {.sample_period = 1'000, .sample_type = PERF_SAMPLE_PERIOD});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  std::uint64_t total = 0;
  for (const bool running : {true, false}) {
    for (const std::uint64_t period : {500, 7, 5'000, 1, 300'000}) {
      SCOPED_TRACE(testing::Message() << (running ? "running, " : "stopped, ") << period);
      event.Period(1'000);
      event.Enable();
      Pulse(spec, 600);
      if (!running) event.Disable();
      event.Period(period);
      if (!running) event.Enable();
      Pulse(spec, period - 1);
      EXPECT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_017;
      Pulse(spec, 1);
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 1u) << rule::SMP_017;
      EXPECT_EQ(got.samples[0].period, period) << rule::REC_010;
      total += 600 + period;
      EXPECT_THAT(event.Read(), Counted(spec, total));
    }
  }
}

CONFORMANCE_CASE(Sampling, PeriodsOfAllLengthsAddUpToTheCount, .rules = {rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const Subject subject(*this, {.sample_period = 1, .sample_type = PERF_SAMPLE_PERIOD});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 8);
  event.Enable();
  for (std::uint64_t period = 1; period <= 1ull << 40; period = period * 5 + 1) {
    event.Period(period);
    target().Stimulate(spec, 3 * period);
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 3u);
    EXPECT_EQ(got.PeriodSum(), 3 * period);
  }
}

CONFORMANCE_CASE(Sampling, RefreshOfAnInheritedEventIsRefused, .rules = {rule::SMP_015},
                 .needs = {Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event inherited = Open(spec, {.sample_period = 10, .inherit = true});
  EXPECT_THAT(inherited.TryRefresh(1), FailsWith(EINVAL));
  const Event own = Open(spec, {.sample_period = 10});
  EXPECT_THAT(own.TryRefresh(1), Succeeds());
}

}  // namespace
}  // namespace pmuconf
