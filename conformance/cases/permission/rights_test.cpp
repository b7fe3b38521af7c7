// SPDX-License-Identifier: Apache-2.0
// Features of an event that need a permission: raw data, locked memory, call chains, branches,
// signals.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

#include <fstream>

#include "arch/arch.h"
#include "cases/common.h"
#include "cases/kernel_pmus.h"
#include "cases/unprivileged.h"
#include "harness/behaviour.h"
#include "harness/uses.h"
#include "perf/kernel_behaviour.h"
#include "perf/ring.h"
#include "rules/INI.h"
#include "rules/PRM.h"
#include "system/cpu.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

// The errno that an unprivileged process gets while kernel.perf_event_paranoid is `level`.
int ErrnoAt(const char* level, const EventSpec& spec, const OpenOptions& options,
            std::initializer_list<int> capabilities = {}) {
  const Sysctl paranoid(kParanoid, level);
  return UnprivilegedErrno(spec, options, capabilities);
}

OpenOptions CallchainOptions(bool exclude_kernel, bool exclude_callchain_kernel) {
  return {.sample_period = 1'000,
          .sample_type = PERF_SAMPLE_CALLCHAIN,
          .exclude_kernel = exclude_kernel,
          .edit = [=](perf_event_attr& attr) {
            attr.exclude_callchain_kernel = exclude_callchain_kernel;
          }};
}

CASE_USES(Permission, TracepointDataNeedsPrivilege, Feature::kTracepoints);
CONFORMANCE_CASE(Permission, TracepointDataNeedsPrivilege,
                 .rules = {rule::PRM_003, rule::INI_017}) {
  const EventSpec spec = Tracepoint("sched/sched_switch");
  const OpenOptions count = {.exclude_kernel = true};
  const OpenOptions raw = {
      .sample_period = 1, .sample_type = PERF_SAMPLE_RAW, .exclude_kernel = true};
  for (const char* level : {"0", "1", "2"}) {
    EXPECT_EQ(ErrnoAt(level, spec, raw), EPERM) << rule::PRM_003 << rule::INI_017;
    EXPECT_EQ(ErrnoAt(level, spec, count), 0) << rule::PRM_003;
  }
  EXPECT_EQ(ErrnoAt("-1", spec, raw), 0) << rule::PRM_003;
  EXPECT_EQ(ErrnoAt("2", spec, raw, {CAP_PERFMON}), 0) << rule::INI_017;
}

CONFORMANCE_CASE(Permission, LockedMemoryIsLimited, .rules = {rule::PRM_004}) {
  const EventSpec spec = target().AnyEvent();
  const Sysctl allowance("kernel/perf_event_mlock_kb", std::to_string(2 * PageSize() / 1024));
  const std::size_t pages = 2 * OnlineCpus().size();
  const auto map = [&spec](std::size_t data, rlim_t limit,
                           std::initializer_list<int> capabilities = {}) {
    return RunUnprivileged(
        [&] {
          const rlimit locked = {limit, limit};
          if (setrlimit(RLIMIT_MEMLOCK, &locked) != 0) return 125;
          const OpenResult opened = TryOpen(spec);
          return opened.ok() ? Ring::TryMap(opened.event, data).error : 124;
        },
        capabilities);
  };
  const std::size_t within = std::bit_floor(pages - 1), beyond = 2 * std::bit_ceil(pages);
  {
    const Sysctl paranoid(kParanoid, "0");
    EXPECT_EQ(map(within, 0), 0);
    EXPECT_EQ(map(beyond, 0), EPERM);
    EXPECT_EQ(map(beyond, (beyond + 1) * PageSize()), 0);
    EXPECT_EQ(map(beyond, 0, {CAP_IPC_LOCK}), 0);
  }
  const Sysctl paranoid(kParanoid, "-1");
  EXPECT_EQ(map(beyond, 0), 0);
}

