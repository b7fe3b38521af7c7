// SPDX-License-Identifier: Apache-2.0
// Registers and stack of the task in samples, and samples that would be too long.
#include <limits.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "arch/arch.h"
#include "cases/common.h"
#include "cases/program32.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "system/guarded_stack.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kIp = 0x401234;
constexpr std::uint64_t kKernelIp = 0xffff'ffff'8123'4567;

using reg::Bit;
using reg::kAll;

constexpr std::uint64_t kPeriod = 2;  // the shortest period that every PMU supports

refpmu_pulse OnePulse(const EventSpec& spec, Privilege privilege = Privilege::kUser) {
  refpmu_pulse pulse = {};
  pulse.cpu = REFPMU_CPU_CURRENT;
  pulse.event = spec.code;
  pulse.privilege = static_cast<std::uint32_t>(privilege);
  pulse.n = kPeriod;
  pulse.ip = privilege == Privilege::kUser ? kIp : kKernelIp;
  return pulse;
}

OpenOptions WithRegs(std::uint64_t fields, std::uint64_t mask, std::uint16_t stack = 0) {
  return {.sample_period = kPeriod,
          .sample_type = fields | PERF_SAMPLE_IDENTIFIER,
          .edit = [mask, stack](perf_event_attr& attr) {
            attr.sample_regs_user = mask;
            attr.sample_regs_intr = mask;
            attr.sample_stack_user = stack;
          }};
}

// The only sample in the ring buffer.
Sample OnlySample(Ring& ring) {
  RingContents got = ring.Drain();
  if (got.samples.size() != 1) throw Broken("not one sample of one overflow");
  return got.samples[0];
}

// The value of `reg` in `values`, which have the registers of `mask`.
std::uint64_t Reg(const std::vector<std::uint64_t>& values, std::uint64_t mask, int reg) {
  return values.at(static_cast<std::size_t>(std::popcount(mask & (Bit(reg) - 1))));
}

// Checks that the registers have the arguments of the ioctl(2) that generates the pulse.
void ExpectCallOf(const refpmu_pulse& pulse, const std::vector<std::uint64_t>& regs,
                  const Rule& rule) {
  EXPECT_EQ(Reg(regs, kAll, reg::kArguments[0]), std::uint64_t{REFPMU_IOC_PULSE}) << rule;
  EXPECT_EQ(Reg(regs, kAll, reg::kArguments[1]), reinterpret_cast<std::uint64_t>(&pulse)) << rule;
  // The pulse is on the stack, above the frame of the system call.
  const auto pulse_at = reinterpret_cast<std::uint64_t>(&pulse);
  EXPECT_LT(pulse_at - Reg(regs, kAll, reg::kSp), 16 * PageSize()) << rule;
}

