// SPDX-License-Identifier: Apache-2.0
// The events that a task without capabilities may open, by kernel.perf_event_paranoid.
#include <thread>

#include "cases/kernel_pmus.h"
#include "cases/unprivileged.h"
#include "harness/uses.h"
#include "rules/PRM.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Permission, KernelEventNeedsPrivilege, .rules = {rule::PRM_001},
                 .needs = {Cap::kExcludes, Cap::kTasks}) {
  const OpenOptions user_only = {.exclude_kernel = true, .exclude_hv = true};
  {
    const Sysctl paranoid(kParanoid, "2");
    EXPECT_EQ(UnprivilegedErrno({}), EACCES);
    EXPECT_EQ(UnprivilegedErrno(user_only), 0);
  }
  const Sysctl paranoid(kParanoid, "1");
  EXPECT_EQ(UnprivilegedErrno({}), 0);
}

CONFORMANCE_CASE(Permission, CpuEventNeedsPrivilege, .rules = {rule::PRM_002}) {
  const OpenOptions cpu_wide = {.pid = -1, .cpu = target().Cpu(0)};
  {
    const Sysctl paranoid(kParanoid, "1");
    EXPECT_EQ(UnprivilegedErrno(cpu_wide), EACCES);
  }
  const Sysctl paranoid(kParanoid, "0");
  EXPECT_EQ(UnprivilegedErrno(cpu_wide), 0);
}

CASE_USES(Permission, CapPerfmonIsSufficient, Feature::kTracepoints);
CONFORMANCE_CASE(Permission, CapPerfmonIsSufficient, .rules = {rule::PRM_006}) {
  const Sysctl paranoid(kParanoid, "2");
  const OpenOptions raw = {.sample_period = 1, .sample_type = PERF_SAMPLE_RAW};
  for (const int cap : {CAP_PERFMON, CAP_SYS_ADMIN}) {
    for (const OpenOptions& options : {OpenOptions{.pid = -1, .cpu = target().Cpu(0)},
                                       OpenOptions{}, OpenOptions{.pid = getpid()}}) {
      // A PMU of the whole machine has no events of tasks.
      if (options.cpu < 0 && !target().Has(Cap::kTasks)) continue;
      EXPECT_EQ(UnprivilegedErrno(options, {cap}), 0) << "capability " << cap;
    }
    EXPECT_EQ(UnprivilegedErrno(Tracepoint("sched/sched_switch"), raw, {cap}), 0)
        << "capability " << cap;
  }
}

CONFORMANCE_CASE(Permission, OtherUsersTasksAreOffLimits, .rules = {rule::PRM_007},
                 .needs = {Cap::kExcludes, Cap::kTasks}) {
  const Sysctl paranoid(kParanoid, "-1");
  EXPECT_EQ(UnprivilegedErrno({.pid = getpid()}), EACCES);
  EXPECT_EQ(UnprivilegedErrno({.pid = getpid(), .exclude_kernel = true}), EACCES);
}

// A task that has changed its user is not dumpable, so the case sets the flag itself.
CONFORMANCE_CASE(Permission, UndumpableTasksAreOffLimits, .rules = {rule::PRM_007},
                 .needs = {Cap::kTasks}) {
  const Sysctl paranoid(kParanoid, "-1");
  for (const auto& [dumpable, want] : {std::pair(1, 0), {0, EACCES}}) {
    const auto open_self_from_a_child = [dumpable = dumpable] {
      prctl(PR_SET_DUMPABLE, dumpable);
      const pid_t self = getpid();
      Child opener([self] { return TryOpen(target().AnyEvent(), {.pid = self}).error; });
      return opener.Run();
    };
    EXPECT_EQ(RunUnprivileged(open_self_from_a_child), want) << dumpable;
  }
}

CONFORMANCE_CASE(Permission, PhysAddrAndNamespacesNeedPrivilege, .rules = {rule::PRM_008},
                 .needs = {Cap::kSampling, Cap::kExcludes}) {
  const OpenOptions physical = {
      .sample_period = 1'000, .sample_type = PERF_SAMPLE_PHYS_ADDR, .exclude_kernel = true};
  const OpenOptions namespaces = {.exclude_kernel = true,
                                  .edit = [](perf_event_attr& attr) { attr.namespaces = 1; }};
  const OpenOptions text_poke = {.exclude_kernel = true,
                                 .edit = [](perf_event_attr& attr) { attr.text_poke = 1; }};
  {
    const Sysctl paranoid(kParanoid, "2");
    EXPECT_EQ(UnprivilegedErrno(physical), EACCES);
    EXPECT_EQ(UnprivilegedErrno(namespaces), EACCES);
    EXPECT_EQ(UnprivilegedErrno(text_poke), EACCES);
  }
  const Sysctl paranoid(kParanoid, "-1");
  EXPECT_EQ(UnprivilegedErrno(physical), 0);
  EXPECT_EQ(UnprivilegedErrno(text_poke), 0);
  EXPECT_EQ(UnprivilegedErrno(namespaces), EACCES);
}

CONFORMANCE_CASE(Permission, CallChainThatIncludesTheKernelIsRefused, .rules = {rule::PRM_017},
                 .needs = {Cap::kSampling, Cap::kExcludes}) {
  const auto chain = [](bool without_kernel) {
    return OpenOptions{.sample_period = 1'000,
                       .sample_type = PERF_SAMPLE_CALLCHAIN,
                       .exclude_kernel = true,
                       .edit = [without_kernel](perf_event_attr& attr) {
                         attr.exclude_callchain_kernel = without_kernel;
                       }};
  };
  const Sysctl paranoid(kParanoid, "2");
  EXPECT_EQ(UnprivilegedErrno(chain(false)), EACCES);
  EXPECT_EQ(UnprivilegedErrno(chain(true)), 0) << "the chain of user space is allowed";
}

CONFORMANCE_CASE(Permission, DescriptorOutlivesThePrivilege, .rules = {rule::PRM_016},
                 .needs = {Cap::kStimulus}) {
  const Sysctl paranoid(kParanoid, "2");
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  // The system call drops the privilege of one thread. The C library's function would change all
  // threads.
  const auto unprivileged = [&](const std::function<void()>& body) {
    std::thread([&] {
      ASSERT_EQ(syscall(SYS_setresuid, kNobody, kNobody, kNobody), 0);
      body();
    }).join();
  };
  unprivileged([&event] { EXPECT_THAT(event.TryEnable(), Succeeds()); });
  target().Stimulate(spec, 321);
  unprivileged([&] { EXPECT_THAT(event.Read(), Counted(spec, 321)); });
  unprivileged([&event] { event.Disable(); });
  target().Stimulate(spec, 5);
  EXPECT_THAT(event.Read(), Counted(spec, 321));
}

}  // namespace
}  // namespace pmuconf
