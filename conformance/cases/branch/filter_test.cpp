// SPDX-License-Identifier: Apache-2.0
// Branch filters: each one selects its type of branch, and conflicting filters do not share the
// PMU.
#include "cases/branch/branch.h"
#include "cases/common.h"
#include "rules/BRS.h"
#include "rules/INI.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kUser = PERF_SAMPLE_BRANCH_USER;

// One branch of each type, in user code.
std::vector<Branch> OneOfEach() {
  std::vector<Branch> branches;
  for (std::uint32_t kind = 0; kind <= static_cast<std::uint32_t>(BranchKind::kFar); ++kind) {
    branches.push_back({.from = 0x60400000 + 16 * kind,
                        .to = 0x60500000 + 16 * kind,
                        .kind = static_cast<BranchKind>(kind)});
  }
  return branches;
}

struct FilterFact {
  std::uint64_t filter;
  std::vector<BranchKind> kinds;
};

// The types of branches that each bit of branch_sample_type selects.
const std::vector<FilterFact>& Filters() {
  static const std::vector<FilterFact> filters = {
      {PERF_SAMPLE_BRANCH_ANY,
       {BranchKind::kConditional, BranchKind::kCall, BranchKind::kIndirectCall, BranchKind::kReturn,
        BranchKind::kIndirectJump, BranchKind::kJump, BranchKind::kFar}},
      {PERF_SAMPLE_BRANCH_COND, {BranchKind::kConditional}},
      {PERF_SAMPLE_BRANCH_CALL, {BranchKind::kCall}},
      {PERF_SAMPLE_BRANCH_IND_CALL, {BranchKind::kIndirectCall}},
      {PERF_SAMPLE_BRANCH_IND_JUMP, {BranchKind::kIndirectJump}},
  };
  return filters;
}

std::vector<FromTo> OfKinds(const std::vector<Branch>& branches,
                            const std::vector<BranchKind>& kinds) {
  std::vector<Branch> selected;
  for (const Branch& branch : branches) {
    if (std::find(kinds.begin(), kinds.end(), branch.kind) != kinds.end())
      selected.push_back(branch);
  }
  return Newest(selected, selected.size());
}

std::vector<FromTo> SampledStack(std::uint64_t filter, const std::vector<Branch>& branches) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, WithBranches(filter));
  Ring ring(event, 4);
  // NoPreemption lasts no longer than needed: the kernel throttles a real-time task after about a
  // second.
  const NoPreemption no_preemption;
  event.Enable();
  RunBranches(port(), branches);
  return StackNow(spec, ring);
}

