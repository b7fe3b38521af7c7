// SPDX-License-Identifier: Apache-2.0
// Control of precise events: overflow limits, new periods, frequency, throttling, and context
// switches.
#include "cases/common.h"
#include "cases/precise/precise.h"
#include "cases/subject.h"
#include "rules/PRC.h"
#include "rules/SMP.h"
#include "rules/THR.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Precise, RefreshLimitsPreciseSamples, .rules = {rule::PRC_012},
                 .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    const Subject subject(*this, Precise(10, type));
    const auto [spec, event] = subject.Parts();
    Ring ring(event, 4);
    for (int limit : {1, 3}) {
      event.Refresh(limit);
      Pulse(spec, 200);
      EXPECT_EQ(ring.Drain().samples.size(), static_cast<std::size_t>(limit));
    }
  }
}

CONFORMANCE_CASE(Precise, NewPeriodBeginsAtOnce, .rules = {rule::PRC_012},
                 .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    SCOPED_TRACE(testing::Message() << "sample_type 0x" << std::hex << type);
    const Subject subject(*this, Precise(10, type));
    const auto [spec, event] = subject.Parts();
    Ring ring(event, 4);
    event.Enable();
    std::vector<std::uint64_t> want;
    std::uint64_t total = 0;
    for (const std::uint64_t period : {10, 100, 3, 64}) {
      event.Period(period);
      Pulse(spec, 5 * period + 2);
      total += 5 * period + 2;
      for (int i = 0; i < 5; ++i) want.push_back(period);
      EXPECT_THAT(event.Read(), Counted(spec, total)) << rule::PRC_008;
    }
    event.Disable();
    const RingContents got = ring.Drain();
    std::vector<std::uint64_t> periods;
    for (const Sample& sample : got.samples) periods.push_back(*sample.period);
    EXPECT_EQ(periods, want);
  }
}

CONFORMANCE_CASE(Precise, FrequencyStartsWithPeriodOne, .rules = {rule::PRC_012, rule::SMP_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kFrequency}) {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = Precise(0, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
  options.sample_freq = 1'000;
  auto [event, ring] = Sampler(spec, options);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    target().Stimulate(spec, 1 + i, {.ip = 0x401000});
    total += 1 + i;
  }
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_GE(got.samples.size(), 2u);
  EXPECT_EQ(got.samples[0].period, 1u) << rule::SMP_004;
  for (const Sample& sample : got.samples) EXPECT_EQ(sample.ip, 0x401000u) << rule::PRC_012;
  EXPECT_LE(got.PeriodSum(), total) << rule::PRC_012;
  EXPECT_THAT(event.Read(), Counted(spec, total)) << rule::PRC_012;
}

