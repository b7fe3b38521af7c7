// SPDX-License-Identifier: Apache-2.0
// Interrupts that are late, that have no cause, or whose event is closed.
#include <fstream>

#include "cases/subject.h"
#include "harness/case.h"
#include "perf/ring.h"
#include "rules/DRC.h"
#include "rules/NMI.h"
#include "rules/SMP.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

constexpr std::uint32_t kGlobalStatus = 0x38e;
constexpr std::uint32_t kGlobalStatusSet = 0x391;

std::uint64_t FixedBit(unsigned i) { return 1ull << (32 + i); }

// A sampling event of this CPU. While the test holds the interrupt line, a context switch could
// remove an event of a task together with its overflow. An event of a CPU stays.
OpenOptions OfThisCpu(std::uint64_t period) {
  return {
      .pid = -1, .cpu = CurrentCpu(), .sample_period = period, .sample_type = PERF_SAMPLE_PERIOD};
}

// The overflow flags of all counters of the target.
std::uint64_t AllFlags() {
  return ((1ull << target().general()) - 1) | (((1ull << target().fixed()) - 1) << 32);
}

CONFORMANCE_CASE(Interrupt, SpuriousInterruptIsNotClaimed, .rules = {rule::NMI_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {.sample_period = 100}, 1);
  for (int i = 0; i < 3; ++i) {
    target().Stimulate(spec, 33);
    const InjectResult got = port().Inject(0);
    EXPECT_EQ(got.runs, 1u);
    EXPECT_EQ(got.claimed, 0u);
  }
  EXPECT_EQ(ring.Drain().samples.size(), 0u);
  target().Stimulate(spec, 1);
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  EXPECT_THAT(event.Read(), Counted(spec, 100));
}

CONFORMANCE_CASE(Interrupt, FlagOfAnUnusedCounterIsAcknowledged, .rules = {rule::NMI_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {.sample_period = 100}, 1);
  target().Stimulate(spec, 60);
  const std::uint64_t unused = AllFlags() & ~port().Stats().used;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((unused >> bit & 1) == 0) continue;
    SCOPED_TRACE(bit);
    EXPECT_EQ(port().Inject(1ull << bit).runs, 1u);
    EXPECT_EQ(port().ReadRegister(kGlobalStatus), 0u);
  }
  EXPECT_EQ(port().Inject(unused).runs, 1u);
  target().Stimulate(spec, 39);
  EXPECT_EQ(ring.Drain().samples.size(), 0u);
  target().Stimulate(spec, 1);
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  EXPECT_THAT(event.Read(), Counted(spec, 100));
}

CONFORMANCE_CASE(Interrupt, FlagsWithNoEventOpenAreHarmless, .rules = {rule::NMI_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kFixedCounters},
                 .over = {Over<dim::Cpu>()}) {
  for (const std::uint64_t flags : {std::uint64_t{1}, FixedBit(0), AllFlags()}) {
    EXPECT_EQ(port().Inject(flags).runs, 1u);
    EXPECT_EQ(port().ReadRegister(kGlobalStatus), 0u);
  }
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {.sample_period = 10}, 1);
  target().Stimulate(spec, 10);
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
}