CONFORMANCE_CASE(Record, UserRegistersMatchTask, .rules = {rule::REC_013},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks, Cap::kExcludes}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, WithRegs(PERF_SAMPLE_REGS_USER, kAll), 1);
  refpmu_pulse pulse = OnePulse(spec);
  ASSERT_THAT(port().TryPulse(pulse), Succeeds());
  const Sample of_user = OnlySample(ring);
  EXPECT_EQ(of_user.regs_user_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  EXPECT_EQ(Reg(*of_user.regs_user, kAll, reg::kIp), kIp);
  ExpectCallOf(pulse, *of_user.regs_user, rule::REC_013);
  pulse = OnePulse(spec, Privilege::kKernel);
  ASSERT_THAT(port().TryPulse(pulse), Succeeds());
  const Sample of_kernel = OnlySample(ring);
  EXPECT_EQ(of_kernel.regs_user_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  EXPECT_EQ(Reg(*of_kernel.regs_user, kAll, reg::kIp) >> 63, 0u);
  ExpectCallOf(pulse, *of_kernel.regs_user, rule::REC_013);
}

CONFORMANCE_CASE(Record, RegistersAreInTheOrderOfTheirBits, .rules = {rule::REC_013, rule::REC_019},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t fields = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
  for (const std::uint64_t mask :
       {kAll & 0x5555'5555, kAll & 0xaaaa'aaaa, Bit(reg::kSp),
        Bit(reg::kRecorded[15]) | Bit(reg::kRecorded[0]), Bit(reg::kIp)}) {
    SCOPED_TRACE(testing::Message() << "registers 0x" << std::hex << mask);
    const Event all = Open(spec, WithRegs(fields, kAll));
    const Event some = Open(spec, WithRegs(fields, mask));
    Ring of_all(all, 1), of_some(some, 1);
    all.Enable();
    some.Enable();
    refpmu_pulse pulse = OnePulse(spec);
    ASSERT_THAT(port().TryPulse(pulse), Succeeds());
    const Sample want = OnlySample(of_all), got = OnlySample(of_some);
    std::vector<std::uint64_t> user, at_overflow;
    for (int reg = 0; reg < reg::kCount; ++reg) {
      if ((mask & Bit(reg)) == 0) continue;
      user.push_back(Reg(*want.regs_user, kAll, reg));
      at_overflow.push_back(Reg(*want.regs_intr, kAll, reg));
    }
    EXPECT_EQ(got.regs_user, user) << rule::REC_013;
    EXPECT_EQ(got.regs_intr, at_overflow) << rule::REC_019;
  }
}

CONFORMANCE_CASE(Record, InterruptRegistersMatchPrivilege, .rules = {rule::REC_019},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks, Cap::kExcludes}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] =
      Sampler(spec, WithRegs(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR, kAll), 1);
  refpmu_pulse pulse = OnePulse(spec);
  ASSERT_THAT(port().TryPulse(pulse), Succeeds());
  const Sample of_user = OnlySample(ring);
  EXPECT_EQ(of_user.regs_intr_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  EXPECT_EQ(of_user.regs_intr, of_user.regs_user);
  ExpectCallOf(pulse, *of_user.regs_intr, rule::REC_019);
  pulse = OnePulse(spec, Privilege::kKernel);
  ASSERT_THAT(port().TryPulse(pulse), Succeeds());
  const Sample of_kernel = OnlySample(ring);
  EXPECT_EQ(of_kernel.regs_intr_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  EXPECT_EQ(Reg(*of_kernel.regs_intr, kAll, reg::kIp), kKernelIp);
  EXPECT_EQ(Reg(*of_kernel.regs_intr, kAll, reg::kSp) >> 63, 1u);
}

CONFORMANCE_CASE(Record, KernelThreadHasNoUserState, .rules = {rule::REC_013, rule::REC_014},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = WithRegs(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, kAll, 256);
  options.pid = -1;
  options.cpu = target().Cpu(1);
  auto [event, ring] = Sampler(spec, options, 1);
  port().Pulse(spec.code, kPeriod, {.cpu = options.cpu, .privilege = Privilege::kKernel});
  const std::vector<Record> records = ring.DrainRaw();
  ASSERT_EQ(records.size(), 1u);
  const auto sample = ParseSample(records[0], event.attr());
  ASSERT_TRUE(sample) << rule::REC_013;
  EXPECT_EQ(sample->regs_user_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_NONE}) << rule::REC_013;
  EXPECT_THAT(*sample->regs_user, testing::IsEmpty()) << rule::REC_013;
  EXPECT_THAT(*sample->stack_user, testing::IsEmpty()) << rule::REC_014;
  EXPECT_EQ(records[0].body.size(), 24u) << rule::REC_014;  // id, ABI and size
}

CONFORMANCE_CASE(Record, UserRegistersReport32BitAbi, .rules = {rule::REC_013},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks}) {
  const Program32 faulting = ProgramThatWrites();
  Child child = ChildThatExecutes(faulting);
  constexpr std::uint64_t kMask = Bit(reg::kIp) | Bit(reg::kIpOf32Bit) | Bit(reg::kRecorded[3]);
  OpenOptions options = WithRegs(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_ADDR, kMask);
  options.pid = child.pid();
  options.sample_period = 1;  // the sample of one specific fault is needed
  auto [faults, ring] = Sampler(Software(PERF_COUNT_SW_PAGE_FAULTS), options, 16);
  ASSERT_EQ(child.Run(), 0);
  const RingContents got = ring.Drain();
  // The sample of the write, among those of all page faults since the 64-bit start of the child.
  const auto written =
      std::find_if(got.samples.begin(), got.samples.end(),
                   [&](const Sample& sample) { return sample.addr == faulting.written; });
  ASSERT_NE(written, got.samples.end());
  EXPECT_EQ(written->regs_user_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_32});
  EXPECT_EQ(Reg(*written->regs_user, kMask, reg::kIp), faulting.ip);
  EXPECT_EQ(Reg(*written->regs_user, kMask, reg::kIpOf32Bit), faulting.ip);
  EXPECT_EQ(got.samples.front().regs_user_abi, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
}

