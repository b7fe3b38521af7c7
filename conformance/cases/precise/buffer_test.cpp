// SPDX-License-Identifier: Apache-2.0
// Records in a buffer: none is lost or doubled, and the count is exact while records are pending.
#include "cases/common.h"
#include "cases/precise/precise.h"
#include "cases/subject.h"
#include "rules/PRC.h"
#include "rules/SMP.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kRecordBuffer = 1ull << 62;  // the bit of the buffer in the global status

CONFORMANCE_CASE(Precise, SamplesEqualCountDividedByPeriod, .rules = {rule::PRC_003, rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    for (const std::uint64_t period : {1, 2, 7, 1'000, 65'537}) {
      SCOPED_TRACE(testing::Message()
                   << "sample_type 0x" << std::hex << type << std::dec << ", period " << period);
      auto [event, ring] = Sampler(spec, Precise(period, type));
      target().Stimulate(spec, 41 * period + period / 2);
      event.Disable();
      const RingContents got = ring.Drain();
      EXPECT_EQ(got.samples.size(), 41u) << rule::PRC_003;
      EXPECT_EQ(got.PeriodSum(), 41 * period) << rule::SMP_005;
      EXPECT_THAT(event.Read(), Counted(spec, 41 * period + period / 2)) << rule::PRC_003;
    }
  }
}

CONFORMANCE_CASE(Precise, RecordsBeyondBufferSizeAreKept, .rules = {rule::PRC_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, Precise(2, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD), 512);
  for (std::uint64_t i = 0; i < 20; ++i) target().Stimulate(spec, 801, {.ip = 0x400000 + i});
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 8'010u);
  EXPECT_THAT(event.Read(), Counted(spec, 16'020));
  for (std::size_t i = 0; i < got.samples.size(); ++i) {
    ASSERT_EQ(got.samples[i].ip, 0x400000 + (2 * i + 1) / 801) << i;
  }
}

CONFORMANCE_CASE(Precise, CountIsExactBetweenRecords, .rules = {rule::PRC_008},
                 .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    const Subject subject(*this, Precise(10, type));
    const auto [spec, event] = subject.Parts();
    Ring ring(event);
    event.Enable();
    std::uint64_t total = 0;
    for (const std::uint64_t n : {1, 8, 1, 1, 25, 9, 10, 130, 3}) {
      Pulse(spec, n);
      total += n;
      EXPECT_THAT(event.Read(), Counted(spec, total));
      EXPECT_THAT(event.Read(), Counted(spec, total));
    }
    event.Disable();
    EXPECT_EQ(ring.Drain().samples.size(), total / 10) << rule::PRC_003;
  }
}

CONFORMANCE_CASE(Precise, PartOfAPeriodIsKeptWhenTheEventStops,
                 .rules = {rule::PRC_009, rule::PRC_003}, .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    const Subject subject(*this, Precise(100, type));
    const auto [spec, event] = subject.Parts();
    Ring ring(event);
    std::size_t samples = 0;
    for (std::uint64_t i = 1; i <= 4; ++i) {
      event.Enable();
      Pulse(spec, 130);
      event.Disable();
      samples += ring.Drain().samples.size();
      EXPECT_EQ(samples, 130 * i / 100) << rule::PRC_009;
      EXPECT_THAT(event.Read(), Counted(spec, 130 * i)) << rule::PRC_008;
    }
  }
}

CONFORMANCE_CASE(Precise, CloseDrainsPendingRecords, .rules = {rule::PRC_009},
                 .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Event sink = Open(Software(PERF_COUNT_SW_DUMMY),
                          {.sample_period = 1, .sample_type = kBuffered, .disabled = false});
  Ring ring(sink, 8);
  {
    Subject subject(*this, Precise(10));
    subject.event().SetOutput(sink);
    subject.event().Enable();
    Pulse(subject.spec(), 57);
    subject.mutable_event().Close();
    EXPECT_EQ(ring.Drain().samples.size(), 5u);
  }
  // The next event must not get any record or count of the closed one.
  const Subject next(*this, Precise(10));
  Ring next_ring(next.event(), 1);
  next.event().Enable();
  Pulse(next.spec(), 9);
  next.event().Disable();
  EXPECT_EQ(next_ring.Drain().samples.size(), 0u);
  EXPECT_THAT(next.event().Read(), Counted(next.spec(), 9));
}