CONFORMANCE_CASE(Interrupt, FlagOfAnUnusedCounterHidesNoOverflow, .rules = {rule::NMI_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  std::vector<Event> events;
  for (const EventSpec& spec : specs) events.push_back(Open(spec, OfThisCpu(100)));
  for (const Event& event : events) event.Enable();
  for (std::size_t i = 0; i + 1 < events.size(); ++i) events[i].Close();
  Ring ring(events.back(), 1);
  HoldLine hold;
  target().Stimulate(specs.back(), 100);
  port().WriteRegister(kGlobalStatusSet, AllFlags() & ~port().Stats().used);
  hold.Release();
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  EXPECT_EQ(port().ReadRegister(kGlobalStatus), 0u);
}

// With SysRq l the kernel sends an NMI to each other CPU. The driver must not take that NMI for a
// PMI.
CONFORMANCE_CASE(Interrupt, ForeignNmiIsIgnored, .rules = {rule::NMI_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const int cpu = CurrentCpu();
  for (const int other : OnlineCpus()) {
    if (other == cpu) continue;
    PinTo(other);
    const std::uint64_t before = port().Stats(cpu).pmi;
    std::ofstream request("/proc/sysrq-trigger");
    request << "l" << std::flush;
    if (!request.good()) throw Broken("/proc/sysrq-trigger cannot be written");
    EXPECT_EQ(port().Stats(cpu).pmi, before);
    return;
  }
  SkipCase(Cap::kCpus2, "there is no other CPU to ask from");
}

CONFORMANCE_CASE(Interrupt, EarlyFlagOfAUsedCounterGivesNoSample, .rules = {rule::NMI_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  std::vector<Event> events;
  std::vector<Ring> rings;
  for (const EventSpec& spec : specs) {
    events.push_back(Open(spec, {.sample_period = 1'000}));
    rings.emplace_back(events.back(), 1);
    events.back().Enable();
    target().Stimulate(spec, 400);
  }
  EXPECT_EQ(port().Inject(port().Stats().used).runs, 1u);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    target().Stimulate(specs[i], 599);
    EXPECT_EQ(rings[i].Drain().samples.size(), 0u);
    target().Stimulate(specs[i], 1);
    EXPECT_EQ(rings[i].Drain().samples.size(), 1u);
    EXPECT_THAT(events[i].Read(), Counted(specs[i], 1'000));
  }
}

CONFORMANCE_CASE(Interrupt, EachOverflowRunsTheHandlerOnce, .rules = {rule::NMI_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  std::vector<Event> events;
  for (const EventSpec& spec : specs) {
    events.push_back(Open(spec, {.sample_period = 10}));
    events.back().Enable();
  }
  for (const EventSpec& spec : specs) {
    const refpmu_stats before = port().Stats();
    target().Stimulate(spec, 50);
    EXPECT_EQ(port().Stats().pmi - before.pmi, 5u);
    EXPECT_EQ(port().Stats().pmi_claimed - before.pmi_claimed, 5u);
    EXPECT_EQ(port().ReadRegister(kGlobalStatus), 0u);
  }
}

CONFORMANCE_CASE(Interrupt, LateInterruptShortensTheNextPeriod, .rules = {rule::SMP_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kSingleEvents},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, OfThisCpu(1'000));
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  for (const std::uint64_t late : {0, 1, 300, 999}) {
    SCOPED_TRACE(late);
    HoldLine hold;
    Pulse(spec, 1'000 + late);
    EXPECT_EQ(ring.Drain().samples.size(), 0u);
    hold.Release();
    EXPECT_EQ(ring.Drain().samples.size(), 1u);
    if (late != 999) Pulse(spec, 999 - late);
    EXPECT_EQ(ring.Drain().samples.size(), 0u);
    Pulse(spec, 1);
    EXPECT_EQ(ring.Drain().samples.size(), 1u);
  }
  EXPECT_THAT(event.Read(), Counted(spec, 8'000));
}

CONFORMANCE_CASE(Interrupt, SkidIsCarriedOver, .rules = {rule::SMP_001, rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  for (const std::uint32_t skid : {1, 5, 40}) {
    const Subject subject(*this, {.sample_period = 64, .sample_type = PERF_SAMPLE_PERIOD});
    const auto [spec, event] = subject.Parts();
    Ring ring(event, 2);
    event.Enable();
    Pulse(spec, 64 * 10, {.skid = skid});
    Pulse(spec, 63);
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 10u) << rule::SMP_001;
    EXPECT_EQ(got.PeriodSum() + 63, event.Read().value) << rule::SMP_005;
  }
}

CONFORMANCE_CASE(Interrupt, LateInterruptOfALongPeriodLosesNothing,
                 .rules = {rule::SMP_003, rule::SMP_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kLongPeriods}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t range = target().counter_mask() + 1;
  for (const std::uint64_t period : {range / 2 - 1, range / 2, range - 10, range, 2 * range + 7}) {
    for (const std::uint64_t late : {std::uint64_t{20}, range / 4}) {
      SCOPED_TRACE(testing::Message() << "period " << period << ", late by " << late);
      auto [event, ring] = Sampler(spec, OfThisCpu(period), 1);
      target().Stimulate(spec, period - 5);
      HoldLine hold;
      target().Stimulate(spec, 5 + late);
      hold.Release();
      EXPECT_THAT(event.Read(), Counted(spec, period + late)) << rule::SMP_005;
      EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::SMP_003;
      target().Stimulate(spec, period - late - 1);
      EXPECT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_003;
      target().Stimulate(spec, 1);
      EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::SMP_003;
    }
  }
}

CONFORMANCE_CASE(Interrupt, ReadingBeforeTheInterruptCountsOnce,
                 .rules = {rule::SMP_014, rule::SMP_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, OfThisCpu(100));
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  for (std::uint64_t i = 1; i <= 4; ++i) {
    HoldLine hold;
    Pulse(spec, 100);
    EXPECT_THAT(event.Read(), Counted(spec, 100 * i)) << rule::SMP_014;
    EXPECT_THAT(event.Read(), Counted(spec, 100 * i)) << rule::SMP_014;
    hold.Release();
    EXPECT_THAT(event.Read(), Counted(spec, 100 * i)) << rule::SMP_014;
    EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::SMP_001;
  }
}

CONFORMANCE_CASE(Interrupt, LateInterruptShowsUserOnlyEventsNoKernelAddress,
                 .rules = {rule::SMP_007, rule::DRC_078},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kExcludes},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>()}) {
  constexpr std::uint64_t kKernelHalf = 1ull << 63;
  OpenOptions options = OfThisCpu(10);
  options.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
  options.exclude_kernel = true;
  const Subject subject(*this, options);
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  event.Enable();
  HoldLine hold;
  target().Stimulate(spec, 10, {.privilege = Privilege::kUser, .ip = 0x401000});
  target().Stimulate(spec, 1,
                     {.privilege = Privilege::kKernel,
                      .ip = 0xffff'ffff'8123'4567,
                      .addr = 0xffff'8880'1234'5678});
  hold.Release();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u) << rule::SMP_007;
  EXPECT_LT(got.samples[0].ip, kKernelHalf) << rule::SMP_007;
  EXPECT_LT(got.samples[0].addr, kKernelHalf) << rule::DRC_078;
  EXPECT_EQ(got.samples[0].misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER)
      << rule::SMP_007;
}

CONFORMANCE_CASE(Interrupt, PendingOverflowOfAStoppedEventIsHandledAtMostOnce,
                 .rules = {rule::NMI_005}, .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>(), Over<dim::Counter>()}) {
  const Subject subject(*this, OfThisCpu(100));
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  for (int i = 0; i < 3; ++i) {
    event.Enable();
    HoldLine hold;
    Pulse(spec, 100);
    event.Disable();
    hold.Release();
    EXPECT_LE(ring.Drain().samples.size(), 1u);
    EXPECT_EQ(port().ReadRegister(kGlobalStatus), 0u);
  }
  EXPECT_THAT(event.Read(), Counted(spec, 300));
  event.Enable();
  Pulse(spec, 99);
  ring.Drain();
  Pulse(spec, 1);
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
}

CONFORMANCE_CASE(Interrupt, NextEventDoesNotGetItsPredecessorsOverflow,
                 .rules = {rule::NMI_005, rule::SMP_017},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  HoldLine hold;
  {
    std::vector<Event> old;
    for (const EventSpec& spec : specs) {
      old.push_back(Open(spec, OfThisCpu(100)));
      old.back().Enable();
      target().Stimulate(spec, 130);
    }
  }
  const refpmu_stats before = port().Stats();
  auto [event, ring] = Sampler(specs.front(), OfThisCpu(100), 1);
  hold.Release();
  EXPECT_EQ(port().Stats().overflows, before.overflows) << rule::NMI_005;
  EXPECT_EQ(port().ReadRegister(kGlobalStatus), 0u) << rule::NMI_005;
  target().Stimulate(specs.front(), 99);
  EXPECT_EQ(ring.Drain().samples.size(), 0u) << rule::SMP_017;
  target().Stimulate(specs.front(), 1);
  EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::NMI_005;
  EXPECT_THAT(event.Read(), Counted(specs.front(), 100)) << rule::NMI_005;
}

}  // namespace
}  // namespace pmuconf
