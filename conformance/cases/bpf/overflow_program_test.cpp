// SPDX-License-Identifier: Apache-2.0
// A BPF program on an event runs once for each overflow.
#include "cases/precise/precise.h"
#include "count_overflows.skel.h"
#include "harness/case.h"
#include "perf/bpf.h"
#include "rules/BPF.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Bpf, ProgramRunsOncePerOverflow, .rules = {rule::BPF_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 1'000});
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));

  event.Enable();
  target().Stimulate(spec, 25'300);
  event.Disable();
  EXPECT_EQ(bpf->bss->overflows, 25u);
}

// The samples of a precise event may wait in the PMU's buffer. With a program on the event, the
// driver must drain the buffer at each overflow.
CONFORMANCE_CASE(Bpf, ProgramRunsAtEachOverflowOfAPreciseEvent, .rules = {rule::BPF_001},
                 .needs = {Cap::kStimulus, Cap::kPrecise, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Precise(10));
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  for (std::uint64_t i = 1; i <= 5; ++i) {
    target().Stimulate(spec, 25);
    EXPECT_EQ(bpf->bss->overflows, 25 * i / 10);
  }
}

}  // namespace
}  // namespace pmuconf