CONFORMANCE_CASE(Precise, PlainEventSamplesAfterPreciseEvent,
                 .rules = {rule::PRC_009, rule::SMP_001}, .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  for (int i = 0; i < 2; ++i) {
    {
      const Event precise = Open(spec, Precise(10));
      precise.Enable();
      target().Stimulate(spec, 57);
    }
    auto [plain, ring] = Sampler(spec, {.sample_period = 10}, 1);
    target().Stimulate(spec, 35);
    EXPECT_EQ(ring.Drain().samples.size(), 3u) << rule::SMP_001;
    EXPECT_THAT(plain.Read(), Counted(spec, 35)) << rule::PRC_009;
  }
}

CONFORMANCE_CASE(Precise, OtherEventDrainsPendingRecords, .rules = {rule::PRC_009, rule::PRC_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  auto [plain, plain_ring] = Sampler(specs[0], Precise(5, PERF_SAMPLE_IP), 4);
  std::uint64_t total = 0;
  for (int i = 0; i < 4; ++i) {
    target().Stimulate(specs[0], 23, {.ip = 0x401000});
    // The records of this event are longer. The pending records have another layout.
    auto [rich, rich_ring] = Sampler(specs[1], Precise(5, kBuffered | PERF_SAMPLE_DATA_SRC), 1);
    target().Stimulate(specs[0], 23, {.ip = 0x401000});
    target().Stimulate(specs[1], 11, {.ip = 0x402000, .addr = 0x99, .source = 0x5});
    total += 46;
    rich.Disable();
    const RingContents got = rich_ring.Drain();
    EXPECT_EQ(got.samples.size(), 2u) << rule::PRC_007;
    for (const Sample& sample : got.samples) {
      EXPECT_EQ(sample.ip, 0x402000u) << rule::PRC_007;
      EXPECT_EQ(sample.addr, 0x99u) << rule::PRC_007;
      EXPECT_EQ(sample.data_src, 0x5u) << rule::PRC_007;
    }
  }
  plain.Disable();
  const RingContents got = plain_ring.Drain();
  EXPECT_EQ(got.samples.size(), total / 5) << rule::PRC_009;
  for (const Sample& sample : got.samples) EXPECT_EQ(sample.ip, 0x401000u) << rule::PRC_009;
  EXPECT_THAT(plain.Read(), Counted(specs[0], total)) << rule::PRC_008;
}

CONFORMANCE_CASE(Precise, AllCountersArePreciseAtOnce, .rules = {rule::PRC_007},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kPrecise, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  std::vector<Event> events;
  std::vector<Ring> rings;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    events.push_back(Open(specs[i], Precise(10 + i, i % 2 ? kUnbuffered : kBuffered)));
    rings.emplace_back(events.back(), 8);
  }
  EnableEach(events);
  const std::vector<std::uint64_t> want = PulseEach(specs, 500);
  DisableEach(events);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    SCOPED_TRACE(i);
    const RingContents got = rings[i].Drain();
    EXPECT_EQ(got.samples.size(), want[i] / (10 + i));
    EXPECT_EQ(got.PeriodSum(), want[i] / (10 + i) * (10 + i));
    EXPECT_THAT(events[i].Read(), Counted(specs[i], want[i])) << rule::PRC_008;
  }
}

CONFORMANCE_CASE(Precise, OneEventEndsSeveralPeriods, .rules = {rule::PRC_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  std::vector<Event> events;
  std::vector<Ring> rings;
  for (unsigned i = 0; i < target().general(); ++i) {
    events.push_back(Open(spec, Precise(6)));
    rings.emplace_back(events.back(), 1);
  }
  EnableEach(events);
  for (std::uint64_t i = 1; i <= 18; ++i) target().Stimulate(spec, 1, {.ip = 0x400000 + i});
  DisableEach(events);
  // The events were enabled one after the other, but no pulse happened meanwhile. So all of them
  // count the same pulses.
  for (Ring& ring : rings) {
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(got.samples[i].ip, 0x400000 + 6 * (i + 1));
    }
  }
}