CASE_USES(Permission, ParanoidAboveTwoAppliesToAllEvents, Feature::kTracepoints);
// Only kernels with a patch of some distributions know levels above 2.
CONFORMANCE_CASE(Permission, ParanoidAboveTwoAppliesToAllEvents, .rules = {rule::PRM_005}) {
  static volatile std::uint64_t watched = 0;
  perf_event_attr breakpoint = Breakpoint(&watched, 8);
  const OpenOptions own = {.exclude_kernel = true, .exclude_hv = true};
  for (const char* level : {"3", "4"}) {
    const Sysctl paranoid(kParanoid, level);
    const int error = UnprivilegedErrno(Software(PERF_COUNT_SW_DUMMY), own);
    EXPECT_THAT(error, testing::AnyOf(0, EACCES));
    EXPECT_EQ(UnprivilegedErrno(Software(PERF_COUNT_SW_TASK_CLOCK), own), error);
    EXPECT_EQ(UnprivilegedErrno(Tracepoint("sched/sched_switch"), own), error);
    if (target().Has(Cap::kBreakpoints)) {
      EXPECT_EQ(RunUnprivileged([&] { return TryOpen(breakpoint, getpid()).error; }), error);
    }
    EXPECT_EQ(UnprivilegedErrno(Software(PERF_COUNT_SW_DUMMY), own, {CAP_PERFMON}), error);
    EXPECT_EQ(UnprivilegedErrno({.pid = -1, .cpu = target().Cpu(0)}), EACCES);
    EXPECT_EQ(UnprivilegedErrno({.pid = -1, .cpu = target().Cpu(0)}, {CAP_SYS_ADMIN}), 0);
  }
}

CONFORMANCE_CASE(Permission, KernelCallChainNeedsPrivilege, .rules = {rule::PRM_009}) {
  const EventSpec spec = target().AnyEvent();
  const int want = UnprivilegedCallChainErrno();
  EXPECT_TRUE(IsBehaviour(rule::PRM_009, "kernel_chain", want));
  EXPECT_EQ(ErrnoAt("2", spec, CallchainOptions(true, false)), want);
  EXPECT_EQ(ErrnoAt("2", spec, CallchainOptions(true, true)), 0);
  EXPECT_EQ(ErrnoAt("2", spec, CallchainOptions(false, true)), EACCES);
  EXPECT_EQ(ErrnoAt("2", spec, CallchainOptions(true, false), {CAP_PERFMON}), 0);
  EXPECT_EQ(ErrnoAt("1", spec, CallchainOptions(true, false)), 0);
}

CONFORMANCE_CASE(Permission, KernelBranchesNeedPrivilege, .rules = {rule::PRM_010}) {
  const EventSpec spec = target().AnyEvent();
  const auto branches = [](std::uint64_t of) {
    return OpenOptions{.sample_period = 1'000,
                       .sample_type = PERF_SAMPLE_BRANCH_STACK,
                       .exclude_kernel = true,
                       .exclude_hv = true,
                       .edit = [of](perf_event_attr& attr) {
                         attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | of;
                       }};
  };
  // A PMU without branches rejects even the branch stack that a user may have.
  const int users = target().branches() > 0 ? 0 : EOPNOTSUPP;
  for (const std::uint64_t kernel : {PERF_SAMPLE_BRANCH_KERNEL, PERF_SAMPLE_BRANCH_HV}) {
    const OpenOptions requested = branches(PERF_SAMPLE_BRANCH_USER | kernel);
    EXPECT_EQ(ErrnoAt("2", spec, requested), EACCES);
    EXPECT_NE(ErrnoAt("1", spec, requested), EACCES);
    EXPECT_NE(ErrnoAt("2", spec, requested, {CAP_PERFMON}), EACCES);
  }
  EXPECT_EQ(ErrnoAt("2", spec, branches(PERF_SAMPLE_BRANCH_USER)), users);
  EXPECT_EQ(ErrnoAt("2", spec, branches(0)), users);
}

