// SPDX-License-Identifier: Apache-2.0
// How long a program stays on an event, and which operations a link supports.
#include <bpf/bpf.h>

#include "cases/bpf/period.h"
#include "count_overflows.skel.h"
#include "harness/case.h"
#include "perf/bpf.h"
#include "rules/BPF.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

// Whether a loaded program has this id.
bool Exists(std::uint32_t id) { return Fd(bpf_prog_get_fd_by_id(id)).get() >= 0; }

CONFORMANCE_CASE(BpfLifetime, LinkIsNeitherUpdatedNorDetached, .rules = {rule::BPF_024},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  Skeleton<count_overflows_bpf> first;
  Skeleton<count_overflows_bpf> second;
  const BpfLink link = AttachBpf(first->progs.on_overflow, event);
  EXPECT_EQ(bpf_link_update(link.fd(), ProgramFd(second->progs.on_overflow), nullptr), -EINVAL);
  EXPECT_EQ(bpf_link_detach(link.fd()), -EOPNOTSUPP);
  event.Enable();
  target().Stimulate(spec, 3 * kPeriod);
  EXPECT_EQ(first->bss->overflows, 3u);
  EXPECT_EQ(second->bss->overflows, 0u);
}

CONFORMANCE_CASE(BpfLifetime, AnotherProgramTakesThePlaceOfAClosedLink, .rules = {rule::BPF_024},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<count_overflows_bpf> first;
  Skeleton<count_overflows_bpf> second;
  {
    const BpfLink link = AttachBpf(first->progs.on_overflow, event);
    target().Stimulate(spec, 2 * kPeriod);
  }
  const BpfLink link = AttachBpf(second->progs.on_overflow, event);
  target().Stimulate(spec, 3 * kPeriod);
  EXPECT_EQ(first->bss->overflows, 2u);
  EXPECT_EQ(second->bss->overflows, 3u);
}

CONFORMANCE_CASE(BpfLifetime, LinkHoldsTheEvent, .rules = {rule::BPF_023},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<count_overflows_bpf> bpf;
  BpfLink link = AttachBpf(bpf->progs.on_overflow, event);
  event.Close();
  target().Stimulate(spec, 4 * kPeriod);
  EXPECT_EQ(bpf->bss->overflows, 4u);
  link.Detach();
  target().Stimulate(spec, 4 * kPeriod);
  EXPECT_EQ(bpf->bss->overflows, 4u);
}

CONFORMANCE_CASE(BpfLifetime, EventHoldsItsProgramUntilItIsClosed, .rules = {rule::BPF_023},
                 .needs = {Cap::kSampling, Cap::kBpf}) {
  for (const bool by_link : {false, true}) {
    SCOPED_TRACE(by_link ? "link" : "ioctl");
    Event event = Open(target().AnyEvent(), {.sample_period = kPeriod});
    BpfLink link(-1);
    std::uint32_t id = 0;
    {
      Skeleton<count_overflows_bpf> bpf;
      id = ProgramId(bpf->progs.on_overflow);
      if (by_link) {
        link = AttachBpf(bpf->progs.on_overflow, event);
      } else {
        event.SetBpf(ProgramFd(bpf->progs.on_overflow));
      }
    }
    EXPECT_TRUE(Exists(id));
    link.Detach();
    EXPECT_EQ(Exists(id), !by_link);
    event.Close();
    EXPECT_FALSE(Exists(id));
  }
}

CONFORMANCE_CASE(BpfLifetime, ExitedChildrenReleaseProgram, .rules = {rule::BPF_023, rule::BPF_016},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kBpf,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  std::uint32_t id = 0;
  {
    // A longer period could be incomplete at a context switch. The switch then hands its remainder
    // to the other task.
    const Event event = Open(spec, {.sample_period = 1, .disabled = false, .inherit = true});
    Skeleton<count_overflows_bpf> bpf;
    id = ProgramId(bpf->progs.on_overflow);
    event.SetBpf(ProgramFd(bpf->progs.on_overflow));
    for (int i = 0; i < 3; ++i) {
      Child child([&spec] {
        target().Stimulate(spec, 5);
        return 0;
      });
      ASSERT_EQ(child.Run(), 0);
    }
    EXPECT_EQ(bpf->bss->overflows, 15u) << rule::BPF_016;
  }
  EXPECT_FALSE(Exists(id)) << rule::BPF_023;
}

}  // namespace
}  // namespace pmuconf
