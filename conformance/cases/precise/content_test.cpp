// SPDX-License-Identifier: Apache-2.0
// Contents of a precise sample: the instruction, the data access and the registers of the event.
#include <time.h>

#include <map>

#include "arch/arch.h"
#include "cases/common.h"
#include "cases/precise/precise.h"
#include "cases/raw_clock.h"
#include "harness/behaviour.h"
#include "rules/PRC.h"
#include "rules/REC.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kKernelIp = 0xffff'ffff'8100'0000;

CONFORMANCE_CASE(Precise, AllPreciseLevelsAreAccepted, .rules = {rule::PRC_001},
                 .needs = {Cap::kPrecise}) {
  for (unsigned level = 1; level <= target().precise(); ++level) {
    EXPECT_THAT(TryOpen(target().AnyEvent(), Precise(1'000, kBuffered, level)), Succeeds())
        << "level " << level;
  }
  const auto max = ReadFile(DeviceFile("caps/max_precise"));
  if (max) {
    EXPECT_EQ(*max, std::to_string(target().precise()));
  }
}

CONFORMANCE_CASE(Precise, TimeComesFromTheChosenClock, .rules = {rule::REC_004},
                 .needs = {Cap::kStimulus, Cap::kPrecise},
                 .timing = "waits for nothing: a clock is read before and after") {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = Precise(1, PERF_SAMPLE_TIME);
  options.edit = [precise = options.edit](perf_event_attr& attr) {
    precise(attr);
    UseRawClock(attr);
  };
  auto [event, ring] = Sampler(spec, options, 1);
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = RawClockNow();
    target().Stimulate(spec, 1);
    const std::uint64_t after = RawClockNow();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_GE(*got.samples[0].time, before);
    EXPECT_LE(*got.samples[0].time, after);
  }
}

CONFORMANCE_CASE(Precise, CountingEventCannotBePrecise, .rules = {rule::PRC_004},
                 .needs = {Cap::kPrecise}) {
  for (unsigned level = 1; level <= target().precise(); ++level) {
    EXPECT_THAT(TryOpen(target().AnyEvent(), Precise(0, 0, level)), FailsWith(EINVAL))
        << "level " << level;
  }
}

CONFORMANCE_CASE(Precise, IpPointsToSampledInstruction, .rules = {rule::PRC_002, rule::REC_002},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  for (unsigned level = 1; level <= target().precise(); ++level) {
    for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
      SCOPED_TRACE(testing::Message()
                   << "level " << level << ", sample_type 0x" << std::hex << type);
      auto [event, ring] = Sampler(spec, Precise(2, type, level), 1);
      for (std::uint64_t i = 1; i <= 10; ++i) {
        target().Stimulate(spec, 1, {.ip = 0x500000 + i, .addr = 0x600000 + i});
      }
      event.Disable();
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 5u);
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(got.samples[i].ip, 0x500000 + 2 * (i + 1)) << rule::PRC_002;
        EXPECT_EQ(got.samples[i].addr, 0x600000 + 2 * (i + 1)) << rule::PRC_005;
      }
    }
  }
}

CONFORMANCE_CASE(Precise, ExactSamplesSetExactIpFlag, .rules = {rule::PRC_002},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}) {
  if (!processor::kReportsExactIp) SkipWithout("a mark of exact addresses");
  const EventSpec spec = target().AnyEvent();
  for (unsigned level = 2; level <= target().precise(); ++level) {
    for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
      auto [event, ring] = Sampler(spec, Precise(2, type, level), 1);
      target().Stimulate(spec, 10, {.ip = 0x500000});
      event.Disable();
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 5u);
      for (const Sample& sample : got.samples) {
        EXPECT_NE(sample.misc & PERF_RECORD_MISC_EXACT_IP, 0)
            << "level " << level << ", sample_type " << type;
      }
    }
  }
}