CONFORMANCE_CASE(Permission, UserNamespaceRootHasNoPrivilege, .rules = {rule::PRM_014}) {
  const Sysctl paranoid(kParanoid, "2");
  const auto in_namespace = [](const OpenOptions& options) {
    Child child([&options] {
      if (unshare(CLONE_NEWUSER) != 0) return 126;
      const Fd map(open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC));
      if (write(map.get(), "0 0 1\n", 6) != 6 || getuid() != 0) return 125;
      return TryOpen(target().AnyEvent(), options).error;
    });
    return child.Run();
  };
  EXPECT_EQ(in_namespace({}), EACCES);
  EXPECT_EQ(in_namespace({.pid = -1, .cpu = target().Cpu(0), .exclude_kernel = true}), EACCES);
  EXPECT_EQ(in_namespace({.exclude_kernel = true}), 0);
}

CONFORMANCE_CASE(Permission, SigtrapOnOtherTaskNeedsPrivilege, .rules = {rule::PRM_015}) {
  const Sysctl paranoid(kParanoid, "2");
  const EventSpec spec = target().AnyEvent();
  const OpenOptions plain = {.pid = getpid(), .sample_period = 1'000, .exclude_kernel = true};
  const OpenOptions signals = {
      .pid = getpid(), .sample_period = 1'000, .exclude_kernel = true, .sigtrap = true};
  EXPECT_EQ(UnprivilegedErrno(spec, plain, {CAP_PERFMON}), 0);
  EXPECT_EQ(UnprivilegedErrno(spec, signals, {CAP_PERFMON}), EACCES);
  EXPECT_EQ(UnprivilegedErrno(spec, signals, {CAP_KILL}), EACCES);
  EXPECT_EQ(UnprivilegedErrno(spec, signals, {CAP_PERFMON, CAP_KILL}), 0);
  EXPECT_EQ(UnprivilegedErrno(spec, signals, {CAP_SYS_PTRACE}), 0);
}

bool IsKernelAddress(std::uint64_t address) { return address >> 63 != 0; }

// Pulses in the kernel, with kernel addresses, occur between the pulses of user code.
CONFORMANCE_CASE(Permission, UserSamplesHideKernelAddresses, .rules = {rule::PRM_013},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kLog}) {
  constexpr std::uint64_t kUser = 0x40'1000, kKernel = 0xffff'ffff'8100'1000;
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] =
      Sampler(spec, {.sample_period = 1,
                     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
                                    PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER,
                     .exclude_kernel = true,
                     .edit = [](perf_event_attr& attr) {
                       attr.sample_regs_intr = attr.sample_regs_user = reg::Bit(reg::kIp);
                     }});
  for (int i = 0; i < 20; ++i) {
    Pulse(spec, 1, {.privilege = Privilege::kKernel, .ip = kKernel, .addr = kKernel + 8});
    Pulse(spec, 1, {.privilege = Privilege::kUser, .ip = kUser, .addr = kUser + 8});
  }
  // This interrupt arrives when the kernel runs already. If the task left the CPU before the
  // interrupt, the overflow would have no sample.
  const NoPreemption no_preemption;
  HoldLine line;
  Pulse(spec, 1, {.privilege = Privilege::kUser, .ip = kUser, .addr = kUser + 8});
  Pulse(spec, 1, {.privilege = Privilege::kKernel, .ip = kKernel, .addr = kKernel + 8});
  line.Release();
  const RingContents contents = ring.Drain();
  ASSERT_EQ(contents.samples.size(), 21u);
  for (const Sample& sample : contents.samples) {
    EXPECT_FALSE(IsKernelAddress(*sample.ip));
    EXPECT_FALSE(IsKernelAddress(*sample.addr));
    for (const std::uint64_t value : sample.regs_intr.value_or(std::vector<std::uint64_t>{})) {
      EXPECT_FALSE(IsKernelAddress(value)) << "register " << value;
    }
    // The entries after the first one come from the user's stack frames, which may have any value.
    const std::vector<std::uint64_t>& chain = *sample.callchain;
    EXPECT_THAT(chain,
                testing::Not(testing::Contains(static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL))));
    ASSERT_GE(chain.size(), 2u);
    EXPECT_FALSE(IsKernelAddress(chain[1]));
  }
}

}  // namespace
}  // namespace pmuconf
