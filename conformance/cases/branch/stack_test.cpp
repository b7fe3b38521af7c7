// SPDX-License-Identifier: Apache-2.0
// Contents of a branch stack: which branches, their order, their flags, and their number.
#include "cases/branch/branch.h"
#include "cases/common.h"
#include "cases/subject.h"
#include "harness/behaviour.h"
#include "rules/BRS.h"
#include "rules/PRC.h"
#include "rules/REC.h"
#include "rules/SMP.h"

namespace pmuconf {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

CONFORMANCE_CASE(BranchStack, HoldsTheNewestBranchFirst, .rules = {rule::BRS_012, rule::BRS_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const Subject subject(*this, WithBranches(kAnyUserBranch));
  const Event& event = subject.event();
  Ring ring(event, 4);
  event.Enable();
  EXPECT_THAT(StackNow(spec, ring), IsEmpty()) << rule::BRS_003;
  std::vector<Branch> all;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const std::vector<Branch> some = Jumps(0x60400000 + 0x1000 * i, 3);
    RunBranches(port(), some);
    all.insert(all.end(), some.begin(), some.end());
    EXPECT_EQ(StackNow(spec, ring), Newest(all, all.size())) << rule::BRS_012;
  }
}

// The program calls a function through a null pointer.
CONFORMANCE_CASE(BranchStack, BranchToAddressZeroIsRecorded,
                 .rules = {rule::BRS_012, rule::BRS_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, WithBranches(kAnyUserBranch), 4);
  const std::vector<Branch> all = {{.from = 0x60400000, .to = 0x60400100},
                                   {.from = 0x60400110, .to = 0},
                                   {.from = 0, .to = 0x60400200},
                                   {.from = 0x60400210, .to = 0x60400300}};
  RunBranches(port(), all);
  EXPECT_EQ(StackNow(spec, ring), Newest(all, all.size())) << rule::BRS_012;
}

CONFORMANCE_CASE(BranchStack, DepthEqualsHardwareDepth, .rules = {rule::BRS_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const std::size_t depth = target().branches();
  const auto cap = ReadFile(DeviceFile("caps/branches"));
  if (cap) {
    EXPECT_EQ(*cap, std::to_string(depth));
  }
  for (const std::size_t n : {std::size_t{1}, depth - 1, depth, depth + 1, 3 * depth + 5}) {
    SCOPED_TRACE(n);
    auto [event, ring] = Sampler(spec, WithBranches(kAnyUserBranch), 4);
    const std::vector<Branch> jumps = Jumps(0x60400000, n);
    RunBranches(port(), jumps);
    EXPECT_EQ(StackNow(spec, ring), Newest(jumps, depth));
  }
}

CONFORMANCE_CASE(BranchStack, EntriesReportFlagsAndCycles, .rules = {rule::BRS_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, WithBranches(kAnyUserBranch), 4);
  std::vector<Branch> branches;
  for (std::uint32_t flags = 0; flags < 8; ++flags) {
    branches.push_back({.from = 0x60400000 + 16 * flags,
                        .to = 0x60500000 + 16 * flags,
                        .flags = flags,
                        .cycles = flags == 7 ? 0xffff : 100 * flags});
  }
  RunBranches(port(), branches);
  EndPeriod(spec);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  const std::vector<perf_branch_entry>& stack = *got.samples[0].branches;
  ASSERT_EQ(stack.size(), 8u) << rule::BRS_003;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const Branch& want = branches[7 - i];
    SCOPED_TRACE(want.flags);
    EXPECT_EQ(stack[i].from, want.from);
    EXPECT_EQ(stack[i].to, want.to);
    EXPECT_EQ(stack[i].mispred != 0, (want.flags & REFPMU_BRANCH_MISPREDICTED) != 0);
    EXPECT_NE(stack[i].mispred, stack[i].predicted);
    EXPECT_EQ(stack[i].in_tx != 0, (want.flags & REFPMU_BRANCH_IN_TX) != 0);
    EXPECT_EQ(stack[i].abort != 0, (want.flags & REFPMU_BRANCH_ABORT) != 0);
    EXPECT_EQ(stack[i].cycles, want.cycles);
  }
}

CONFORMANCE_CASE(BranchStack, UnwantedFlagsAndCyclesAreZero, .rules = {rule::BRS_015},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(
      spec,
      WithBranches(kAnyUserBranch | PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES), 4);
  std::vector<Branch> branches = Jumps(0x60400000, 2);
  branches[0].flags = REFPMU_BRANCH_MISPREDICTED | REFPMU_BRANCH_IN_TX | REFPMU_BRANCH_ABORT;
  branches[0].cycles = 77;
  RunBranches(port(), branches);
  EndPeriod(spec);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  EXPECT_EQ(FromTos(got.samples[0]), Newest(branches, 2)) << rule::BRS_012;
  for (const perf_branch_entry& entry : *got.samples[0].branches) {
    EXPECT_FALSE(entry.mispred || entry.predicted || entry.in_tx || entry.abort);
    EXPECT_EQ(entry.cycles, 0u);
  }
}

CONFORMANCE_CASE(BranchStack, TypeSaveAddsType, .rules = {rule::BRS_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  const NoPreemption no_preemption;
  const std::vector<std::pair<BranchKind, std::uint64_t>> kinds = {
      {BranchKind::kConditional, PERF_BR_COND},      {BranchKind::kJump, PERF_BR_UNCOND},
      {BranchKind::kIndirectJump, PERF_BR_IND},      {BranchKind::kCall, PERF_BR_CALL},
      {BranchKind::kIndirectCall, PERF_BR_IND_CALL}, {BranchKind::kReturn, PERF_BR_RET}};
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t type_bit :
       {std::uint64_t{PERF_SAMPLE_BRANCH_TYPE_SAVE}, std::uint64_t{0}}) {
    auto [event, ring] = Sampler(spec, WithBranches(kAnyUserBranch | type_bit), 4);
    for (const auto& [kind, type] : kinds) {
      RunBranches(port(), {{.from = 0x60400000, .to = 0x60400800, .kind = kind}});
      EndPeriod(spec);
      const RingContents got = ring.Drain();
      ASSERT_EQ(got.samples.size(), 1u);
      const std::vector<perf_branch_entry>& stack = *got.samples[0].branches;
      ASSERT_GE(stack.size(), 1u);
      EXPECT_EQ(std::uint64_t{stack[0].type}, type_bit == 0 ? 0 : type);
    }
  }
}

CONFORMANCE_CASE(BranchStack, PrivSaveAddsPrivilege, .rules = {rule::BRS_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kExcludes}) {
  const std::vector<Branch> branches = {Jumps(0x60400000, 1)[0], InKernel(0)};
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t type_bit :
       {std::uint64_t{PERF_SAMPLE_BRANCH_PRIV_SAVE}, std::uint64_t{0}}) {
    auto [event, ring] =
        Sampler(spec, WithBranches(kAnyUserBranch | PERF_SAMPLE_BRANCH_KERNEL | type_bit), 4);
    RunBranches(port(), branches);
    EndPeriod(spec);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    const std::vector<perf_branch_entry>& stack = *got.samples[0].branches;
    ASSERT_GE(stack.size(), 2u);
    EXPECT_EQ(std::uint64_t{stack[0].priv}, type_bit == 0 ? 0 : std::uint64_t{PERF_BR_PRIV_KERNEL});
    EXPECT_EQ(std::uint64_t{stack[1].priv}, type_bit == 0 ? 0 : std::uint64_t{PERF_BR_PRIV_USER});
  }
}