CONFORMANCE_CASE(Precise, LateInterruptHasNoSkid, .rules = {rule::PRC_002},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    auto [event, ring] = Sampler(spec, PreciseOnCpu(100, type), 1);
    HoldLine hold;
    target().Stimulate(spec, 99, {.ip = 0x401000});
    target().Stimulate(spec, 1, {.ip = 0x402000, .addr = 0x77});
    target().Stimulate(spec, 50, {.ip = 0x403000});
    hold.Release();
    event.Disable();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_EQ(got.samples[0].ip, 0x402000u);
    EXPECT_EQ(got.samples[0].addr, 0x77u);
    EXPECT_THAT(event.Read(), Counted(spec, 150));
  }
}

CONFORMANCE_CASE(Precise, CpumodeMatchesEventPrivilege, .rules = {rule::PRC_002, rule::REC_025},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kExcludes},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    auto [event, ring] = Sampler(spec, Precise(5, type), 1);
    target().Stimulate(spec, 5, {.privilege = Privilege::kUser, .ip = 0x401234});
    target().Stimulate(spec, 5, {.privilege = Privilege::kKernel, .ip = kKernelIp});
    target().Stimulate(spec, 5, {.privilege = Privilege::kUser, .ip = 0x401234});
    event.Disable();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 3u);
    const auto mode = [&got](std::size_t i) {
      return got.samples[i].misc & PERF_RECORD_MISC_CPUMODE_MASK;
    };
    EXPECT_EQ(mode(0), PERF_RECORD_MISC_USER) << rule::REC_025;
    EXPECT_EQ(mode(1), PERF_RECORD_MISC_KERNEL) << rule::REC_025;
    EXPECT_EQ(got.samples[1].ip, kKernelIp) << rule::PRC_002;
    EXPECT_EQ(mode(2), PERF_RECORD_MISC_USER) << rule::REC_025;
  }
}

CONFORMANCE_CASE(Precise, UserOnlyEventShowsNoKernel, .rules = {rule::PRC_013},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kExcludes},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = Precise(3);
  options.exclude_kernel = true;
  auto [event, ring] = Sampler(spec, options, 1);
  for (int i = 0; i < 4; ++i) {
    target().Stimulate(spec, 7, {.privilege = Privilege::kKernel, .ip = kKernelIp});
    target().Stimulate(spec, 3, {.privilege = Privilege::kUser, .ip = 0x401000});
  }
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 4u);
  for (const Sample& sample : got.samples) EXPECT_EQ(sample.ip, 0x401000u);
  EXPECT_THAT(event.Read(), Counted(spec, 12));
}

CONFORMANCE_CASE(Precise, KernelIpInRecordIsHidden, .rules = {rule::PRC_013},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kExcludes}) {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = Precise(3);
  options.exclude_kernel = true;
  auto [event, ring] = Sampler(spec, options, 1);
  target().Stimulate(spec, 12, {.privilege = Privilege::kUser, .ip = kKernelIp});
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 4u);
  for (const Sample& sample : got.samples) EXPECT_NE(sample.ip, kKernelIp);
}

CONFORMANCE_CASE(Precise, DataOfTheAccessIsShown, .rules = {rule::PRC_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t source =
      PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(TLB, HIT);
  const PulseOptions access = {
      .ip = 0x401000, .addr = 0x7f00'1234'5678, .latency = 321, .source = source};
  for (const std::uint64_t weight : {PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT}) {
    for (std::uint64_t pick = 0; pick < 8; ++pick) {
      std::uint64_t type = PERF_SAMPLE_IP;
      if (pick & 1) type |= PERF_SAMPLE_ADDR;
      if (pick & 2) type |= PERF_SAMPLE_DATA_SRC;
      if (pick & 4) type |= weight;
      SCOPED_TRACE(testing::Message() << "sample_type 0x" << std::hex << type);
      auto [event, ring] = Sampler(spec, Precise(4, type), 1);
      target().Stimulate(spec, 3, {.addr = 0xbad, .latency = 1, .source = 1});
      target().Stimulate(spec, 1, access);
      event.Disable();
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 1u);
      EXPECT_EQ(got.samples[0].addr.value_or(access.addr), access.addr);
      EXPECT_EQ(got.samples[0].data_src.value_or(source), source);
      EXPECT_EQ(got.samples[0].weight.value_or(321), 321u);
    }
  }
}

