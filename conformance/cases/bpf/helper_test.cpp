// SPDX-License-Identifier: Apache-2.0
// Helpers that BPF programs on overflow call: signals, stacks, tracepoints, and other events.
#include <signal.h>

#include <algorithm>

#include "cases/bpf/event_map.h"
#include "cases/bpf/period.h"
#include "cases/signal/overflow_signals.h"
#include "cases/tracepoint/tracepoint.h"
#include "harness/behaviour.h"
#include "harness/uses.h"
#include "overflow_facts.skel.h"
#include "overflow_helpers.skel.h"
#include "overflow_output.skel.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "read_branches.skel.h"
#include "rules/BPF.h"
#include "system/cpu.h"
#include "tracepoint.skel.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(BpfHelper, SignalReachesTheTaskOfTheOverflow, .rules = {rule::BPF_012},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  Skeleton<overflow_helpers_bpf> bpf(
      [](overflow_helpers_bpf& skeleton) { skeleton.rodata->signal_number = SIGUSR1; });
  event.SetBpf(ProgramFd(bpf->progs.send_signal));
  event.Enable();
  const std::uint64_t last = target().min_period();  // the driver may lengthen a shorter period
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const timespec at_once = {};
    target().Stimulate(spec, kPeriod - last);
    EXPECT_LT(sigtimedwait(&set, nullptr, &at_once), 0);
    target().Stimulate(spec, last);
    EXPECT_EQ(bpf->bss->runs, i);
    EXPECT_EQ(bpf->bss->result, 0);
    EXPECT_EQ(sigtimedwait(&set, nullptr, &at_once), SIGUSR1);
  }
}

CONFORMANCE_CASE(BpfHelper, StackOfAPreciseEventNeedsItsCallChain, .rules = {rule::BPF_006},
                 .needs = {Cap::kPrecise, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  Skeleton<overflow_helpers_bpf> bpf;
  const auto attach = [&](std::uint64_t sample_type, bool no_kernel, bool no_user) {
    const Event event = Open(
        spec,
        {.sample_period = kPeriod, .sample_type = sample_type, .edit = [=](perf_event_attr& attr) {
           attr.precise_ip = 1;
           attr.exclude_callchain_kernel = no_kernel;
           attr.exclude_callchain_user = no_user;
         }});
    return event.TryIoctl(PERF_EVENT_IOC_SET_BPF,
                          static_cast<unsigned long>(ProgramFd(bpf->progs.take_kernel_stack)));
  };
  EXPECT_THAT(attach(PERF_SAMPLE_IP, false, false), FailsWith(EPROTO));
  EXPECT_THAT(attach(PERF_SAMPLE_CALLCHAIN, true, false), FailsWith(EPROTO));
  EXPECT_THAT(attach(PERF_SAMPLE_CALLCHAIN, false, true), FailsWith(EPROTO));
  EXPECT_THAT(attach(PERF_SAMPLE_CALLCHAIN, false, false), Succeeds());
}

CONFORMANCE_CASE(BpfHelper, NoBranchesAreReadWithoutABranchStack, .rules = {rule::BPF_010},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  Skeleton<read_branches_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  target().Stimulate(spec, kPeriod);
  EXPECT_EQ(bpf->bss->overflows, 1u);
  EXPECT_EQ(bpf->bss->size, -ENOENT);
  EXPECT_EQ(bpf->bss->whole_size, -ENOENT);
}

CASE_USES(BpfHelper, NestedProgramIsSkipped, Feature::kSyscallEvents);
// The program on overflow hits a tracepoint. The kernel must not run the tracepoint's program,
// because another program runs on this CPU.
CONFORMANCE_CASE(BpfHelper, NestedProgramIsSkipped, .rules = {rule::BPF_017},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  Skeleton<overflow_helpers_bpf> outer;
  Skeleton<tracepoint_bpf> inner;
  event.SetBpf(ProgramFd(outer->progs.pass_a_tracepoint));
  const Event inside = Open(SpecOfTracepoint("bpf_trace:bpf_trace_printk"));
  inside.SetBpf(ProgramFd(inner->progs.first));
  const Event outside = Open(SpecOfTracepoint(kGetpgid));
  outside.SetBpf(ProgramFd(inner->progs.first));
  inside.Enable();
  event.Enable();
  target().Stimulate(spec, 4 * kPeriod);
  event.Disable();
  EXPECT_EQ(outer->bss->runs, 4u);
  EXPECT_GT(outer->bss->result, 0);
  EXPECT_EQ(inner->bss->order, 0u);
  HitTracepoint({3});
  EXPECT_EQ(inner->bss->order, 1u);
}

CONFORMANCE_CASE(BpfHelper, ProgramSeesTheCallChainOfTheSample, .rules = {rule::BPF_019},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .sample_type = PERF_SAMPLE_CALLCHAIN});
  Ring ring(event, 4);
  Skeleton<overflow_helpers_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.take_kernel_stack));
  event.Enable();
  target().Stimulate(spec, kPeriod, {.privilege = Privilege::kKernel});
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  const std::vector<std::uint64_t>& chain = *got.samples[0].callchain;
  ASSERT_GE(bpf->bss->result, 8);
  const auto seen = static_cast<std::size_t>(bpf->bss->result) / 8;
  const __u64* const stack = bpf->bss->stack;
  EXPECT_NE(std::search(chain.begin(), chain.end(), stack, stack + seen), chain.end());
}

