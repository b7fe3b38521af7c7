// SPDX-License-Identifier: Apache-2.0
// The stack helpers: skipped frames, stack ids, and invalid arguments.
#include <algorithm>

#include "cases/bpf/period.h"
#include "harness/case.h"
#include "overflow_stacks.skel.h"
#include "perf/bpf.h"
#include "rules/BPF.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kEntries = 32;  // same as in overflow_stacks.bpf.c

CONFORMANCE_CASE(BpfStack, SkipOmitsNewestFrames, .rules = {rule::BPF_030},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_stacks_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.take_part));
  for (const std::uint64_t skip : {0, 1, 2}) {
    bpf->bss->flags = skip;
    target().Stimulate(spec, kPeriod, {.privilege = Privilege::kKernel});
    const auto whole = static_cast<std::uint64_t>(bpf->bss->whole_size) / 8;
    ASSERT_GE(whole, 2u);
    ASSERT_LT(whole, kEntries) << "the stack has more entries than kEntries";
    EXPECT_EQ(bpf->bss->part_result, static_cast<std::int64_t>(8 * (whole - skip)));
    EXPECT_TRUE(std::equal(bpf->bss->part, bpf->bss->part + whole - skip, bpf->bss->whole + skip));
  }
}

CONFORMANCE_CASE(BpfStack, InvalidFlagsAndSkipsAreRefused, .rules = {rule::BPF_030},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_stacks_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.take_part));
  const auto result = [&](std::uint64_t flags) {
    bpf->bss->flags = flags;
    bpf->bss->part[0] = 1;
    target().Stimulate(spec, kPeriod);
    return bpf->bss->part_result;
  };
  EXPECT_EQ(result(std::uint64_t{1} << 32), -EINVAL);
  EXPECT_EQ(result(BPF_F_USER_BUILD_ID), -EINVAL);
  EXPECT_EQ(result(BPF_F_USER_STACK | 200), -EFAULT);
  EXPECT_EQ(bpf->bss->part[0], 0u);
}

CONFORMANCE_CASE(BpfStack, RoomForPartOfAnEntryIsRefused, .rules = {rule::BPF_030},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_stacks_bpf> bpf(
      [](overflow_stacks_bpf& skeleton) { skeleton.rodata->part_size = 3 * 8 + 4; });
  event.SetBpf(ProgramFd(bpf->progs.take_part));
  bpf->bss->flags = BPF_F_USER_STACK;
  target().Stimulate(spec, kPeriod);
  EXPECT_EQ(bpf->bss->part_result, -EINVAL);
}

// Whether the stack in the map under the program's id is the stack that the program read.
bool InMap(Skeleton<overflow_stacks_bpf>& bpf) {
  const auto id = static_cast<std::uint32_t>(bpf->bss->id);
  std::uint64_t stack[kEntries] = {};
  if (bpf_map_lookup_elem(bpf_map__fd(bpf->maps.stacks), &id, stack) != 0) return false;
  return stack[0] != 0 && std::equal(stack, stack + kEntries, bpf->bss->whole);
}

CONFORMANCE_CASE(BpfStack, StackIdFindsStackInMap, .rules = {rule::BPF_031},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_stacks_bpf> bpf;  // its map has one element
  event.SetBpf(ProgramFd(bpf->progs.take_id));
  for (int i = 0; i < 3; ++i) {
    target().Stimulate(spec, kPeriod, {.privilege = Privilege::kKernel});
    EXPECT_EQ(bpf->bss->id, 0);
    EXPECT_TRUE(InMap(bpf));
  }
  bpf->bss->flags = BPF_F_USER_STACK;
  target().Stimulate(spec, kPeriod, {.privilege = Privilege::kKernel});
  EXPECT_EQ(bpf->bss->id, -EEXIST);
}

CONFORMANCE_CASE(BpfStack, ReuseFlagReplacesStack, .rules = {rule::BPF_031},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_stacks_bpf> bpf([](overflow_stacks_bpf& skeleton) {
    // The map adds the new stack before it frees the old one.
    bpf_map__set_max_entries(skeleton.maps.stacks, 2);
  });
  event.SetBpf(ProgramFd(bpf->progs.take_id));
  for (const unsigned stack : {0u, 1u * BPF_F_USER_STACK, 0u, 1u * BPF_F_USER_STACK}) {
    bpf->bss->flags = stack | BPF_F_REUSE_STACKID;
    target().Stimulate(spec, kPeriod, {.privilege = Privilege::kKernel});
    ASSERT_GE(bpf->bss->id, 0);
    EXPECT_TRUE(InMap(bpf));
  }
}

}  // namespace
}  // namespace pmuconf
