// SPDX-License-Identifier: Apache-2.0
// BPF programs on overflow read the branch stack of the sample.
#include "perf/bpf.h"

#include "cases/branch/branch.h"
#include "read_branches.skel.h"
#include "rules/BPF.h"
#include "rules/BRS.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(BranchBpf, ProgramReadsTheStackOfTheSample,
                 .rules = {rule::BRS_009, rule::BPF_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kBpf}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  for (const unsigned precise : {0u, target().precise()}) {
    SCOPED_TRACE(precise);
    const Event event = Open(spec, WithBranches(kAnyUserBranch, target().min_period(), precise));
    Ring ring(event, 4);
    Skeleton<read_branches_bpf> bpf;
    event.SetBpf(ProgramFd(bpf->progs.on_overflow));
    event.Enable();
    for (const std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{40}}) {
      RunBranches(port(), Jumps(0x60400000 + 0x10000 * n, n));
      EndPeriod(spec);
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 1u);
      const std::vector<FromTo> want = FromTos(got.samples[0]);
      const auto bytes = static_cast<std::int64_t>(want.size() * sizeof(perf_branch_entry));
      EXPECT_EQ(bpf->bss->size, bytes) << rule::BRS_009;
      EXPECT_EQ(bpf->bss->whole_size, bytes) << rule::BRS_009;
      for (std::size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(bpf->bss->words[3 * i], want[i].first) << rule::BRS_009;
        EXPECT_EQ(bpf->bss->words[3 * i + 1], want[i].second) << rule::BRS_009;
      }
    }
  }
}

CONFORMANCE_CASE(BranchBpf, ReadWithoutBranchStackFails, .rules = {rule::BRS_009},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBranches, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = target().min_period()});
  Skeleton<read_branches_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  EndPeriod(spec);
  EXPECT_EQ(bpf->bss->overflows, 1u);
  EXPECT_EQ(bpf->bss->size, -ENOENT);
}

}  // namespace
}  // namespace pmuconf
