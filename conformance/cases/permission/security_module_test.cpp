// SPDX-License-Identifier: Apache-2.0
// The kernel calls security modules and obeys them. In these cases a BPF program is the module.
#include <unistd.h>

#include "arch/arch.h"
#include "cases/mount.h"
#include "harness/case.h"
#include "perf/bpf.h"
#include "rules/PRM.h"
#include "security_hooks.skel.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

enum Hook { kOpen, kAlloc, kRead, kWrite, kLockedDown, kNone };

// Skips the case if no BPF program can be a security module, before the program is loaded.
struct Offered {
  Offered() {
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
      SkipCase(Cap::kBpf, "the kernel has no type information (BTF), which its hooks are named by");
    }
    const Mount securityfs("securityfs");
    const std::string modules = ReadFile(securityfs.path("lsm")).value_or("");
    if (("," + modules + ",").find(",bpf,") == std::string::npos) {
      SkipCase(Cap::kBpf, "the kernel's security modules are " + modules + ", without bpf");
    }
  }
};

// Decides about the actions of this process while the object lives.
class SecurityModule {
 public:
  SecurityModule() {
    bpf_->bss->process = static_cast<std::uint32_t>(getpid());
    const int error = security_hooks_bpf::attach(&*bpf_);
    // The kernel's ENOTSUPP, which no header of user space defines.
    constexpr int kNotSupported = -524;
    if (error == kNotSupported) {
      SkipCase(Cap::kBpf, "the kernel attaches no programs to its functions on this processor");
    }
    if (error != 0) BpfBroken("attach", -error);
  }
  void Refuse(Hook hook) { bpf_->data->refused = hook; }
  std::uint64_t CallCount(Hook hook) { return bpf_->bss->asked[hook]; }

 private:
  Offered offered_;
  Skeleton<security_hooks_bpf> bpf_;
};

CONFORMANCE_CASE(Permission, SecurityModuleCanRefuseEachCall, .rules = {rule::PRM_011},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  SecurityModule module;
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  EXPECT_GE(module.CallCount(kOpen), 1u);
  EXPECT_EQ(module.CallCount(kAlloc), 1u);
  const std::uint64_t writes = module.CallCount(kWrite), reads = module.CallCount(kRead);
  event.Enable();
  target().Stimulate(spec, 12);
  EXPECT_THAT(event.Read(), Counted(spec, 12));
  EXPECT_EQ(module.CallCount(kWrite), writes + 1);
  EXPECT_EQ(module.CallCount(kRead), reads + 1);
  module.Refuse(kRead);
  EXPECT_THAT(event.TryRead(sizeof(Reading)), FailsWith(EACCES));
  module.Refuse(kWrite);
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_DISABLE), FailsWith(EACCES));
  for (const Hook hook : {kOpen, kAlloc}) {
    module.Refuse(hook);
    EXPECT_THAT(TryOpen(spec), FailsWith(EACCES));
  }
  module.Refuse(kNone);
  target().Stimulate(spec, 30);
  EXPECT_THAT(event.Read(), Counted(spec, 42));
  EXPECT_THAT(TryOpen(spec), Succeeds());
}

CONFORMANCE_CASE(Permission, LockdownRefusesInterruptRegisters, .rules = {rule::PRM_012},
                 .needs = {Cap::kPort}) {
  SecurityModule module;
  const auto open_with = [](std::uint64_t sample_type) {
    return TryOpen(
        target().AnyEvent(),
        {.sample_period = 1'000, .sample_type = sample_type, .edit = [](perf_event_attr& attr) {
           attr.sample_regs_intr = attr.sample_regs_user = reg::Bit(reg::kIp);
         }});
  };
  const std::uint64_t others = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER;
  EXPECT_THAT(open_with(PERF_SAMPLE_REGS_INTR), Succeeds());
  EXPECT_EQ(module.CallCount(kLockedDown), 1u);
  module.Refuse(kLockedDown);
  EXPECT_THAT(open_with(PERF_SAMPLE_REGS_INTR), FailsWith(EPERM));
  EXPECT_THAT(open_with(others | PERF_SAMPLE_REGS_INTR), FailsWith(EPERM));
  EXPECT_THAT(open_with(others), Succeeds());
}

}  // namespace
}  // namespace pmuconf