CONFORMANCE_CASE(BranchFilter, FilterPassesOnlyItsBranchType, .rules = {rule::BRS_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<Branch> branches = OneOfEach();
  for (const FilterFact& fact : Filters()) {
    EXPECT_EQ(SampledStack(kUser | fact.filter, branches), OfKinds(branches, fact.kinds))
        << "filter 0x" << std::hex << fact.filter;
  }
}

CONFORMANCE_CASE(BranchFilter, CombinedFiltersPassBothTypes, .rules = {rule::BRS_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  const std::vector<Branch> branches = OneOfEach();
  for (const FilterFact& first : Filters()) {
    for (const FilterFact& second : Filters()) {
      if (second.filter <= first.filter) continue;
      std::vector<BranchKind> kinds = first.kinds;
      kinds.insert(kinds.end(), second.kinds.begin(), second.kinds.end());
      EXPECT_EQ(SampledStack(kUser | first.filter | second.filter, branches),
                OfKinds(branches, kinds))
          << "filter 0x" << std::hex << (first.filter | second.filter);
    }
  }
}

// These two filters may also select far calls and returns, which differ between PMUs. So this case
// generates near ones only.
CONFORMANCE_CASE(BranchFilter, AnyCallAndAnyReturnPassNearBranches, .rules = {rule::BRS_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches}) {
  std::vector<Branch> branches = OneOfEach();
  branches.pop_back();
  EXPECT_EQ(SampledStack(kUser | PERF_SAMPLE_BRANCH_ANY_CALL, branches),
            OfKinds(branches, {BranchKind::kCall, BranchKind::kIndirectCall}));
  EXPECT_EQ(SampledStack(kUser | PERF_SAMPLE_BRANCH_ANY_RETURN, branches),
            OfKinds(branches, {BranchKind::kReturn}));
}

// Combined with a type, these filters select branches inside or outside of transactions.
CONFORMANCE_CASE(BranchFilter, TransactionFiltersSelectBranches, .rules = {rule::BRS_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches},
                 .over = {Over<dim::Cpu>()}) {
  const std::uint64_t any = kUser | PERF_SAMPLE_BRANCH_ANY;
  std::vector<Branch> inside = Jumps(0x60400000, 3);
  for (Branch& branch : inside) branch.flags = REFPMU_BRANCH_IN_TX;
  const std::vector<Branch> outside = Jumps(0x60500000, 4);
  std::vector<Branch> both = inside;
  both.insert(both.end(), outside.begin(), outside.end());
  EXPECT_EQ(SampledStack(any | PERF_SAMPLE_BRANCH_IN_TX, both), Newest(inside, 3));
  EXPECT_EQ(SampledStack(any | PERF_SAMPLE_BRANCH_NO_TX, both), Newest(outside, 4));
  EXPECT_EQ(SampledStack(any | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX, both),
            Newest(both, 7));
}

CONFORMANCE_CASE(BranchFilter, KernelEntryIsACallAndItsExitAReturn, .rules = {rule::BRS_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kExcludes}) {
  const Branch in = IntoKernel(0x60400000);
  const Branch out = OutOfKernel(0x60400002);
  const std::uint64_t both = kUser | PERF_SAMPLE_BRANCH_KERNEL;
  EXPECT_EQ(SampledStack(both | PERF_SAMPLE_BRANCH_ANY_CALL, {in, out}), Newest({in}, 1));
  EXPECT_EQ(SampledStack(both | PERF_SAMPLE_BRANCH_ANY_RETURN, {in, out}), Newest({out}, 1));
}

CONFORMANCE_CASE(BranchFilter, PrivilegeFiltersSelectBranches,
                 .rules = {rule::BRS_013, rule::BRS_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kExcludes},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<Branch> user = Jumps(0x60400000, 3);
  const std::vector<Branch> kernel = {InKernel(0), InKernel(16), InKernel(32), InKernel(48)};
  std::vector<Branch> both = user;
  both.insert(both.end(), kernel.begin(), kernel.end());
  const std::uint64_t any = PERF_SAMPLE_BRANCH_ANY;
  EXPECT_EQ(SampledStack(any | PERF_SAMPLE_BRANCH_USER, both), Newest(user, 3)) << rule::BRS_013;
  EXPECT_EQ(SampledStack(any | PERF_SAMPLE_BRANCH_KERNEL, both), Newest(kernel, 4))
      << rule::BRS_013;
  EXPECT_EQ(SampledStack(any | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL, both),
            Newest(both, 7))
      << rule::BRS_013;
}

CONFORMANCE_CASE(BranchFilter, UnknownFiltersAreRefused, .rules = {rule::BRS_002},
                 .needs = {Cap::kBranches}) {
  const EventSpec spec = target().AnyEvent();
  for (int bit = 24; bit < 64; ++bit) {
    EXPECT_THAT(TryOpen(spec, WithBranches(kAnyUserBranch | 1ull << bit)), FailsWith(EINVAL))
        << "bit " << bit;
  }
  EXPECT_THAT(TryOpen(spec, WithBranches(PERF_SAMPLE_BRANCH_USER)),
              FailsWithOneOf(EINVAL, EOPNOTSUPP));
}

CONFORMANCE_CASE(BranchFilter, UnsupportedBranchCountersAreRefused,
                 .rules = {rule::BRS_006, rule::BRS_002}, .needs = {Cap::kBranches}) {
  constexpr std::uint64_t kCounters = 1ull << 19;  // PERF_SAMPLE_BRANCH_COUNTERS
  ASSERT_FALSE(ReadFile(DeviceFile("caps/branch_counter_nr")));
  const EventSpec spec = target().AnyEvent();
  EXPECT_THAT(TryOpen(spec, WithBranches(kAnyUserBranch | kCounters)),
              FailsWithOneOf(EINVAL, EOPNOTSUPP))
      << rule::BRS_006;
}

CONFORMANCE_CASE(BranchFilter, ConflictingFiltersTakeTurns, .rules = {rule::BRS_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kMultiplexing},
                 .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const MuxInterval interval(1);
  const std::vector<Branch> branches = OneOfEach();
  const std::vector<FilterFact> filters = {Filters()[1], Filters()[2], Filters()[4]};
  std::vector<Event> events;
  std::vector<Ring> rings;
  for (const FilterFact& fact : filters) {
    events.push_back(Open(spec, WithBranches(kUser | fact.filter)));
    rings.emplace_back(events.back(), 64);
  }
  EnableEach(events);
  std::vector<std::size_t> samples(filters.size());
  const bool all = RepeatUntil(
      [&] {
        RunBranches(port(), branches);
        EndPeriod(spec);
        for (std::size_t i = 0; i < filters.size(); ++i) {
          for (const Sample& sample : rings[i].Drain().samples) {
            const std::vector<FromTo> expected = OfKinds(branches, filters[i].kinds);
            // If an event got the counter after the branches, its stack has fewer of them or none.
            if (FromTos(sample) == expected) ++samples[i];
            for (const FromTo& entry : FromTos(sample)) {
              EXPECT_THAT(expected, testing::Contains(entry));
            }
          }
        }
      },
      [&] {
        return testing::Test::HasFailure() ||
               std::all_of(samples.begin(), samples.end(), [](std::size_t n) { return n >= 3; });
      });
  EXPECT_TRUE(all) << "samples: " << testing::PrintToString(samples);
}

CONFORMANCE_CASE(BranchFilter, ConflictingFiltersDoNotMixInGroup, .rules = {rule::BRS_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec, WithBranches(kUser | PERF_SAMPLE_BRANCH_COND));
  OpenOptions options = WithBranches(kUser | PERF_SAMPLE_BRANCH_CALL);
  options.group_fd = leader.fd();
  const OpenResult member = TryOpen(spec, options);
  if (!member.ok()) {
    EXPECT_EQ(member.error, EINVAL);
    return;
  }
  // If the driver accepts the group, each event must get the branches of its own filter.
  Ring ring(leader, 4);
  Ring other(member.event, 4);
  leader.EnableGroup();
  RunBranches(port(), OneOfEach());
  EXPECT_EQ(StackNow(spec, ring), OfKinds(OneOfEach(), {BranchKind::kConditional}));
  other.Drain();
  EXPECT_EQ(StackNow(spec, other), OfKinds(OneOfEach(), {BranchKind::kCall}));
}

// The member joins while the leader runs. Its validation must not disturb the leader, which would
// then never release its filter.
CONFORMANCE_CASE(BranchFilter, ClosedGroupReleasesItsFilter, .rules = {rule::BRS_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  for (const FilterFact& fact : Filters()) {
    auto [leader, ring] = Sampler(spec, WithBranches(kUser | fact.filter), 4);
    const Event member = Open(spec, {.group_fd = leader.fd(), .disabled = false});
    EndPeriod(spec);
    EXPECT_EQ(ring.Drain().samples.size(), 1u);
  }
}

// The filter of the first event stays in use while another event finds no counter.
CONFORMANCE_CASE(BranchFilter, EventWithoutACounterReleasesNoFilterOfOthers,
                 .rules = {rule::BRS_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kGroups, Cap::kCounters,
                           Cap::kMultiplexing},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  const auto on_cpu = [](OpenOptions options, bool pinned) {
    options.pid = -1;
    options.cpu = CurrentCpu();
    options.pinned = pinned;
    return options;
  };
  const auto filtered = [&](std::uint64_t filter, bool pinned) {
    return Open(spec, on_cpu(WithBranches(kUser | filter), pinned));
  };
  const Event calls = filtered(PERF_SAMPLE_BRANCH_CALL, true);
  const Event jumps = filtered(PERF_SAMPLE_BRANCH_COND, false);
  Ring of_calls(calls, 4);
  Ring of_jumps(jumps, 4);
  calls.Enable();
  {
    const std::vector<Event> others =
        OpenEach(std::vector(CounterCount(spec) - 1, spec), on_cpu({.disabled = false}, true));
    const Event extra = Open(spec, on_cpu({.disabled = false}, false));
    EXPECT_EQ(extra.Read().time_running, 0u) << "the pinned events take all counters";
  }
  jumps.Enable();
  RunBranches(port(), OneOfEach());
  EndPeriod(spec);
  if (jumps.Read().time_running == 0) return;  // it waits
  const RingContents first = of_calls.Drain();
  const RingContents second = of_jumps.Drain();
  ASSERT_EQ(first.samples.size(), 1u);
  ASSERT_EQ(second.samples.size(), 1u);
  EXPECT_EQ(FromTos(first.samples[0]), OfKinds(OneOfEach(), {BranchKind::kCall}));
  EXPECT_EQ(FromTos(second.samples[0]), OfKinds(OneOfEach(), {BranchKind::kConditional}));
}

// The clock keeps its own data where a hardware event has its flags.
CONFORMANCE_CASE(BranchFilter, MemberOfAClockGroupHasItsBranches,
                 .rules = {rule::BRS_012, rule::INI_022},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kTasks},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;
  constexpr std::uint64_t kNever = 3'600'000'000'000;  // an hour
  const EventSpec spec = target().AnyEvent();
  for (const perf_sw_ids clock : {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_CPU_CLOCK}) {
    const Event leader = Open(Software(clock), {.sample_period = kNever});
    OpenOptions options = WithBranches(kAnyUserBranch);
    options.group_fd = leader.fd();
    options.disabled = false;
    const Event member = Open(spec, options);
    Ring ring(member, 4);
    leader.Enable();
    const std::vector<Branch> jumps = Jumps(0x60400000, 3);
    RunBranches(port(), jumps);
    EXPECT_EQ(StackNow(spec, ring), Newest(jumps, 3)) << rule::BRS_012;
  }
}

}  // namespace
}  // namespace pmuconf
