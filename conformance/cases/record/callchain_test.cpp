// SPDX-License-Identifier: Apache-2.0
// PERF_SAMPLE_CALLCHAIN in functions with known return addresses. This file is compiled with frame
// pointers, because the kernel follows them.
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "cases/program32.h"
#include "harness/case.h"
#include "perf/ring.h"
#include "rules/REC.h"

// The C library's syscall(2), which has no frame. In this program, another function has its name:
// cmake/Lies.cmake.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker gives it this name
extern "C" long __real_syscall(long number, ...);

namespace pmuconf {
namespace {

using Chain = std::vector<std::uint64_t>;

constexpr std::uint64_t kIp = 0x401234;
constexpr std::uint64_t kUser = PERF_CONTEXT_USER;
constexpr std::uint64_t kKernel = PERF_CONTEXT_KERNEL;

std::uint64_t ReturnAddress(void* address) { return reinterpret_cast<std::uint64_t>(address); }

// Three nested functions that note their return addresses. The innermost one generates a pulse with
// a system call that has no frame of its own.
[[gnu::noinline]] void Inner(refpmu_pulse* pulse, Chain* returns) {
  returns->push_back(ReturnAddress(__builtin_return_address(0)));
  if (__real_syscall(SYS_ioctl, port().fd(), REFPMU_IOC_PULSE, pulse) != 0) throw Broken("pulse");
}
[[gnu::noinline]] void Middle(refpmu_pulse* pulse, Chain* returns) {
  Inner(pulse, returns);
  returns->push_back(ReturnAddress(__builtin_return_address(0)));
}
[[gnu::noinline]] void Outer(refpmu_pulse* pulse, Chain* returns) {
  Middle(pulse, returns);
  returns->push_back(ReturnAddress(__builtin_return_address(0)));
}

// The call chain of one overflow, and the return addresses that it must have, innermost first.
struct OverflowChain {
  Chain chain;
  Chain returns;
};

OverflowChain Overflow(std::uint32_t privilege, std::uint64_t ip,
                       const std::function<void(perf_event_attr&)>& edit = {}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] =
      Sampler(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_CALLCHAIN, .edit = edit}, 4);
  OverflowChain result;
  refpmu_pulse pulse = {};
  pulse.size = sizeof(pulse);
  pulse.cpu = REFPMU_CPU_CURRENT;
  pulse.event = spec.code;
  pulse.privilege = privilege;
  pulse.n = 1;
  pulse.ip = ip;
  Outer(&pulse, &result.returns);
  const RingContents got = ring.Drain();
  if (got.samples.size() != 1) throw Broken("not one sample of one overflow");
  result.chain = *got.samples[0].callchain;
  return result;
}

// The part of `chain` behind `marker`, at most `n` addresses.
Chain AfterMarker(std::uint64_t marker, const Chain& chain, std::size_t n) {
  auto begin = std::find(chain.begin(), chain.end(), marker);
  if (begin != chain.end()) ++begin;
  const auto rest = static_cast<std::size_t>(chain.end() - begin);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(n, rest))};
}

bool IsKernelAddress(std::uint64_t address) { return address >> 63 != 0; }

CONFORMANCE_CASE(Record, CallchainStartsAtOverflow, .rules = {rule::REC_007},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks}) {
  const OverflowChain result = Overflow(REFPMU_PRIV_USER, kIp);
  ASSERT_GE(result.chain.size(), 5u);
  EXPECT_EQ(result.chain[0], kUser);
  EXPECT_EQ(result.chain[1], kIp);
  EXPECT_EQ(Chain(result.chain.begin() + 2, result.chain.begin() + 5), result.returns);
  EXPECT_THAT(result.chain, testing::Not(testing::Contains(kKernel)));
}

CONFORMANCE_CASE(Record, KernelCallchainContinuesInUserSpace, .rules = {rule::REC_007},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks, Cap::kExcludes}) {
  const OverflowChain result = Overflow(REFPMU_PRIV_KERNEL, 0);
  ASSERT_EQ(result.chain.front(), kKernel);
  const auto user = std::find(result.chain.begin(), result.chain.end(), kUser);
  ASSERT_GE(user - result.chain.begin(), 3);
  EXPECT_TRUE(std::all_of(result.chain.begin() + 1, user, IsKernelAddress));
  // The outer functions have no frame pointers. So the entries behind these four have any value.
  const Chain users = AfterMarker(kUser, result.chain, 4);
  ASSERT_EQ(users.size(), 4u);
  EXPECT_TRUE(std::none_of(users.begin(), users.end(), IsKernelAddress));
  EXPECT_EQ(Chain(users.begin() + 1, users.end()), result.returns);
}

CONFORMANCE_CASE(Record, CallchainLeavesOutWhatIsExcluded, .rules = {rule::REC_007},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks, Cap::kExcludes}) {
  const OverflowChain kernel_only = Overflow(
      REFPMU_PRIV_KERNEL, 0, [](perf_event_attr& attr) { attr.exclude_callchain_user = 1; });
  EXPECT_EQ(kernel_only.chain.front(), kKernel);
  EXPECT_GE(kernel_only.chain.size(), 3u);
  EXPECT_TRUE(std::all_of(kernel_only.chain.begin(), kernel_only.chain.end(), IsKernelAddress));
  EXPECT_THAT(kernel_only.chain, testing::Not(testing::Contains(kUser)));
  const OverflowChain user_only = Overflow(
      REFPMU_PRIV_KERNEL, 0, [](perf_event_attr& attr) { attr.exclude_callchain_kernel = 1; });
  ASSERT_GE(user_only.chain.size(), 5u);
  EXPECT_EQ(user_only.chain.front(), kUser);
  EXPECT_EQ(Chain(user_only.chain.begin() + 2, user_only.chain.begin() + 5), user_only.returns);
}

CONFORMANCE_CASE(Record, CallchainIsNoLongerThanAskedFor, .rules = {rule::REC_007},
                 .needs = {Cap::kSampling, Cap::kPort, Cap::kTasks}) {
  for (const std::uint16_t depth : {1, 2, 3}) {
    const OverflowChain result = Overflow(
        REFPMU_PRIV_USER, kIp, [depth](perf_event_attr& attr) { attr.sample_max_stack = depth; });
    Chain want = {kUser, kIp};
    want.insert(want.end(), result.returns.begin(), result.returns.begin() + depth - 1);
    EXPECT_EQ(result.chain, want);
  }
}

CONFORMANCE_CASE(Record, CallchainOf32BitTaskFollowsItsFrames, .rules = {rule::REC_007},
                 .needs = {Cap::kSoftware, Cap::kSampling, Cap::kTasks, Cap::kCompat}) {
  const Program32 program = ProgramThatWrites();
  Child child = ChildThatExecutes(program);
  auto [faults, ring] = Sampler(Software(PERF_COUNT_SW_PAGE_FAULTS),
                                {.pid = child.pid(),
                                 .sample_period = 1,
                                 .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN},
                                64);
  ASSERT_EQ(child.Run(), 0);
  const RingContents got = ring.Drain();
  const auto written =
      std::find_if(got.samples.begin(), got.samples.end(),
                   [&](const Sample& sample) { return sample.addr == program.written; });
  ASSERT_NE(written, got.samples.end());
  Chain want = {kUser, program.ip};
  want.insert(want.end(), program.returns.begin(), program.returns.end());
  EXPECT_EQ(*written->callchain, want);
}

}  // namespace
}  // namespace pmuconf
