// SPDX-License-Identifier: Apache-2.0
// Attaching BPF programs to events: valid programs, detaching, other counters, and inheritance.
#include <bpf/bpf.h>

#include "cases/common.h"
#include "count_overflows.skel.h"
#include "harness/case.h"
#include "perf/bpf.h"
#include "perf/group.h"
#include "perf/ring.h"
#include "rules/BPF.h"
#include "rules/DRC.h"
#include "system/cpu.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Bpf, ClosedLinkStopsProgramOnly, .rules = {rule::BPF_002},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  Ring ring(event, 4);
  Skeleton<count_overflows_bpf> bpf;
  event.Enable();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    BpfLink link = AttachBpf(bpf->progs.on_overflow, event);
    target().Stimulate(spec, 70);
    EXPECT_EQ(bpf->bss->overflows, 7 * i);
    link.Detach();
    target().Stimulate(spec, 30);
    EXPECT_EQ(bpf->bss->overflows, 7 * i);
  }
  EXPECT_THAT(event.Read(), Counted(spec, 300));
  EXPECT_EQ(ring.Drain().samples.size(), 30u);
}

CONFORMANCE_CASE(Bpf, SecondProgramIsRefused, .rules = {rule::BPF_004},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  Skeleton<count_overflows_bpf> first;
  Skeleton<count_overflows_bpf> second;
  event.SetBpf(ProgramFd(first->progs.on_overflow));
  const auto fd = static_cast<unsigned long>(ProgramFd(second->progs.on_overflow));
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_SET_BPF, fd), FailsWith(EEXIST));
  EXPECT_THAT(TryAttachBpf(second->progs.on_overflow, event), FailsWith(EEXIST));
  event.Enable();
  target().Stimulate(spec, 100);
  EXPECT_EQ(first->bss->overflows, 10u);
  EXPECT_EQ(second->bss->overflows, 0u);
}

CONFORMANCE_CASE(Bpf, WrongProgramsAreRefused, .rules = {rule::BPF_005},
                 .needs = {Cap::kSampling, Cap::kBpf}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 10});
  const auto set_bpf = [&event](int fd) {
    return event.TryIoctl(PERF_EVENT_IOC_SET_BPF, static_cast<unsigned long>(fd));
  };
  EXPECT_THAT(set_bpf(999), FailsWith(EBADF));
  bpf_insn return_0[2] = {};
  return_0[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  return_0[1].code = BPF_JMP | BPF_EXIT;
  for (const bpf_prog_type type : {BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_XDP}) {
    const Fd program(bpf_prog_load(type, "wrong", "Dual BSD/GPL", return_0, 2, nullptr));
    ASSERT_GE(program.get(), 0);
    EXPECT_THAT(set_bpf(program.get()), FailsWith(EINVAL));
  }
}

CONFORMANCE_CASE(Bpf, QueryNeedsTracepoint, .rules = {rule::BPF_021},
                 .needs = {Cap::kSampling, Cap::kBpf}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 10});
  std::uint32_t query[16] = {8};
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_QUERY_BPF, reinterpret_cast<unsigned long>(query)),
              FailsWith(EINVAL));
}

// Each event has a program of its own, so that a run for another event's overflow is noticed.
CONFORMANCE_CASE(Bpf, ProgramRunsOnEachGeneralCounter, .rules = {rule::BPF_018, rule::BPF_001},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kBpf,
                           Cap::kAnyTask},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  std::vector<std::unique_ptr<Skeleton<count_overflows_bpf>>> programs;
  std::vector<Event> events;
  const auto period = [](std::size_t i) { return 10'000 + 100 * i; };
  for (std::size_t i = 0; i < specs.size(); ++i) {
    programs.push_back(std::make_unique<Skeleton<count_overflows_bpf>>());
    events.push_back(Open(specs[i], {.sample_period = period(i)}));
    events.back().SetBpf(ProgramFd((*programs.back())->progs.on_overflow));
    events.back().Enable();
  }
  std::vector<std::uint64_t> count(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::uint64_t n = 3 * period(i) + 9;
    target().Stimulate(specs[i], n);
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (ShareStimulus(specs[i], specs[j])) count[j] += n;
      const std::uint64_t overflows = count[j] / period(j);
      EXPECT_EQ((*programs[j])->bss->overflows, overflows) << rule::BPF_001 << " " << j;
      EXPECT_EQ((*programs[j])->bss->period_sum, overflows * period(j)) << rule::BPF_018;
    }
  }
}

CONFORMANCE_CASE(Bpf, ProgramRunsOnEachFixedCounter, .rules = {rule::BPF_018},
                 .needs = {Cap::kManualClock, Cap::kSampling, Cap::kBpf, Cap::kFixedCounters}) {
  for (const EventSpec& spec : target().Events({.fixed = true})) {
    Skeleton<count_overflows_bpf> bpf;
    const Event event = Open(spec, {.sample_period = 250});
    event.SetBpf(ProgramFd(bpf->progs.on_overflow));
    event.Enable();
    target().Stimulate(spec, 2'749);
    EXPECT_EQ(bpf->bss->overflows, 10u);
    EXPECT_EQ(bpf->bss->period_sum, 2'500u);
  }
}

CONFORMANCE_CASE(Bpf, ProgramRunsForChildren, .rules = {rule::BPF_016},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kBpf,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  // A longer period could be incomplete at a context switch. The switch then hands its remainder to
  // the other task.
  const Event event = Open(spec, {.sample_period = 1, .inherit = true});
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  target().Stimulate(spec, 20);
  for (int i = 0; i < 3; ++i) {
    Child child([&spec] {
      target().Stimulate(spec, 55);
      return 0;
    });
    ASSERT_EQ(child.Run(), 0);
  }
  EXPECT_EQ(bpf->bss->overflows, 20u + 3 * 55);
}

CONFORMANCE_CASE(Bpf, ProgramDoesNotPreventThrottling, .rules = {rule::BPF_022, rule::DRC_077},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kBpf}) {
  const SampleRateLimit limit(1);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_ID});
  Ring ring(event, 16);
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  std::size_t samples = 0;
  bool throttled = false;
  for (int i = 0; i < 1'000 && !throttled; ++i) {
    target().Stimulate(spec, 20);
    const RingContents got = ring.Drain();
    samples += got.samples.size();
    throttled = !got.throttles.empty();
  }
  event.Disable();
  samples += ring.Drain().samples.size();
  EXPECT_TRUE(throttled) << rule::BPF_022;
  EXPECT_EQ(bpf->bss->overflows, samples) << rule::BPF_022;
  EXPECT_THAT(event.Read(), Counted(spec, samples)) << rule::BPF_022;
}

}  // namespace
}  // namespace pmuconf