CONFORMANCE_CASE(BpfHelper, PreserveFlagKeepsMapEntries, .rules = {rule::BPF_015},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  for (const bool preserve : {false, true}) {
    const EventSpec spec = target().AnyEvent();
    const Event event = Open(spec, {.sample_period = kPeriod});
    const Event counting = Open(spec, {.disabled = false});
    Skeleton<overflow_output_bpf> bpf([preserve](overflow_output_bpf& skeleton) {
      bpf_map__set_map_flags(skeleton.maps.other, preserve ? BPF_F_PRESERVE_ELEMS : 0);
    });
    bpf_map_info info = {};
    std::uint32_t size = sizeof(info);
    ASSERT_EQ(bpf_obj_get_info_by_fd(bpf_map__fd(bpf->maps.other), &info, &size), 0);
    event.SetBpf(ProgramFd(bpf->progs.read_other));
    event.Enable();
    {
      const Fd another_way_in(bpf_map_get_fd_by_id(info.id));
      PutEvent(another_way_in.get(), 0, counting);
      target().Stimulate(spec, kPeriod);
      EXPECT_EQ(bpf->bss->other_error, 0);
    }
    target().Stimulate(spec, kPeriod);
    EXPECT_EQ(bpf->bss->other_error, preserve ? 0 : -ENOENT);
  }
}

CONFORMANCE_CASE(BpfHelper, ReadOfUnsuitableEventFails, .rules = {rule::BPF_009},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_output_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.read_other));
  const auto error_of = [&](const OpenOptions& options) {
    const Event other = Open(spec, options);
    PutEvent(bpf->maps.other, 0, other);
    target().Stimulate(spec, kPeriod);
    return bpf->bss->other_error;
  };
  // First, because the map closes the events that it drops later.
  EXPECT_EQ(PutErrno(bpf_map__fd(bpf->maps.other), 0, Open(spec, {.inherit = true}).fd()),
            EOPNOTSUPP);
  EXPECT_EQ(error_of({.pid = -1, .cpu = target().Cpu(1)}), -EINVAL);
  EXPECT_EQ(error_of({.pinned = true}), -EBUSY);
  EXPECT_EQ(error_of({}), 0);
}

CONFORMANCE_CASE(BpfHelper, DroppedOverflowSignalDependsOnKernel, .rules = {rule::BPF_003},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  Skeleton<overflow_facts_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  std::uint64_t signalled = 1;  // by an overflow whose sample the program drops
  for (const bool drop : {true, false}) {
    bpf->bss->drop_mask = drop ? ~std::uint64_t{0} : 0;
    event.Enable();
    target().Stimulate(spec, kPeriod);
    event.Disable();
    const std::size_t got = signals.Drain().size();
    if (!drop) {
      EXPECT_EQ(got, 1u);
      continue;
    }
    signalled = got;
    EXPECT_TRUE(IsBehaviour(rule::BPF_003, "signals", static_cast<std::int64_t>(got)));
  }
  bpf->bss->drop_mask = ~std::uint64_t{0};
  const std::uint64_t before = event.Read().value;
  event.Refresh(2);
  target().Stimulate(spec, 5 * kPeriod);
  event.Disable();
  const std::uint64_t overflows = signalled == 1 ? 2 : 5;
  EXPECT_EQ(event.Read().value - before, overflows * kPeriod);
}

}  // namespace
}  // namespace pmuconf