// Events in immediate succession have a far higher rate than one per second.
CONFORMANCE_CASE(Precise, FrequencyRaisesThePeriod, .rules = {rule::PRC_012, rule::SMP_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kFrequency},
                 .timing =
                     "waits for nothing: the kernel raises the period at an overflow within two "
                     "ticks of the previous one; one of 3000 overflows is not delayed longer") {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = Precise(0, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
  options.sample_freq = 1;
  auto [event, ring] = Sampler(spec, options, 64);
  target().Stimulate(spec, 3'000);
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_LT(got.samples.size(), 3'000u) << rule::SMP_004;
  EXPECT_LE(got.PeriodSum(), 3'000u) << rule::PRC_012;
  EXPECT_THAT(event.Read(), Counted(spec, 3'000)) << rule::PRC_012;
}

CONFORMANCE_CASE(Precise, ThrottledEventResumes, .rules = {rule::PRC_012},
                 .needs = {Cap::kStimulus, Cap::kPrecise}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Precise(1, kUnbuffered));
  Ring ring(event, 512);
  const SampleRateLimit limit(1'000);
  event.Enable();
  std::size_t samples = 0;
  std::size_t throttles = 0;
  std::uint64_t total = 0;
  EXPECT_TRUE(RepeatUntil(
      [&] {
        target().Stimulate(spec, 10);
        total += 10;
        const RingContents got = ring.Drain();
        samples += got.samples.size();
        throttles += got.throttles.size();
      },
      [&] { return throttles >= 4; }))
      << throttles << " throttle records";
  event.Disable();
  samples += ring.Drain().samples.size();
  EXPECT_GE(samples, 1u);
  EXPECT_EQ(event.Read().value, samples) << "of " << total;
}

CONFORMANCE_CASE(Precise, ThrottledEventGivesNoSample, .rules = {rule::PRC_012, rule::THR_001},
                 .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const Subject subject(*this, Precise(1, kUnbuffered));
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 512);
  subject.ShareBuffer();
  const SampleRateLimit limit(1);
  event.Enable();
  target().Stimulate(spec, 200);
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_FALSE(got.throttles.empty()) << rule::THR_001;
  bool throttled = false;
  int samples = 0;
  for (const std::uint32_t type : got.order) {
    if (type == PERF_RECORD_THROTTLE) samples = 0;
    if (type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE) {
      throttled = type == PERF_RECORD_THROTTLE;
    } else if (throttled && type == PERF_RECORD_SAMPLE) {
      // The sample of the overflow that exceeded the limit follows the throttle record.
      EXPECT_EQ(++samples, 1) << rule::PRC_012;
    }
  }
}

constexpr std::uint64_t kOwnIp = 0x401000;
constexpr std::uint64_t kChildIp = 0x402000;

// Generates 20 times `n` events in this task before `child` runs, while it runs, and afterwards.
void StimulateAround(const EventSpec& spec, std::uint64_t n, Child& child) {
  const auto stimulate = [&] {
    for (int i = 0; i < 20; ++i) target().Stimulate(spec, n, {.ip = kOwnIp});
  };
  stimulate();
  child.Go();
  stimulate();
  ASSERT_EQ(child.Wait(), 0);
  stimulate();
}

// One round is not enough. For a second after the last event of a task was closed, perf calls the
// driver at each context switch, even if the driver did not request that.
CONFORMANCE_CASE(Precise, RecordsBelongToTheTaskThatMadeThem, .rules = {rule::PRC_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise},
                 .timing =
                     "repeats for 1.5 s: perf keeps its context switch hooks for HZ jiffies (1 s) "
                     "after the events of earlier cases; a slow machine only ends later") {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, PreciseOnCpu(10), 16);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  do {
    Child child([&spec] {
      for (int i = 0; i < 20; ++i) target().Stimulate(spec, 30, {.ip = kChildIp});
      return 0;
    });
    const auto child_tid = static_cast<std::uint32_t>(child.pid());
    StimulateAround(spec, 30, child);
    event.Disable();
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 80u * 3) << rule::PRC_003;
    std::size_t of_child = 0;
    for (const Sample& sample : got.samples) {
      const bool is_child = sample.ip == kChildIp;
      of_child += is_child;
      EXPECT_EQ(*sample.tid, is_child ? child_tid : static_cast<std::uint32_t>(getpid()));
    }
    EXPECT_EQ(of_child, 20u * 3);
    event.Enable();
  } while (!testing::Test::HasFailure() && std::chrono::steady_clock::now() < until);
}

CONFORMANCE_CASE(Precise, TasksKeepTheirRecordsApart, .rules = {rule::PRC_010, rule::PRC_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  Child child([&spec] {
    for (int i = 0; i < 20; ++i) target().Stimulate(spec, 37, {.ip = kChildIp});
    return 0;
  });
  OpenOptions options = Precise(10);
  const Event own = Open(spec, options);
  options.pid = child.pid();
  const Event other = Open(spec, options);
  Ring own_ring(own, 8);
  Ring other_ring(other, 8);
  own.Enable();
  other.Enable();
  const auto child_tid = static_cast<std::uint32_t>(child.pid());
  StimulateAround(spec, 37, child);
  own.Disable();
  const RingContents of_own = own_ring.Drain();
  const RingContents of_other = other_ring.Drain();
  EXPECT_EQ(of_own.samples.size(), 60u * 37 / 10) << rule::PRC_009;
  EXPECT_EQ(of_other.samples.size(), 20u * 37 / 10) << rule::PRC_009;
  for (const Sample& sample : of_own.samples) EXPECT_EQ(sample.ip, kOwnIp);
  for (const Sample& sample : of_other.samples) {
    EXPECT_EQ(sample.ip, kChildIp) << rule::PRC_010;
    EXPECT_EQ(sample.tid, child_tid) << rule::PRC_010;
  }
  EXPECT_THAT(own.Read(), Counted(spec, 60 * 37)) << rule::PRC_008;
  EXPECT_THAT(other.Read(), Counted(spec, 20 * 37)) << rule::PRC_008;
}

// The events of another PMU bring a context of the task to each switch. That must not hide the
// event of the CPU from perf.
CONFORMANCE_CASE(Precise, RecordsBelongToTheirTaskNextToSoftwareEvents, .rules = {rule::PRC_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, PreciseOnCpu(10), 16);
  const Event own = Open(Software(PERF_COUNT_SW_DUMMY), {.disabled = false});
  Child child([&spec] {
    const Event of_child = Open(Software(PERF_COUNT_SW_DUMMY), {.disabled = false});
    for (int i = 0; i < 20; ++i) target().Stimulate(spec, 30, {.ip = kChildIp});
    return 0;
  });
  const auto child_tid = static_cast<std::uint32_t>(child.pid());
  StimulateAround(spec, 30, child);
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 80u * 3) << rule::PRC_003;
  for (const Sample& sample : got.samples) {
    EXPECT_EQ(*sample.tid,
              sample.ip == kChildIp ? child_tid : static_cast<std::uint32_t>(getpid()));
  }
}

}  // namespace
}  // namespace pmuconf