CONFORMANCE_CASE(BranchStack, PrivilegeIsThatOfBranchTarget, .rules = {rule::BRS_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kExcludes}) {
  const std::vector<Branch> branches = {IntoKernel(0x60400000), OutOfKernel(0x60400002)};
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(
      spec, WithBranches(kAnyUserBranch | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_PRIV_SAVE),
      4);
  RunBranches(port(), branches);
  EndPeriod(spec);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  const std::vector<perf_branch_entry>& stack = *got.samples[0].branches;
  ASSERT_GE(stack.size(), 2u);
  EXPECT_EQ(std::uint64_t{stack[0].priv}, std::uint64_t{PERF_BR_PRIV_USER});
  EXPECT_EQ(std::uint64_t{stack[1].priv}, std::uint64_t{PERF_BR_PRIV_KERNEL});
}

CONFORMANCE_CASE(BranchStack, HwIndexBitAddsHwIndex, .rules = {rule::BRS_003, rule::REC_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  for (const unsigned precise : {0u, target().precise()}) {
    auto [event, ring] = Sampler(
        spec,
        WithBranches(kAnyUserBranch | PERF_SAMPLE_BRANCH_HW_INDEX, target().min_period(), precise),
        4);
    const std::vector<Branch> jumps = Jumps(0x60400000, 5);
    RunBranches(port(), jumps);
    EndPeriod(spec);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u) << rule::REC_001;
    EXPECT_EQ(FromTos(got.samples[0]), Newest(jumps, 5)) << rule::BRS_003;
    const std::uint64_t index = *got.samples[0].branch_hw_index;
    EXPECT_TRUE(index < target().branches() || index == ~0ull) << rule::BRS_003 << index;
    RunBranches(port(), Jumps(0x60500000, 3));
    EndPeriod(spec);
    const RingContents next = ring.Drain();
    ASSERT_EQ(next.samples.size(), 1u) << rule::REC_001;
    EXPECT_EQ(*next.samples[0].branch_hw_index,
              index == ~0ull ? index : (index + 3) % target().branches())
        << rule::BRS_003;
  }
}

