// SPDX-License-Identifier: Apache-2.0
// The context of a BPF program on overflow: its registers, its task, and its readable fields.
#include <linux/bpf_perf_event.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cstddef>

#include "cases/bpf/period.h"
#include "cases/common.h"
#include "harness/case.h"
#include "overflow_context.skel.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "rules/BPF.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(BpfContext, IpEqualsSampleIp, .rules = {rule::BPF_026},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .sample_type = PERF_SAMPLE_IP});
  Ring ring(event, 1);
  Skeleton<overflow_context_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  for (const Privilege privilege : {Privilege::kUser, Privilege::kKernel}) {
    target().Stimulate(spec, kPeriod, {.privilege = privilege});
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_NE(bpf->bss->ip, 0u);
    EXPECT_EQ(bpf->bss->ip, got.samples[0].ip);
  }
}

CONFORMANCE_CASE(BpfContext, ProgramSeesTheInterruptedTask, .rules = {rule::BPF_025},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_context_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  ASSERT_EQ(prctl(PR_SET_NAME, "interrupted"), 0);
  target().Stimulate(spec, kPeriod);
  EXPECT_EQ(bpf->bss->pid_tgid >> 32, static_cast<std::uint64_t>(getpid()));
  EXPECT_EQ(bpf->bss->pid_tgid & 0xffffffff, static_cast<std::uint64_t>(gettid()));
  EXPECT_STREQ(bpf->bss->comm, "interrupted");
}

CONFORMANCE_CASE(BpfContext, OneProgramServesTheEventsOfAllCpus, .rules = {rule::BPF_025},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf, Cap::kTasks,
                           Cap::kCpus2},
                 .timing = "waits for the interrupt of another CPU, at most 5 s") {
  const EventSpec spec = target().AnyEvent();
  const std::vector<int> cpus = target().Cpus();
  Skeleton<overflow_context_bpf> bpf;
  std::vector<Event> events;
  for (const int cpu : cpus) {
    events.push_back(
        Open(spec, {.pid = -1, .cpu = cpu, .sample_period = kPeriod, .disabled = false}));
    events.back().SetBpf(ProgramFd(bpf->progs.on_overflow));
  }
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    target().Stimulate(spec, (i + 1) * kPeriod, {.cpu = cpus[i]});
    all += i + 1;
    // The interrupt of another CPU may come after the call that generates the events.
    ASSERT_TRUE(RepeatUntil([] { sched_yield(); }, [&] { return bpf->bss->runs >= all; }));
    EXPECT_EQ(bpf->bss->runs_on[cpus[i]], i + 1);
    EXPECT_EQ(bpf->bss->runs, all);
  }
}

// Loads a program that does `access` at `offset` of its context and returns. Returns 0, or the
// errno.
int ErrnoOfAccess(std::uint8_t access, std::size_t offset) {
  bpf_insn program[3] = {};
  program[0].code = access;
  program[0].dst_reg = (access & 0x07) == BPF_LDX ? BPF_REG_0 : BPF_REG_1;
  program[0].src_reg = BPF_REG_1;
  program[0].off = static_cast<std::int16_t>(offset);
  program[1].code = BPF_ALU64 | BPF_MOV | BPF_K;
  program[2].code = BPF_JMP | BPF_EXIT;
  const Fd fd(
      bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "access", "Dual BSD/GPL", program, 3, nullptr));
  return fd.get() < 0 ? -fd.get() : 0;
}

CONFORMANCE_CASE(BpfContext, InvalidContextAccessIsRefused, .rules = {rule::BPF_027},
                 .needs = {Cap::kSampling, Cap::kBpf}) {
  constexpr std::uint8_t kLoad = BPF_LDX | BPF_MEM;
  constexpr std::uint8_t kLoad8 = kLoad | BPF_DW;
  constexpr std::uint8_t kStore8 = BPF_STX | BPF_MEM | BPF_DW;
  const std::size_t words[] = {offsetof(bpf_perf_event_data, sample_period),
                               offsetof(bpf_perf_event_data, addr)};
  for (const std::size_t word : words) {
    for (const std::uint8_t size : {BPF_DW, BPF_W, BPF_H, BPF_B}) {
      EXPECT_EQ(ErrnoOfAccess(kLoad | size, word), 0);
    }
    EXPECT_EQ(ErrnoOfAccess(kLoad8, word + 4), EACCES);
    EXPECT_EQ(ErrnoOfAccess(kStore8, word), EACCES);
  }
  EXPECT_EQ(ErrnoOfAccess(kLoad8, 0), 0);
  EXPECT_EQ(ErrnoOfAccess(kLoad | BPF_W, 0), EACCES);
  EXPECT_EQ(ErrnoOfAccess(kStore8, 0), EACCES);
  EXPECT_EQ(ErrnoOfAccess(kLoad8, sizeof(bpf_perf_event_data)), EACCES);
}

}  // namespace
}  // namespace pmuconf