CONFORMANCE_CASE(Precise, ConcurrentPlainEventsStayExact, .rules = {rule::PRC_007, rule::SMP_008},
                 .needs = {Cap::kStimulus, Cap::kPrecise, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event counting = Open(spec);
  const Event sampling = Open(spec, {.sample_period = 9});
  const Event precise = Open(spec, Precise(7));
  Ring sampling_ring(sampling, 4);
  Ring precise_ring(precise, 4);
  counting.Enable();
  sampling.Enable();
  precise.Enable();
  target().Stimulate(spec, 1'000);
  precise.Disable();
  EXPECT_THAT(counting.Read(), Counted(spec, 1'000)) << rule::SMP_008;
  EXPECT_EQ(sampling_ring.Drain().samples.size(), 1'000u / 9) << rule::PRC_007;
  EXPECT_EQ(precise_ring.Drain().samples.size(), 1'000u / 7) << rule::PRC_007;
  EXPECT_THAT(precise.Read(), Counted(spec, 1'000)) << rule::PRC_008;
}

CONFORMANCE_CASE(Precise, SampleReadHoldsCountAtEvent, .rules = {rule::PRC_008, rule::SMP_006},
                 .needs = {Cap::kStimulus, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  const Subject subject(*this, Precise(25, PERF_SAMPLE_IP | PERF_SAMPLE_READ));
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 4);
  event.Enable();
  Pulse(spec, 260);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 10u) << rule::PRC_003;
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(got.samples[i].read->value, 25 * (i + 1)) << rule::SMP_006;
  }
}

CONFORMANCE_CASE(Precise, LateInterruptInventsNothing, .rules = {rule::PRC_011},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}) {
  const NoPreemption no_preemption;  // a context switch drains the buffer of records
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    SCOPED_TRACE(testing::Message() << "sample_type 0x" << std::hex << type);
    auto [event, ring] = Sampler(spec, PreciseOnCpu(10, type), 1024);
    HoldLine hold;
    for (std::uint64_t i = 0; i < 5; ++i) target().Stimulate(spec, 10'000, {.ip = 0x400000 + i});
    hold.Release();
    const RingContents late = ring.Drain();
    EXPECT_GE(late.samples.size(), 1u);
    EXPECT_LE(late.samples.size(), 5'000u);
    for (std::size_t i = 0; i < late.samples.size(); ++i) {
      ASSERT_EQ(late.samples[i].ip, 0x400000 + (10 * i + 9) / 10'000) << i;
    }
    // From here on the event must be as exact as before.
    const std::uint64_t before = event.Read().value;
    target().Stimulate(spec, 95, {.ip = 0x500000});
    event.Disable();
    const RingContents after = ring.Drain();
    EXPECT_THAT(after.samples.size(), testing::AnyOf(9u, 10u));
    for (const Sample& sample : after.samples) EXPECT_EQ(sample.ip, 0x500000u);
    EXPECT_EQ(event.Read().value - before, 95u);
    EXPECT_THAT(after.lost, testing::IsEmpty());
  }
}

CONFORMANCE_CASE(Precise, InterruptWithoutARecordIsHarmless, .rules = {rule::PRC_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  EXPECT_EQ(port().Inject(kRecordBuffer).runs, 1u);
  auto [event, ring] = Sampler(spec, Precise(10), 1);
  EXPECT_EQ(port().Inject(kRecordBuffer).runs, 1u);
  target().Stimulate(spec, 9);
  EXPECT_EQ(port().Inject(kRecordBuffer).runs, 1u);
  EXPECT_EQ(port().Inject(port().Stats().used).runs, 1u);
  EXPECT_EQ(ring.Drain().samples.size(), 0u);
  EXPECT_THAT(event.Read(), Counted(spec, 9));
  target().Stimulate(spec, 1);
  event.Disable();
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  // The driver must not take the old record, which is still in memory, for a new one.
  event.Enable();
  EXPECT_EQ(port().Inject(kRecordBuffer).runs, 1u);
  EXPECT_EQ(ring.Drain().samples.size(), 0u);
  EXPECT_THAT(event.Read(), Counted(spec, 10));
}

CONFORMANCE_CASE(Precise, PeriodBeyondTheCounterGivesOneSample,
                 .rules = {rule::PRC_003, rule::SMP_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kLongPeriods}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t half = (target().counter_mask() >> 1) + 1;
  // kUnbuffered comes first. If a driver shortens the period, these samples reveal it before the
  // device has written as many records as there are events.
  for (const std::uint64_t type : {kUnbuffered, kBuffered}) {
    for (const std::uint64_t period : {half - 1, half, half + 1, 2 * half + 12'345}) {
      SCOPED_TRACE(testing::Message() << period << ", sample_type 0x" << std::hex << type);
      auto [event, ring] = Sampler(spec, Precise(period, type), 1);
      target().Stimulate(spec, 20'000, {.ip = 0x401000});
      ASSERT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_003;
      target().Stimulate(spec, period - 20'001, {.ip = 0x401000});
      ASSERT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_003;
      target().Stimulate(spec, 1, {.ip = 0x402000});
      target().Stimulate(spec, 17, {.ip = 0x403000});
      event.Disable();
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 1u) << rule::SMP_003;
      EXPECT_EQ(got.samples[0].ip, 0x402000u) << rule::PRC_002;
      EXPECT_EQ(got.samples[0].period, period) << rule::SMP_005;
      EXPECT_THAT(event.Read(), Counted(spec, period + 17)) << rule::PRC_008;
    }
  }
}

}  // namespace
}  // namespace pmuconf
