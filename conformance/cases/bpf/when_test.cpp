// SPDX-License-Identifier: Apache-2.0
// A program runs for the overflows of its own event only.
#include <linux/bpf.h>

#include "cases/bpf/period.h"
#include "cases/common.h"
#include "count_overflows.skel.h"
#include "harness/case.h"
#include "perf/bpf.h"
#include "perf/group.h"
#include "perf/ring.h"
#include "rules/BPF.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(BpfOverflow, DisabledEventRunsNoProgram, .rules = {rule::BPF_033},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  for (std::uint64_t i = 0; i < 3; ++i) {
    target().Stimulate(spec, 5 * kPeriod);
    EXPECT_EQ(bpf->bss->overflows, 2 * i);
    event.Enable();
    target().Stimulate(spec, 2 * kPeriod);
    event.Disable();
  }
  EXPECT_EQ(bpf->bss->overflows, 6u);
}

CONFORMANCE_CASE(BpfOverflow, CountingEventRunsNoProgram, .rules = {rule::BPF_033},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  target().Stimulate(spec, 1'000);
  EXPECT_EQ(bpf->bss->overflows, 0u);
  EXPECT_THAT(event.Read(), Counted(spec, 1'000));
}

CONFORMANCE_CASE(BpfOverflow, RefreshLimitsProgramRuns, .rules = {rule::BPF_033},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    event.Refresh(2);
    target().Stimulate(spec, kPeriod);
    EXPECT_EQ(bpf->bss->overflows, 2 * i - 1);
    for (int n = 0; n < 3; ++n) target().Stimulate(spec, kPeriod);
    EXPECT_EQ(bpf->bss->overflows, 2 * i);
  }
}

CONFORMANCE_CASE(BpfOverflow, PausedBufferDoesNotStopProgram, .rules = {rule::BPF_033},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Ring ring(event, 1);
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.PauseOutput(true);
  target().Stimulate(spec, 5 * kPeriod);
  EXPECT_EQ(bpf->bss->overflows, 5u);
  EXPECT_THAT(ring.DrainRaw(), testing::IsEmpty());
  event.PauseOutput(false);
  target().Stimulate(spec, 2 * kPeriod);
  EXPECT_EQ(bpf->bss->overflows, 7u);
  EXPECT_EQ(ring.Drain().samples.size(), 2u);
}

CONFORMANCE_CASE(BpfOverflow, GroupMembersRunOwnPrograms, .rules = {rule::BPF_033, rule::BPF_025},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kBpf,
                           Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event leader = Open(specs[0], {.sample_period = kPeriod});
  const Event member =
      Open(specs[1], {.group_fd = leader.fd(), .sample_period = 2 * kPeriod, .disabled = false});
  Skeleton<count_overflows_bpf> first;
  Skeleton<count_overflows_bpf> second;
  leader.SetBpf(ProgramFd(first->progs.on_overflow));
  member.SetBpf(ProgramFd(second->progs.on_overflow));
  leader.Enable();
  target().Stimulate(specs[0], 4 * kPeriod);
  target().Stimulate(specs[1], 6 * kPeriod);
  EXPECT_EQ(first->bss->overflows, 4u) << rule::BPF_033;
  EXPECT_EQ(first->bss->period_sum, 4 * kPeriod) << rule::BPF_033;
  EXPECT_EQ(second->bss->overflows, 3u) << rule::BPF_033;
  EXPECT_EQ(second->bss->period_sum, 6 * kPeriod) << rule::BPF_033;
}

CONFORMANCE_CASE(BpfOverflow, FrequencyPeriodsSumToCount, .rules = {rule::BPF_032},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kFrequency, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  // The frequency is higher than the rate of any stimulus, so each period is the shortest one.
  const Event event = Open(spec, {.sample_freq = SampleRateLimit::kNoLimit});
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  target().Stimulate(spec, 300 * target().min_period());
  event.Disable();
  EXPECT_EQ(bpf->bss->overflows, 300u);
  EXPECT_EQ(bpf->bss->period_sum, event.Read().value);
}

CONFORMANCE_CASE(BpfOverflow, ProgramWithoutBtfRuns, .rules = {rule::BPF_001},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Ring ring(event, 1);
  bpf_insn return_0[2] = {};
  return_0[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  return_0[1].code = BPF_JMP | BPF_EXIT;
  const Fd program(
      bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "drop", "Dual BSD/GPL", return_0, 2, nullptr));
  ASSERT_GE(program.get(), 0);
  target().Stimulate(spec, 3 * kPeriod);
  EXPECT_EQ(ring.Drain().samples.size(), 3u);
  event.SetBpf(program.get());
  target().Stimulate(spec, 3 * kPeriod);
  EXPECT_THAT(ring.DrainRaw(), testing::IsEmpty());
}

}  // namespace
}  // namespace pmuconf
