// SPDX-License-Identifier: Apache-2.0
// Contents of a trace: each branch once, in order, with the right task, CPU and privilege level.
#include <sched.h>

#include <numeric>

#include "cases/aux/trace.h"
#include "rules/AUX.h"

namespace pmuconf {
namespace {

// Checks that each record starts where the previous one ended, apart from padding, and that the
// last one ends at `head`.
void CheckContiguous(const std::vector<AuxRecord>& records, std::uint64_t start, std::uint64_t head,
                     std::size_t area) {
  std::uint64_t at = start;
  for (const AuxRecord& record : records) {
    const std::uint64_t to_end = area - (at & (area - 1));
    const std::uint64_t padding = to_end < target().trace_record() ? to_end : 0;
    EXPECT_EQ(record.offset, at + padding) << rule::AUX_003;
    EXPECT_GT(record.size, 0u) << rule::AUX_029;
    EXPECT_EQ(record.size % target().trace_record(), 0u) << rule::AUX_003;
    at = record.offset + record.size;
  }
  EXPECT_EQ(at, head) << rule::AUX_003;
}

CONFORMANCE_CASE(Aux, TraceHoldsEachBranchOnceInOrder,
                 .rules = {rule::AUX_017, rule::AUX_003, rule::AUX_023, rule::AUX_029},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  Trace trace;
  const auto branches = SomeBranches(100);
  TraceBranches(trace.event(), branches);
  EXPECT_EQ(trace.aux().head(), 100 * target().trace_record()) << rule::AUX_023;
  const TraceData traced = trace.Drain();
  EXPECT_EQ(traced.branches, AsTraced(branches)) << rule::AUX_017;
  CheckContiguous(traced.records, 0, trace.aux().head(), trace.aux().data().size());
  for (const AuxRecord& record : traced.records) EXPECT_EQ(record.flags, 0u) << rule::AUX_003;
}

CONFORMANCE_CASE(Aux, AnySizeOfAreaHoldsTheSameTrace,
                 .rules = {rule::AUX_014, rule::AUX_017, rule::AUX_004, rule::AUX_003},
                 .needs = {Cap::kTrace, Cap::kPort}, .budget_s = 20) {
  for (const std::size_t pages : {1, 2, 8, 64, 512}) {
    SCOPED_TRACE(pages);
    Trace trace({.pages = pages});
    const std::size_t step = RecordsIn(PageSize()) - 7;
    std::uint64_t start = 0;
    for (std::size_t round = 0; round < 6; ++round) {
      const auto branches = SomeBranches(step, round * step);
      TraceBranches(trace.event(), branches);
      const TraceData traced = trace.Drain();
      ASSERT_EQ(traced.branches, AsTraced(branches)) << rule::AUX_014;
      CheckContiguous(traced.records, start, trace.aux().head(), trace.aux().data().size());
      start = trace.aux().head();
    }
  }
}

CONFORMANCE_CASE(Aux, DisabledTimeIsNotInTheTrace, .rules = {rule::AUX_023, rule::AUX_029},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // each context switch ends a record
  Trace trace;
  const auto first = SomeBranches(5);
  TraceBranches(trace.event(), first);
  port().Branches(SomeBranches(50, 1'000));
  const auto second = SomeBranches(7, 2'000);
  TraceBranches(trace.event(), second);
  for (int i = 0; i < 10; ++i) TraceBranches(trace.event(), {});
  const TraceData traced = trace.Drain();
  EXPECT_EQ(traced.branches, AsTraced(first + second)) << rule::AUX_023;
  EXPECT_EQ(traced.records.size(), 2u) << rule::AUX_029;
}

CONFORMANCE_CASE(Aux, DisablingMakesTheTraceVisible, .rules = {rule::AUX_023},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({.pages = 16});
  for (std::size_t n = 1; n <= 20; ++n) {
    TraceBranches(trace.event(), SomeBranches(n));
    ASSERT_EQ(trace.Drain().branches.size(), n);
  }
}

CONFORMANCE_CASE(Aux, ItraceStartPrecedesAuxRecords, .rules = {rule::AUX_018},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace;
  for (int i = 0; i < 3; ++i) {
    TraceBranches(trace.event(), SomeBranches(5));
    sched_yield();
  }
  const RingContents contents = trace.ring().Drain();
  const auto starts = ItraceStarts(contents);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(starts[0].tid, static_cast<std::uint32_t>(gettid()));
  ASSERT_FALSE(contents.order.empty());
  EXPECT_EQ(contents.order[0], static_cast<std::uint32_t>(PERF_RECORD_ITRACE_START));
}

CONFORMANCE_CASE(Aux, ExcludesFilterTheTrace, .rules = {rule::AUX_020},
                 .needs = {Cap::kTrace, Cap::kTraceExcludes}, .over = {Over<dim::Cpu>()}) {
  std::vector<Branch> mixed;
  for (std::size_t i = 0; i < 40; ++i) {
    mixed = mixed + SomeBranches(1, i, i % 3 == 0 ? Privilege::kKernel : Privilege::kUser);
  }
  const auto only = [&](bool user, bool kernel) {
    std::vector<Branch> selected;
    for (const Branch& branch : mixed) {
      if (branch.privilege == Privilege::kUser ? user : kernel) selected.push_back(branch);
    }
    return AsTraced(selected);
  };
  for (const bool user : {false, true}) {
    for (const bool kernel : {false, true}) {
      SCOPED_TRACE(testing::Message() << "user " << user << ", kernel " << kernel);
      Trace trace({}, {.exclude_user = !user, .exclude_kernel = !kernel});
      TraceBranches(trace.event(), mixed);
      EXPECT_EQ(trace.Drain().branches, only(user, kernel));
    }
  }
}

CONFORMANCE_CASE(Aux, TraceFollowsItsTaskToOtherCpus,
                 .rules = {rule::AUX_015, rule::AUX_017, rule::AUX_003},
                 .needs = {Cap::kTrace, Cap::kPort, Cap::kCpus2}) {
  Trace trace({.pages = 8});
  std::vector<Branch> all;
  trace.event().Enable();
  for (std::size_t i = 0; i < 20; ++i) {
    PinTo(target().Cpu(i % 2));
    const auto branches = SomeBranches(3 + i, 100 * i);
    port().Branches(branches);
    all = all + branches;
  }
  trace.event().Disable();
  const TraceData traced = trace.Drain();
  EXPECT_EQ(traced.branches, AsTraced(all)) << rule::AUX_015;
  CheckContiguous(traced.records, 0, trace.aux().head(), trace.aux().data().size());
  EXPECT_EQ(traced.starts.size(), 1u);
}

CONFORMANCE_CASE(Aux, OtherTasksAreNotInTheTrace, .rules = {rule::AUX_015},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  Trace trace({.pages = 8});
  trace.event().Enable();
  std::vector<Branch> own;
  for (std::size_t i = 0; i < 10; ++i) {
    Child other([] {
      port().Branches(SomeBranches(20, 100'000));
      return 0;
    });
    const auto branches = SomeBranches(5, 10 * i);
    port().Branches(branches);
    own = own + branches;
    ASSERT_EQ(other.Run(), 0);
  }
  trace.event().Disable();
  EXPECT_EQ(trace.Drain().branches, AsTraced(own));
}

CONFORMANCE_CASE(Aux, ChildrenOfATracedTaskAreInTheTrace, .rules = {rule::AUX_015},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  // The kernel maps a buffer of an inherited event only if the event is bound to a CPU. So both
  // tasks run on that CPU.
  Trace trace({.pages = 8}, {.cpu = target().Cpu(0), .inherit = true});
  trace.event().Enable();
  const auto before = SomeBranches(5);
  port().Branches(before);
  const auto inside = SomeBranches(6, 1'000);
  Child child([&inside] {
    port().Branches(inside);
    return 0;
  });
  ASSERT_EQ(child.Run(), 0);
  const auto after = SomeBranches(7, 2'000);
  port().Branches(after);
  trace.event().Disable();
  EXPECT_EQ(trace.Drain().branches, AsTraced(before + inside + after));
}

CONFORMANCE_CASE(Aux, TraceOfACpuHoldsAllItsTasks, .rules = {rule::AUX_030},
                 .needs = {Cap::kTrace, Cap::kPort, Cap::kCpus2}) {
  const int here = target().Cpu(0);
  const int there = target().Cpu(1);
  Trace trace({.pages = 8}, {.pid = -1, .cpu = there});
  trace.event().Enable();
  port().Branches(SomeBranches(9, 50'000), here);
  const auto first = SomeBranches(5);
  port().Branches(first, there);
  const auto second = SomeBranches(6, 1'000);
  Child other([&second, there] {
    PinTo(there);
    port().Branches(second);
    return 0;
  });
  ASSERT_EQ(other.Run(), 0);
  trace.event().Disable();
  port().Branches(SomeBranches(9, 60'000), there);
  EXPECT_EQ(trace.Drain().branches, AsTraced(first + second));
}

CONFORMANCE_CASE(Aux, CpuTraceHoldsKernelBranches, .rules = {rule::AUX_030, rule::AUX_020},
                 .needs = {Cap::kTrace}, .over = {Over<dim::Cpu>()}) {
  Trace trace({}, {.pid = -1, .cpu = CurrentCpu()});
  const auto branches =
      SomeBranches(3) + SomeBranches(5, 1'000, Privilege::kKernel) + SomeBranches(2, 2'000);
  TraceBranches(trace.event(), branches);
  EXPECT_EQ(trace.Drain().branches, AsTraced(branches)) << rule::AUX_030;
}

}  // namespace
}  // namespace pmuconf
