// SPDX-License-Identifier: Apache-2.0
// What a task without capabilities may open, by kernel.perf_event_paranoid.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <thread>

#include "pmuconf/case.h"
#include "pmuconf/cpu.h"
#include "pmuconf/rules/PRM.h"
#include "pmuconf/sysctl.h"

namespace pmuconf {
namespace {

constexpr const char* kParanoid = "kernel/perf_event_paranoid";
constexpr uid_t kNobody = 65534;
constexpr int kCapPerfmon = 38;

// The errno of opening AnyEvent() with `options` in a process of nobody's, which keeps only the
// capability `keep` (-1: none).
int ErrnoAsNobody(const OpenOptions& options, int keep = -1) {
  Child child([&options, keep] {
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
        setresuid(kNobody, kNobody, kNobody) != 0) {
      return 126;
    }
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    if (keep >= 0) {
      data[keep / 32].effective = data[keep / 32].permitted = 1u << (keep % 32);
    }
    if (syscall(SYS_capset, &header, data) != 0) return 125;
    return TryOpen(target().AnyEvent(), options).error;
  });
  child.Go();
  return child.Wait();
}

CONFORMANCE_CASE(Permission, KernelNeedsTheRight, .rules = {rule::PRM_001},
                 .needs = {Cap::kExcludes}) {
  const OpenOptions user_only = {.exclude_kernel = true, .exclude_hv = true};
  {
    const Sysctl paranoid(kParanoid, "2");
    EXPECT_EQ(ErrnoAsNobody({}), EACCES) << rule::PRM_001.text;
    EXPECT_EQ(ErrnoAsNobody(user_only), 0) << rule::PRM_001.text;
  }
  const Sysctl paranoid(kParanoid, "1");
  EXPECT_EQ(ErrnoAsNobody({}), 0) << rule::PRM_001.text;
}

CONFORMANCE_CASE(Permission, CpuNeedsTheRight, .rules = {rule::PRM_002}) {
  const OpenOptions cpu_wide = {.pid = -1, .cpu = target().Cpu(0)};
  {
    const Sysctl paranoid(kParanoid, "1");
    EXPECT_EQ(ErrnoAsNobody(cpu_wide), EACCES) << rule::PRM_002.text;
  }
  const Sysctl paranoid(kParanoid, "0");
  EXPECT_EQ(ErrnoAsNobody(cpu_wide), 0) << rule::PRM_002.text;
}

CONFORMANCE_CASE(Permission, PerfmonIsEnough, .rules = {rule::PRM_006}) {
  const Sysctl paranoid(kParanoid, "2");
  EXPECT_EQ(ErrnoAsNobody({}, kCapPerfmon), 0) << rule::PRM_006.text;
  EXPECT_EQ(ErrnoAsNobody({.pid = -1, .cpu = target().Cpu(0)}, kCapPerfmon), 0)
      << rule::PRM_006.text;
}

CONFORMANCE_CASE(Permission, OtherUsersTasksAreOffLimits, .rules = {rule::PRM_007},
                 .needs = {Cap::kExcludes}) {
  const Sysctl paranoid(kParanoid, "-1");
  EXPECT_EQ(ErrnoAsNobody({.pid = getpid()}), EACCES) << rule::PRM_007.text;
  EXPECT_EQ(ErrnoAsNobody({.pid = getpid(), .exclude_kernel = true}), EACCES) << rule::PRM_007.text;
}

CONFORMANCE_CASE(Permission, PhysicalAddressesAndNamespacesNeedTheRight, .rules = {rule::PRM_008},
                 .needs = {Cap::kSampling, Cap::kExcludes}) {
  const OpenOptions physical = {
      .sample_period = 1'000, .sample_type = PERF_SAMPLE_PHYS_ADDR, .exclude_kernel = true};
  const OpenOptions namespaces = {.exclude_kernel = true,
                                  .edit = [](perf_event_attr& attr) { attr.namespaces = 1; }};
  {
    const Sysctl paranoid(kParanoid, "2");
    EXPECT_EQ(ErrnoAsNobody(physical), EACCES) << rule::PRM_008.text;
    EXPECT_EQ(ErrnoAsNobody(namespaces), EACCES) << rule::PRM_008.text;
  }
  const Sysctl paranoid(kParanoid, "-1");
  EXPECT_EQ(ErrnoAsNobody(physical), 0) << rule::PRM_008.text;
  EXPECT_EQ(ErrnoAsNobody(namespaces), EACCES) << rule::PRM_008.text;
}

CONFORMANCE_CASE(Permission, DescriptorOutlivesThePrivilege, .rules = {rule::PRM_016},
                 .needs = {Cap::kStimulus}) {
  const Sysctl paranoid(kParanoid, "2");
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  // Only the system call itself drops the privilege of one thread and keeps that of the others.
  const auto as_nobody = [&](const std::function<void()>& body) {
    std::thread([&] {
      ASSERT_EQ(syscall(SYS_setresuid, kNobody, kNobody, kNobody), 0);
      body();
    }).join();
  };
  as_nobody([&event] { EXPECT_THAT(event.TryEnable(), Succeeds()) << rule::PRM_016.text; });
  target().Stimulate(spec, 321);
  as_nobody([&] { EXPECT_THAT(event.Read(), Counted(spec, 321)) << rule::PRM_016.text; });
  as_nobody([&event] { event.Disable(); });
  target().Stimulate(spec, 5);
  EXPECT_THAT(event.Read(), Counted(spec, 321)) << rule::PRM_016.text;
}

}  // namespace
}  // namespace pmuconf