CONFORMANCE_CASE(Precise, ConcurrentEventsKeepRequestedFields,
                 .rules = {rule::PRC_007, rule::PRC_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event rich = Open(specs[0], Precise(4, kBuffered | PERF_SAMPLE_DATA_SRC));
  const Event plain = Open(specs[1], Precise(4, PERF_SAMPLE_IP));
  Ring rich_ring(rich, 1);
  Ring plain_ring(plain, 1);
  rich.Enable();
  plain.Enable();
  target().Stimulate(specs[1], 4, {.ip = 0x402000});
  target().Stimulate(specs[0], 4, {.ip = 0x401000, .addr = 0x99, .source = 0x5});
  rich.Disable();
  plain.Disable();
  const RingContents got = rich_ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u) << rule::PRC_007;
  EXPECT_EQ(got.samples[0].ip, 0x401000u) << rule::PRC_007;
  EXPECT_EQ(got.samples[0].addr, 0x99u) << rule::PRC_007;
  EXPECT_EQ(got.samples[0].data_src, 0x5u) << rule::PRC_007;
  const RingContents other = plain_ring.Drain();
  ASSERT_EQ(other.samples.size(), 1u) << rule::PRC_007;
  EXPECT_EQ(other.samples[0].ip, 0x402000u) << rule::PRC_007;
}

CONFORMANCE_CASE(Precise, RegistersAreTakenAtEvent, .rules = {rule::PRC_006},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  // In a record, the registers follow the data of the access.
  for (const std::uint64_t besides : {std::uint64_t{0}, std::uint64_t{PERF_SAMPLE_ADDR}}) {
    std::map<int, std::uint64_t> want = {{reg::kIp, 0x401000}};  // sorted as in a sample
    for (const std::size_t i : {0, 1, 7, 8, 15}) want[reg::kRecorded.at(i)] = 0x1000 + i;
    OpenOptions options = Precise(2, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR | besides);
    options.edit = [&want](perf_event_attr& attr) {
      attr.precise_ip = target().precise() & 3;
      for (const auto& [number, value] : want) attr.sample_regs_intr |= reg::Bit(number);
    };
    auto [event, ring] = Sampler(spec, options, 1);
    refpmu_regs regs = {};
    for (std::uint64_t i = 0; i < 16; ++i) regs.gpr[i] = 0x1000 + i;
    const refpmu_regs other = {};
    for (int i = 0; i < 3; ++i) {
      regs.gpr[0] += 0x100;
      target().Stimulate(spec, 1, {.ip = 0x400000, .regs = &other});
      target().Stimulate(spec, 1, {.ip = 0x401000, .addr = 0x7f00'4444, .regs = &regs});
    }
    event.Disable();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 3u);
    for (const Sample& sample : got.samples) {
      want[reg::kRecorded[0]] += 0x100;
      std::vector<std::uint64_t> values;
      for (const auto& [number, value] : want) values.push_back(value);
      EXPECT_EQ(sample.regs_intr, values);
      EXPECT_EQ(sample.addr.value_or(0x7f00'4444), 0x7f00'4444u) << rule::PRC_005;
    }
  }
}

CONFORMANCE_CASE(Precise, FixedCountersArePreciseToo, .rules = {rule::PRC_015},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kFixedCounters},
                 .over = {Over<dim::Cpu>()}) {
  for (const EventSpec& spec : target().Events({.fixed = true})) {
    for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
      SCOPED_TRACE(testing::Message() << spec.name << ", sample_type 0x" << std::hex << type);
      auto [event, ring] = Sampler(spec, Precise(10, type), 1);
      Pulse(spec, 9, {.ip = 0x401000});
      Pulse(spec, 1, {.ip = 0x402000});
      Pulse(spec, 25, {.ip = 0x403000});
      event.Disable();
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 3u);
      EXPECT_EQ(got.samples[0].ip, 0x402000u);
      EXPECT_EQ(got.samples[1].ip, 0x403000u);
      EXPECT_EQ(event.Read().value, 35u);
    }
  }
}

}  // namespace
}  // namespace pmuconf
