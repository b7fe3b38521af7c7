// SPDX-License-Identifier: Apache-2.0
// A BPF program on an event runs once for each overflow.
#include "count_overflows.skel.h"
#include "pmuconf/bpf.h"
#include "pmuconf/case.h"
#include "pmuconf/rules/BPF.h"

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
  EXPECT_EQ(bpf->bss->overflows, 25u) << rule::BPF_001.text;
}

}  // namespace
}  // namespace pmuconf
