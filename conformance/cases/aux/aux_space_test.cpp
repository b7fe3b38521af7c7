// SPDX-License-Identifier: Apache-2.0
// Space in an AUX area: flow control, wakeups, truncation, and wrapping.
#include <poll.h>

#include "cases/aux/trace.h"
#include "rules/AUX.h"

namespace pmuconf {
namespace {

// The reader drains the area in each round. So no branch may be lost, however often the area wraps.
CONFORMANCE_CASE(Aux, DrainedAreaWrapsWithoutLoss,
                 .rules = {rule::AUX_004, rule::AUX_017, rule::AUX_021},
                 .needs = {Cap::kTrace, Cap::kPort}, .budget_s = 20) {
  Trace trace({.pages = 1});
  trace.event().Enable();
  for (std::size_t round = 0; round < 50; ++round) {
    const auto branches = SomeBranches(60 + round, 1'000 * round);
    port().Branches(branches);
    trace.event().Disable();
    const TraceData traced = trace.Drain();
    ASSERT_EQ(traced.branches, AsTraced(branches)) << rule::AUX_017;
    for (const AuxRecord& record : traced.records) {
      ASSERT_EQ(record.flags & PERF_AUX_FLAG_TRUNCATED, 0u) << rule::AUX_021;
    }
    trace.event().Enable();
  }
}

CONFORMANCE_CASE(Aux, ThresholdInterruptIsServed, .rules = {rule::AUX_017},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  Trace trace({.pages = 1});
  trace.event().Enable();
  refpmu_branch_entry entry = {};
  entry.from = 8;
  entry.to = 16;
  const std::vector<refpmu_branch_entry> entries(RecordsIn(PageSize()) / 4 * 3, entry);
  refpmu_branches request = {};
  request.size = sizeof(request);
  request.cpu = REFPMU_CPU_CURRENT;
  request.entries = reinterpret_cast<std::uint64_t>(entries.data());
  request.count = static_cast<std::uint32_t>(entries.size());
  // The device stops at its threshold. It gives up if the driver does not acknowledge the
  // interrupt.
  EXPECT_EQ(port().TryIoctl(REFPMU_IOC_BRANCHES, &request).error, 0);
  EXPECT_EQ(request.done, entries.size());
}

CONFORMANCE_CASE(Aux, FullAreaIsTruncatedAndKeepsWhatItHas,
                 .rules = {rule::AUX_021, rule::AUX_004, rule::AUX_003},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  for (const std::size_t pages : {1, 4}) {
    SCOPED_TRACE(pages);
    Trace trace({.pages = pages});
    const std::size_t size = pages * PageSize();
    const std::size_t capacity = RecordsIn(size - 1);
    const auto branches = SomeBranches(capacity + 100);
    trace.event().Enable();
    port().Branches(branches);
    const TraceData traced = trace.Peek();
    auto fitting = AsTraced(branches);
    fitting.resize(capacity);
    EXPECT_EQ(traced.branches, fitting) << rule::AUX_004;

    ASSERT_FALSE(traced.records.empty());
    std::uint64_t sum = 0;
    for (const AuxRecord& record : traced.records) {
      sum += record.size;
      const bool last = &record == &traced.records.back();
      EXPECT_EQ(record.flags, last ? std::uint64_t{PERF_AUX_FLAG_TRUNCATED} : 0u) << rule::AUX_021;
      EXPECT_GT(record.size, 0u) << rule::AUX_021;
    }
    EXPECT_EQ(sum, capacity * target().trace_record()) << rule::AUX_003;
    EXPECT_EQ(trace.aux().head(), sum) << rule::AUX_003;
  }
}

// Fills an area of one page, drains it, and checks that the device writes nothing more.
void FillAndDrain(Trace& trace) {
  trace.event().Enable();
  port().Branches(SomeBranches(RecordsIn(PageSize())));
  const std::uint64_t full = trace.aux().head();
  // Padding at the end of the area may take the space of one record.
  EXPECT_GE(trace.Drain().branches.size(), RecordsIn(PageSize() - 1) - 1) << rule::AUX_021;
  port().Branches(SomeBranches(30, 10'000));
  EXPECT_EQ(trace.aux().head(), full) << rule::AUX_021;
}

void CheckTracingContinues(Trace& trace, const Rule& rule) {
  const auto branches = SomeBranches(40, 20'000);
  TraceBranches(trace.event(), branches);
  const TraceData traced = trace.Drain();
  EXPECT_EQ(traced.branches, AsTraced(branches)) << rule;
  for (const AuxRecord& record : traced.records) EXPECT_EQ(record.flags, 0u) << rule::AUX_021;
}

CONFORMANCE_CASE(Aux, TruncatedTraceStopsUntilEnabled, .rules = {rule::AUX_021, rule::AUX_022},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({.pages = 1});
  for (int i = 0; i < 3; ++i) {
    FillAndDrain(trace);
    trace.event().Disable();
    CheckTracingContinues(trace, rule::AUX_022);
  }
}

CONFORMANCE_CASE(Aux, TruncatedTraceIsDisabled, .rules = {rule::AUX_031},
                 .needs = {Cap::kTrace, Cap::kPort, Cap::kCpus2}) {
  for (const int cpu : {target().Cpu(0), target().Cpu(1)}) {
    SCOPED_TRACE(cpu);
    PinTo(cpu);
    Trace trace({.pages = 1});
    FillAndDrain(trace);
    CheckTracingContinues(trace, rule::AUX_031);
    // The same when the area has no space at the moment of the enable.
    TraceBranches(trace.event(), SomeBranches(RecordsIn(PageSize() - 1)));
    trace.event().Enable();
    port().Branches(SomeBranches(10));
    trace.Drain();
    CheckTracingContinues(trace, rule::AUX_031);
  }
}

CONFORMANCE_CASE(Aux, RoomThatIsReleasedWhileTracingIsUsed, .rules = {rule::AUX_004, rule::AUX_021},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  // The reader drains the area after each batch. The event stays enabled throughout.
  const auto half = static_cast<std::uint32_t>(PageSize() / 2);
  Trace trace({.pages = 1}, {.edit = [half](auto& attr) { attr.aux_watermark = half; }});
  const auto branches = SomeBranches(2'000);
  std::vector<TracedBranch> got;
  trace.event().Enable();
  for (std::size_t i = 0; i < branches.size(); i += 20) {
    const auto begin = branches.begin() + static_cast<std::ptrdiff_t>(i);
    port().Branches({begin, begin + 20});
    const TraceData traced = trace.Drain();
    got.insert(got.end(), traced.branches.begin(), traced.branches.end());
    for (const AuxRecord& record : traced.records) EXPECT_EQ(record.flags, 0u) << rule::AUX_021;
  }
  trace.event().Disable();
  const TraceData rest = trace.Drain();
  got.insert(got.end(), rest.branches.begin(), rest.branches.end());
  EXPECT_EQ(got, AsTraced(branches)) << rule::AUX_004;
}

CONFORMANCE_CASE(Aux, EnableWithoutRoomKeepsData,
                 .rules = {rule::AUX_004, rule::AUX_021, rule::AUX_022},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  Trace trace({.pages = 1});
  const auto branches = SomeBranches(RecordsIn(PageSize() - 1));
  TraceBranches(trace.event(), branches);
  for (int i = 0; i < 3; ++i) TraceBranches(trace.event(), SomeBranches(10, 7'000));
  EXPECT_EQ(trace.Peek().branches, AsTraced(branches)) << rule::AUX_004;
  trace.Drain();
  const auto more = SomeBranches(20, 9'000);
  TraceBranches(trace.event(), more);
  EXPECT_EQ(trace.Drain().branches, AsTraced(more)) << rule::AUX_022;
}

// True if a wakeup occurred since the last call.
bool HasWakeup(const Event& event) {
  pollfd entry = {event.fd(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

void CheckWakeups(std::uint32_t watermark, std::size_t pages) {
  const std::size_t bytes = watermark == 0 ? pages * PageSize() / 2 : watermark;
  const std::size_t record = target().trace_record();
  Trace trace({.pages = pages},
              {.edit = [watermark](auto& attr) { attr.aux_watermark = watermark; }});
  trace.event().Enable();
  HasWakeup(trace.event());
  std::size_t written = 0;
  for (std::size_t mark = 1; mark <= 3; ++mark) {
    const std::size_t due = (mark * bytes + record - 1) / record;  // in records
    if (due * record >= pages * PageSize()) break;
    port().Branches(SomeBranches(due - 1 - written, written));
    EXPECT_FALSE(HasWakeup(trace.event()));
    port().Branches(SomeBranches(1, due));
    EXPECT_TRUE(HasWakeup(trace.event()));
    written = due;
    EXPECT_EQ(trace.aux().head(), written * record);
  }
  EXPECT_GT(written, 0u);
}

CONFORMANCE_CASE(Aux, ReaderIsWokenAtTheWatermark, .rules = {rule::AUX_024},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  for (const std::uint32_t watermark : {1'000u, 4'096u, 5'001u}) {
    SCOPED_TRACE(watermark);
    CheckWakeups(watermark, 4);
  }
}

CONFORMANCE_CASE(Aux, ReaderIsWokenAtHalfTheAreaByDefault, .rules = {rule::AUX_024},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  for (const std::size_t pages : {1, 8}) {
    SCOPED_TRACE(pages);
    CheckWakeups(0, pages);
  }
}

// While the interrupt line is held, the driver does not see that a watermark has been reached.
CONFORMANCE_CASE(Aux, LateWakeupIsNotRepeated, .rules = {rule::AUX_024},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({.pages = 4}, {.edit = [](auto& attr) { attr.aux_watermark = 1'000; }});
  trace.event().Enable();
  HasWakeup(trace.event());
  const std::size_t written = RecordsIn(3'500);
  HoldLine hold;
  port().Branches(SomeBranches(written));
  hold.Release();
  EXPECT_TRUE(HasWakeup(trace.event()));
  port().Branches(SomeBranches(1, written));
  trace.event().Disable();
  EXPECT_FALSE(HasWakeup(trace.event()));
}

CONFORMANCE_CASE(Aux, ReaderIsWokenByTruncation, .rules = {rule::AUX_024, rule::AUX_021},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  const auto whole = static_cast<std::uint32_t>(PageSize());
  Trace trace({.pages = 1}, {.edit = [whole](auto& attr) { attr.aux_watermark = whole; }});
  trace.event().Enable();
  HasWakeup(trace.event());
  port().Branches(SomeBranches(RecordsIn(PageSize() - 1)));
  EXPECT_TRUE(HasWakeup(trace.event())) << rule::AUX_021;
}

// The records in the area from the oldest to the newest. The oldest one is at the head.
std::vector<TracedBranch> Snapshot(Trace& trace) {
  const std::size_t record = target().trace_record();
  const std::size_t span = trace.aux().data().size() / record * record;
  const std::uint64_t head = trace.aux().head() & (trace.aux().data().size() - 1);
  auto before = DecodeTrace(trace.aux().data().first(head), 0, trace.aux().data().size(), record);
  auto all = DecodeTrace(trace.aux().data().subspan(head, span - head), head,
                         trace.aux().data().size(), record);
  std::erase(all, TracedBranch{});  // slots that the device has not written yet
  all.insert(all.end(), before.begin(), before.end());
  return all;
}

CONFORMANCE_CASE(Aux, SnapshotKeepsTheNewest, .rules = {rule::AUX_005},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  for (const std::size_t pages : {1, 4}) {
    SCOPED_TRACE(pages);
    Trace trace({.pages = pages, .writable = false});
    const std::size_t capacity = RecordsIn(pages * PageSize());
    const auto branches = SomeBranches(3 * capacity + 17);
    TraceBranches(trace.event(), branches);
    const auto all = AsTraced(branches);
    const std::vector<TracedBranch> newest(all.end() - static_cast<std::ptrdiff_t>(capacity),
                                           all.end());
    EXPECT_EQ(Snapshot(trace), newest);
  }
}

CONFORMANCE_CASE(Aux, SnapshotContinuesWhereItStopped, .rules = {rule::AUX_005, rule::AUX_029},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // each context switch ends a record
  Trace trace({.pages = 1, .writable = false});
  std::vector<Branch> all;
  for (std::size_t i = 0; i < 30; ++i) {
    const auto branches = SomeBranches(11 + i, 100 * i);
    TraceBranches(trace.event(), branches);
    TraceBranches(trace.event(), {});
    all = all + branches;
    const auto traced = AsTraced(all);
    const std::size_t n = std::min(traced.size(), RecordsIn(PageSize()));
    const std::vector<TracedBranch> newest(traced.end() - static_cast<std::ptrdiff_t>(n),
                                           traced.end());
    ASSERT_EQ(Snapshot(trace), newest) << rule::AUX_005;
  }
  const auto records = AuxRecords(trace.ring().Drain());
  EXPECT_EQ(records.size(), 30u) << rule::AUX_029;
  for (const AuxRecord& record : records) {
    EXPECT_EQ(record.flags, std::uint64_t{PERF_AUX_FLAG_OVERWRITE}) << rule::AUX_005;
    EXPECT_EQ(record.size,
              (11 + static_cast<std::size_t>(&record - records.data())) * target().trace_record())
        << rule::AUX_005;
  }
}

CONFORMANCE_CASE(Aux, SnapshotDisregardsTheTail, .rules = {rule::AUX_005},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({.pages = 1, .writable = false});
  for (const std::uint64_t tail : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{12'345}}) {
    trace.aux().set_tail(tail);
    const auto branches = SomeBranches(RecordsIn(PageSize()), tail & 0xffff);
    TraceBranches(trace.event(), branches);
    EXPECT_EQ(Snapshot(trace), AsTraced(branches));
  }
}

// User space may write any value to aux_tail. The device must write only inside the area.
CONFORMANCE_CASE(Aux, InvalidTailKeepsWritesInsideArea, .rules = {rule::AUX_004},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  Trace trace({.pages = 1});
  for (const std::uint64_t tail :
       {~std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63, std::uint64_t{4'095},
        std::uint64_t{4'097}, std::uint64_t{0} - 4'096}) {
    SCOPED_TRACE(tail);
    trace.aux().set_tail(tail);
    const std::uint64_t before = trace.aux().head();
    TraceBranches(trace.event(), SomeBranches(500));
    EXPECT_LE(trace.aux().head() - before, PageSize() + target().trace_record());
    trace.ring().Drain();
  }
  trace.aux().set_tail(trace.aux().head());
  const auto branches = SomeBranches(20);
  TraceBranches(trace.event(), branches);
  EXPECT_EQ(trace.Drain().branches.size(), 20u);
}

// Since Linux 6.16 the kernel itself disables the event of a full area.
CONFORMANCE_CASE(Aux, EnableAloneRestartsTraceOfFullArea, .rules = {rule::AUX_032},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  Trace trace({.pages = 1});
  for (int i = 0; i < 3; ++i) {
    FillAndDrain(trace);
    CheckTracingContinues(trace, rule::AUX_032);
  }
}

}  // namespace
}  // namespace pmuconf