CONFORMANCE_CASE(BranchStack, BranchEventSampleStartsWithItsBranch,
                 .rules = {rule::BRS_012, rule::BRS_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().Event("branches");
  for (const unsigned precise : {0u, target().precise()}) {
    SCOPED_TRACE(precise);
    auto [event, ring] = Sampler(spec, WithBranches(kAnyUserBranch, 7, precise), 16);
    const std::vector<Branch> jumps = Jumps(0x60400000, 70);
    RunBranches(port(), jumps);
    event.Disable();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 10u) << rule::SMP_001;
    for (std::size_t i = 0; i < 10; ++i) {
      const std::vector<Branch> so_far(jumps.begin(),
                                       jumps.begin() + static_cast<std::ptrdiff_t>(7 * (i + 1)));
      EXPECT_EQ(FromTos(got.samples[i]), Newest(so_far, target().branches())) << rule::BRS_012;
    }
    EXPECT_THAT(event.Read(), Counted(spec, 70));
  }
}

CONFORMANCE_CASE(BranchStack, ClosedEventKeepsStackOfOther, .rules = {rule::BRS_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  auto [stays, ring] = Sampler(spec, WithBranches(kAnyUserBranch), 4);
  {
    const Event goes = Open(spec, WithBranches(kAnyUserBranch));
    goes.Enable();
    EndPeriod(spec);
  }
  ring.Drain();
  const std::vector<Branch> some = Jumps(0x60401000, 3);
  RunBranches(port(), some);
  EXPECT_EQ(StackNow(spec, ring), Newest(some, 3));
}

// The kernel keeps a pinned event on its counter when another event is enabled. So no branch is
// lost.
CONFORMANCE_CASE(BranchStack, NewEventKeepsStackOfPinnedEvent, .rules = {rule::BRS_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = WithBranches(kAnyUserBranch);
  const Event comes = Open(spec, options);
  options.pinned = true;
  auto [stays, ring] = Sampler(spec, options, 4);
  const std::vector<Branch> some = Jumps(0x60401000, 3);
  RunBranches(port(), some);
  comes.Enable();
  EXPECT_EQ(StackNow(spec, ring), Newest(some, 3));
}

CONFORMANCE_CASE(BranchStack, PreciseStackEndsAtEvent, .rules = {rule::BRS_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kPrecise},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const NoPreemption no_preemption;
  OpenOptions options = WithBranches(kAnyUserBranch, 2, target().precise());
  options.pid = -1;
  options.cpu = CurrentCpu();
  const Subject subject(*this, options);
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 4);
  event.Enable();
  const std::vector<Branch> before = Jumps(0x60400000, 6);
  const std::vector<Branch> after = Jumps(0x60500000, 6);
  RunBranches(port(), before);
  HoldLine hold;
  target().Stimulate(spec, 2, {.ip = 0x60401000});
  RunBranches(port(), after);
  target().Stimulate(spec, 1, {.ip = 0x60402000});
  hold.Release();
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  EXPECT_EQ(got.samples[0].ip, 0x60401000u) << rule::PRC_002;
  EXPECT_EQ(FromTos(got.samples[0]), Newest(before, 6));
}

CONFORMANCE_CASE(BranchStack, LateInterruptShowsBranchesBeforeOverflow, .rules = {rule::BRS_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = WithBranches(kAnyUserBranch, 2);
  options.pid = -1;
  options.cpu = CurrentCpu();
  auto [event, ring] = Sampler(spec, options, 4);
  for (int i = 0; i < 3; ++i) {
    const std::vector<Branch> before = Jumps(0x60400000, target().branches());
    RunBranches(port(), before);
    HoldLine hold;
    target().Stimulate(spec, 2);
    RunBranches(port(), Jumps(0x60500000, 6));
    hold.Release();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_EQ(FromTos(got.samples[0]), Newest(before, target().branches()));
  }
}

CONFORMANCE_CASE(BranchStack, StackOmitsBranchesBeforeEnable, .rules = {rule::BRS_008},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  for (int round = 0; round < 3; ++round) {
    const Event event = Open(spec, WithBranches(kAnyUserBranch));
    Ring ring(event, 4);
    RunBranches(port(), Jumps(0x60700000, 4));  // no event uses the branch stack yet
    event.Enable();
    EXPECT_THAT(StackNow(spec, ring), IsEmpty());
    RunBranches(port(), Jumps(0x60400000, target().branches()));
    event.Disable();
    RunBranches(port(), Jumps(0x60700000, 4));
    event.Enable();
    for (const auto& [from, to] : StackNow(spec, ring)) {
      EXPECT_LT(from, 0x60700000u);
    }
  }
}

CONFORMANCE_CASE(BranchStack, ReturnToUserHidesKernelAddress,
                 .rules = {rule::BRS_013, rule::SMP_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kExcludes},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const std::vector<Branch> branches = {{.from = 0x60401000, .to = 0x60401100},
                                        IntoKernel(0x60401108),
                                        InKernel(0),
                                        OutOfKernel(0x60401110),
                                        {.from = 0x60401118, .to = 0x60401200}};
  const NoPreemption no_preemption;
  for (const unsigned precise : {0u, target().precise()}) {
    SCOPED_TRACE(precise);
    OpenOptions options = WithBranches(kAnyUserBranch, target().min_period(), precise);
    options.exclude_kernel = true;
    auto [event, ring] = Sampler(spec, options, 4);
    RunBranches(port(), branches);
    EXPECT_THAT(StackNow(spec, ring), ElementsAreArray(std::vector<FromTo>{
                                          {0x60401118, 0x60401200}, {0x60401000, 0x60401100}}))
        << rule::BRS_013;
  }
}

CONFORMANCE_CASE(BranchStack, HoldsAtMostSampleMaxStack, .rules = {rule::BRS_016},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const std::size_t depth = std::min<std::size_t>(target().branches(), 6);
  for (const std::size_t limit : {std::size_t{1}, depth - 1, depth, depth + 1}) {
    SCOPED_TRACE(limit);
    OpenOptions options = WithBranches(kAnyUserBranch);
    const auto with_branches = options.edit;
    options.edit = [&](perf_event_attr& attr) {
      with_branches(attr);
      attr.sample_max_stack = static_cast<std::uint16_t>(limit);
    };
    auto [event, ring] = Sampler(spec, options, 4);
    const std::vector<Branch> jumps = Jumps(0x60400000, depth);
    RunBranches(port(), jumps);
    const auto stack = StackNow(spec, ring);
    const std::size_t most = std::min(limit, depth);
    EXPECT_EQ(stack, Newest(jumps, stack.size() == depth ? depth : most));
    if (most == depth) continue;
    EXPECT_TRUE(IsBehaviour(rule::BRS_016, "limited", stack.size() != depth));
  }
}

}  // namespace
}  // namespace pmuconf
