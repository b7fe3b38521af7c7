// SPDX-License-Identifier: Apache-2.0
// Mapping an AUX area: its place, its size, its permissions, and unmapping.
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>

#include "cases/aux/trace.h"
#include "cases/locked_memory.h"
#include "cases/remap.h"
#include "harness/behaviour.h"
#include "rules/AUX.h"
#include "rules/RB.h"

namespace pmuconf {
namespace {

Event OpenTrace(const OpenOptions& options = {}) { return Open(target().Trace(), options); }

CONFORMANCE_CASE(Aux, AreaNeedsADataBufferFirst, .rules = {rule::AUX_001}, .needs = {Cap::kTrace}) {
  const Event event = OpenTrace();
  const void* base = mmap(nullptr, 4 * PageSize(), PROT_READ | PROT_WRITE, MAP_SHARED, event.fd(),
                          static_cast<off_t>(2 * PageSize()));
  EXPECT_EQ(base, MAP_FAILED);
  EXPECT_EQ(errno, EINVAL);
}

CONFORMANCE_CASE(Aux, AreaIsAPowerOfTwoOfPages, .rules = {rule::AUX_001, rule::AUX_014},
                 .needs = {Cap::kTrace}) {
  for (std::size_t pages = 1; pages <= 17; ++pages) {
    SCOPED_TRACE(pages);
    const Event event = OpenTrace();
    Ring ring(event, 1);
    const bool fits = (pages & (pages - 1)) == 0;
    for (const bool writable : {true, false}) {
      EXPECT_EQ(AuxArea::TryMap(event, &ring, {.pages = pages, .writable = writable}).error,
                fits ? 0 : EINVAL)
          << rule::AUX_001;
    }
  }
}

CONFORMANCE_CASE(Aux, AreaMatchesControlPage, .rules = {rule::AUX_001}, .needs = {Cap::kTrace}) {
  const std::uint64_t page = PageSize();
  const struct {
    const char* what;
    AuxMapping mapping;
    int error;
  } kTries[] = {
      {"right behind the data", {}, 0},
      {"behind a gap", {.gap = 5 * page}, 0},
      {"over the last data page", {.gap = 0 - page}, EINVAL},
      {"over all the data", {.gap = 0 - 2 * page}, EINVAL},
      {"a page away from aux_offset", {.skew = page}, EINVAL},
      {"longer than aux_size", {.longer = 4}, EINVAL},
      {"aux_size 0, a mapping of one page", {.pages = 0, .longer = 1}, EINVAL},
  };
  for (const auto& attempt : kTries) {
    SCOPED_TRACE(attempt.what);
    const Event event = OpenTrace();
    Ring ring(event, 2);
    EXPECT_EQ(AuxArea::TryMap(event, &ring, attempt.mapping).error, attempt.error);
  }
}

CONFORMANCE_CASE(Aux, SecondMappingShowsTheSameArea, .rules = {rule::AUX_001, rule::AUX_006},
                 .needs = {Cap::kTrace, Cap::kLog}) {
  Trace trace({.pages = 4});
  EXPECT_THAT(AuxArea::TryMap(trace.event(), &trace.ring(), {.pages = 8}), FailsWith(EINVAL))
      << rule::AUX_001;
  EXPECT_THAT(AuxArea::TryMap(trace.event(), &trace.ring(), {.pages = 4, .gap = PageSize()}),
              FailsWith(EINVAL))
      << rule::AUX_001;
  const AuxArea second(trace.event(), &trace.ring(), {.pages = 4});
  const auto branches = SomeBranches(3);
  TraceBranches(trace.event(), branches);
  EXPECT_EQ(
      DecodeTrace(second.Copy(0, second.head()), 0, second.data().size(), target().trace_record()),
      AsTraced(branches))
      << rule::AUX_001;
  EXPECT_EQ(port().Stats().calls[REFPMU_CALL_SETUP_AUX], 1u) << rule::AUX_006;
}

CONFORMANCE_CASE(Aux, AreaIsSetUpAndFreedOnce, .rules = {rule::AUX_006},
                 .needs = {Cap::kTrace, Cap::kLog}) {
  for (const bool enabled : {false, true}) {
    SCOPED_TRACE(enabled ? "traced" : "never enabled");
    port().Reset();
    {
      Trace trace;
      if (enabled) TraceBranches(trace.event(), SomeBranches(5));
      EXPECT_EQ(port().Stats().calls[REFPMU_CALL_SETUP_AUX], 1u);
      EXPECT_EQ(port().Stats().calls[REFPMU_CALL_FREE_AUX], 0u);
    }
    EXPECT_EQ(port().Stats().calls[REFPMU_CALL_SETUP_AUX], 1u);
    EXPECT_EQ(port().Stats().calls[REFPMU_CALL_FREE_AUX], 1u);
  }
}

CONFORMANCE_CASE(Aux, RefusedMappingSetsNothingUp, .rules = {rule::AUX_001, rule::AUX_006},
                 .needs = {Cap::kTrace, Cap::kLog}) {
  const Event event = OpenTrace();
  Ring ring(event, 1);
  EXPECT_THAT(AuxArea::TryMap(event, &ring, {.pages = 3}), FailsWith(EINVAL)) << rule::AUX_001;
  EXPECT_THAT(AuxArea::TryMap(event, &ring, {.longer = 1}), FailsWith(EINVAL)) << rule::AUX_001;
  EXPECT_EQ(port().Stats().calls[REFPMU_CALL_SETUP_AUX], 0u) << rule::AUX_006;
  EXPECT_THAT(AuxArea::TryMap(event, &ring, {.pages = 2}), Succeeds()) << rule::AUX_001;
}

CONFORMANCE_CASE(Aux, PagesAreReadOnlyToTheCpu, .rules = {rule::AUX_027}, .needs = {Cap::kTrace}) {
  Child writes([] {
    Trace trace;
    *const_cast<volatile std::byte*>(trace.aux().data().data()) = std::byte{1};
    return 0;
  });
  EXPECT_EQ(writes.Run(), -SIGBUS);
  Child reads([] {
    Trace trace;
    return std::to_integer<int>(trace.aux().data().back());
  });
  EXPECT_EQ(reads.Run(), 0);
}

CONFORMANCE_CASE(Aux, UnmappingWhileTracingStopsTheDevice,
                 .rules = {rule::AUX_012, rule::AUX_006, rule::AUX_013},
                 .needs = {Cap::kTrace, Cap::kLog}, .over = {Over<dim::Cpu>()}) {
  Trace trace;
  trace.event().Enable();
  port().Branches(SomeBranches(10));
  trace.aux().Unmap();
  EXPECT_EQ(port().Stats().calls[REFPMU_CALL_FREE_AUX], 1u) << rule::AUX_006;
  port().Branches(SomeBranches(1'000));
  trace.event().Disable();
  trace.ring().Drain();

  const AuxArea again(trace.event(), &trace.ring(), {.pages = 2});
  const std::uint64_t start = again.head();  // the head continues from its earlier value
  EXPECT_LE(start, 10 * target().trace_record()) << rule::AUX_012;
  trace.aux().set_tail(start);
  const auto branches = SomeBranches(7, 5'000);
  TraceBranches(trace.event(), branches);
  EXPECT_EQ(DecodeTrace(again.Copy(start, again.head()), start, again.data().size(),
                        target().trace_record()),
            AsTraced(branches))
      << rule::AUX_012;
}

CONFORMANCE_CASE(Aux, EnablingBeforeMappingRecordsNothing, .rules = {rule::AUX_013},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  const Event event = OpenTrace();
  event.Enable();
  port().Branches(SomeBranches(10));
  event.Disable();
  Ring ring(event, 8);
  event.Enable();
  port().Branches(SomeBranches(10));
  event.Disable();

  const AuxArea aux(event, &ring);
  EXPECT_EQ(aux.head(), 0u);
  const auto branches = SomeBranches(4, 100);
  TraceBranches(event, branches);
  EXPECT_EQ(DecodeTrace(aux.Copy(0, aux.head()), 0, aux.data().size(), target().trace_record()),
            AsTraced(branches));
}

CONFORMANCE_CASE(Aux, PartialUnmapAndResizeAreRefused, .rules = {rule::RB_004},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({.pages = 4});
  void* const area = const_cast<std::byte*>(trace.aux().data().data());
  for (const RemapAttempt& attempt : RefusedRemaps(area, 4)) {
    if (attempt.expected == kCovered) {
      EXPECT_TRUE(IsBehaviour(rule::RB_004, "covered", attempt.error)) << attempt.what;
    } else {
      EXPECT_EQ(attempt.error, attempt.expected) << attempt.what;
    }
  }
  const auto branches = SomeBranches(30);
  TraceBranches(trace.event(), branches);
  EXPECT_EQ(trace.Drain().branches, AsTraced(branches));
}

CONFORMANCE_CASE(Aux, MovedAreaIsFreedOnce, .rules = {rule::RB_004, rule::AUX_006},
                 .needs = {Cap::kTrace, Cap::kLog}) {
  Trace trace({.pages = 4});
  const std::size_t size = trace.aux().data().size();
  void* const moved = MoveElsewhere(const_cast<std::byte*>(trace.aux().data().data()), size);
  ASSERT_NE(moved, MAP_FAILED) << rule::RB_004;
  const auto branches = SomeBranches(3);
  TraceBranches(trace.event(), branches);
  const std::span<const std::byte> area(static_cast<const std::byte*>(moved), size);
  const std::size_t record = target().trace_record();
  EXPECT_EQ(DecodeTrace(area.first(3 * record), 0, size, record), AsTraced(branches))
      << rule::RB_004;
  EXPECT_EQ(port().Stats().calls[REFPMU_CALL_FREE_AUX], 0u) << rule::AUX_006;
  munmap(moved, size);
  EXPECT_EQ(port().Stats().calls[REFPMU_CALL_FREE_AUX], 1u) << rule::AUX_006;
}

// A wrong charge is visible in the next mapping: the user has fewer free pages then.
CONFORMANCE_CASE(Aux, UnmapReturnsLockedMemoryOfTheArea, .rules = {rule::AUX_033},
                 .needs = {Cap::kTrace}) {
  const Sysctl free_pages(kFree, std::to_string(4 * PageSize() / 1'024));
  const OtherUser user;
  const std::size_t free = 4 * FreePages();
  const std::size_t before = Pinned();
  const Event event = OpenTrace();
  {
    Ring ring(event, 1);
    // The first area has only free pages, the other one also pages beyond them.
    for (const std::size_t pages : {2, 2, 64, 64}) {
      {
        const AuxArea area(event, &ring, {.pages = pages});
        EXPECT_EQ(Pinned(), before + std::max(pages + 2, free) - free);
      }
      EXPECT_EQ(Pinned(), before);
      ring.control().aux_offset = 0;
      ring.control().aux_size = 0;
    }
  }
  const Ring ring(event, 64);
  EXPECT_EQ(Pinned(), before + 65 - free) << "the user has its free pages again";
}

// The only case here for PMUs without an AUX area.
CONFORMANCE_CASE(Aux, AreaOfNonTracePmuIsRefused, .rules = {rule::AUX_002},
                 .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  Ring ring(event, 2);
  EXPECT_THAT(AuxArea::TryMap(event, &ring), FailsWith(EOPNOTSUPP));
}

}  // namespace
}  // namespace pmuconf