CONFORMANCE_CASE(Record, UserStackIsCopiedFromTheStackPointer, .rules = {rule::REC_014},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint16_t size : {8192, 4096, 3072}) {
    auto [event, ring] =
        Sampler(spec, WithRegs(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, kAll, size), 4);
    refpmu_pulse pulse = OnePulse(spec);
    ASSERT_THAT(port().TryPulse(pulse), Succeeds());
    const std::vector<Record> records = ring.DrainRaw();
    ASSERT_EQ(records.size(), 1u);
    const Sample sample = ParseSample(records[0], event.attr()).value();
    const std::uint64_t sp = Reg(*sample.regs_user, kAll, reg::kSp);
    const std::size_t offset = reinterpret_cast<std::uint64_t>(&pulse) - sp;
    ASSERT_LE(offset + sizeof(pulse), sample.stack_user->size());
    // The sample shows the pulse as it was when the task entered the kernel. The kernel sets `done`
    // afterwards.
    pulse.done = 0;
    EXPECT_EQ(std::memcmp(sample.stack_user->data() + offset, &pulse, sizeof(pulse)), 0);
    EXPECT_EQ(records[0].body.size(), 8 + 8 + std::popcount(kAll) * 8 + 16 + size);
  }
}

CONFORMANCE_CASE(Record, UserStackReportsValidSize, .rules = {rule::REC_014},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const std::size_t stack = std::max<std::size_t>(16 * PageSize(), PTHREAD_STACK_MIN);
  RunOnGuardedStack(stack, [&spec](std::uint64_t top) {
    auto [event, ring] =
        Sampler(spec, WithRegs(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, kAll, 0xf000), 32);
    refpmu_pulse pulse = OnePulse(spec);
    ASSERT_THAT(port().TryPulse(pulse), Succeeds());
    const std::vector<Record> records = ring.DrainRaw();
    ASSERT_EQ(records.size(), 1u);
    const Sample sample = ParseSample(records[0], event.attr()).value();
    const std::uint64_t sp = Reg(*sample.regs_user, kAll, reg::kSp);
    EXPECT_EQ(sample.stack_user->size(), top - sp);
    EXPECT_EQ(records[0].body.size(), 8 + 8 + std::popcount(kAll) * 8 + 16 + 0xf000);
  });
}

CONFORMANCE_CASE(Record, LongSampleShortensUserStack, .rules = {rule::REC_027, rule::REC_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  constexpr std::size_t kLongest = 0xfff8;  // the largest multiple of 8 below 65536
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t some = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT;
  for (const std::uint64_t others :
       {std::uint64_t{0}, some, some | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER,
        some | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ | PERF_SAMPLE_PHYS_ADDR}) {
    SCOPED_TRACE(testing::Message() << "sample_type 0x" << std::hex << others);
    auto [event, ring] =
        Sampler(spec, WithRegs(others | PERF_SAMPLE_STACK_USER, kAll, kLongest), 64);
    for (int i = 0; i < 3; ++i) target().Stimulate(spec, kPeriod, {.ip = kIp});
    const std::vector<Record> records = ring.DrainRaw();
    ASSERT_EQ(records.size(), 3u) << rule::REC_027;
    for (const Record& record : records) {
      EXPECT_EQ(sizeof(perf_event_header) + record.body.size(), kLongest) << rule::REC_027;
      const auto sample = ParseSample(record, event.attr());
      ASSERT_TRUE(sample) << rule::REC_027;
      EXPECT_EQ(sample->identifier, event.Id()) << rule::REC_027;
      EXPECT_EQ(sample->ip.value_or(kIp), kIp) << rule::REC_027;
    }
  }
}

}  // namespace
}  // namespace pmuconf
