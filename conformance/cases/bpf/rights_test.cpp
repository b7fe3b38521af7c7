// SPDX-License-Identifier: Apache-2.0
// Capabilities for loading a program and attaching it to an event.
#include <linux/capability.h>

#include "cases/unprivileged.h"
#include "harness/case.h"
#include "perf/bpf.h"
#include "rules/BPF.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

// Loads a program that returns 1, and attaches it to an event of this task. Returns 0, or the
// errno.
int ErrnoOfAProgram() {
  bpf_insn return_1[2] = {};
  return_1[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  return_1[0].imm = 1;
  return_1[1].code = BPF_JMP | BPF_EXIT;
  const Fd program(
      bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "rights", "Dual BSD/GPL", return_1, 2, nullptr));
  if (program.get() < 0) return -program.get();
  const OpenResult event =
      TryOpen(target().AnyEvent(), {.sample_period = 100 * target().min_period()});
  if (!event.ok()) return 124;
  return event.event.TryIoctl(PERF_EVENT_IOC_SET_BPF, static_cast<unsigned long>(program.get()))
      .error;
}

CONFORMANCE_CASE(BpfPermission, ProgramsNeedBothCapabilities, .rules = {rule::BPF_020},
                 .needs = {Cap::kSampling, Cap::kBpf}) {
  const Sysctl paranoid("kernel/perf_event_paranoid", "2");
  EXPECT_NE(Sysctl::Get("kernel/unprivileged_bpf_disabled"), "0");
  EXPECT_EQ(RunUnprivileged(ErrnoOfAProgram), EPERM);
  EXPECT_EQ(RunUnprivileged(ErrnoOfAProgram, {CAP_BPF}), EPERM);
  EXPECT_EQ(RunUnprivileged(ErrnoOfAProgram, {CAP_PERFMON}), EPERM);
  EXPECT_EQ(RunUnprivileged(ErrnoOfAProgram, {CAP_BPF, CAP_PERFMON}), 0);
}

}  // namespace
}  // namespace pmuconf
