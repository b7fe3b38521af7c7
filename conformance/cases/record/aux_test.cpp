// SPDX-License-Identifier: Apache-2.0
// Records about an AUX area: AUX and ITRACE_START, with the id fields at their end.
#include "cases/aux/trace.h"
#include "cases/record/side_band.h"

namespace pmuconf {
namespace {

const OpenOptions kWithTrailer = {.sample_type = kTrailer, .sample_id_all = true};

// The AUX records of `contents`. Checks the size and the id fields of each one.
std::vector<Record> AuxOf(const RingContents& contents, const Event& event) {
  std::vector<Record> records;
  for (const Record& record : contents.others) {
    if (record.type != PERF_RECORD_AUX) continue;
    EXPECT_EQ(record.body.size(), 24 + kTrailerBytes) << rule::REC_108;
    ExpectTrailer(record, event, gettid());
    records.push_back(record);
  }
  return records;
}

std::uint64_t FlagsOf(const Record& record) { return pmuconf::At<std::uint64_t>(record, 16); }

CONFORMANCE_CASE(Record, AuxReportsOffsetAndSize,
                 .rules = {rule::REC_108, rule::REC_109, rule::REC_024},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({}, kWithTrailer);
  std::uint64_t end = 0;
  std::size_t starts = 0;
  for (const std::size_t n : {10, 1, 25}) {
    TraceBranches(trace.event(), SomeBranches(n));
    const RingContents contents = trace.ring().Drain();
    for (const Record& record : contents.others) {
      if (record.type != PERF_RECORD_ITRACE_START) continue;
      EXPECT_EQ(end, 0u) << rule::REC_109;
      EXPECT_EQ(contents.order.front(), std::uint32_t{PERF_RECORD_ITRACE_START}) << rule::REC_109;
      EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 0), Unsigned(getpid())) << rule::REC_109;
      EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 4), Unsigned(gettid())) << rule::REC_109;
      EXPECT_EQ(record.body.size(), 8 + kTrailerBytes) << rule::REC_109;
      ExpectTrailer(record, trace.event(), gettid());
      ++starts;
    }
    const std::uint64_t begin = end;
    for (const Record& record : AuxOf(contents, trace.event())) {
      EXPECT_EQ(pmuconf::At<std::uint64_t>(record, 0), end) << rule::REC_108;
      end += pmuconf::At<std::uint64_t>(record, 8);
      EXPECT_EQ(FlagsOf(record), 0u) << rule::REC_108;
    }
    EXPECT_EQ(end - begin, n * target().trace_record()) << rule::REC_108;
  }
  EXPECT_EQ(starts, 1u) << rule::REC_109;
}

CONFORMANCE_CASE(Record, AuxReportsTruncation, .rules = {rule::REC_108},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({.pages = 1}, kWithTrailer);
  const std::size_t capacity = RecordsIn(PageSize());
  for (const std::size_t n : {capacity / 2, 2 * capacity, capacity / 2}) {
    TraceBranches(trace.event(), SomeBranches(n));
    std::uint64_t flags = 0;
    for (const Record& record : AuxOf(trace.ring().Drain(), trace.event())) {
      flags |= FlagsOf(record);
    }
    EXPECT_EQ(flags, n > capacity ? std::uint64_t{PERF_AUX_FLAG_TRUNCATED} : 0u);
    trace.aux().set_tail(trace.aux().head());
  }
}

CONFORMANCE_CASE(Record, AuxReportsOverwrite, .rules = {rule::REC_108},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  Trace trace({.pages = 1, .writable = false}, kWithTrailer);
  TraceBranches(trace.event(), SomeBranches(2 * RecordsIn(PageSize()) + 7));
  const std::vector<Record> records = AuxOf(trace.ring().Drain(), trace.event());
  ASSERT_FALSE(records.empty());
  for (const Record& record : records) {
    EXPECT_EQ(FlagsOf(record), std::uint64_t{PERF_AUX_FLAG_OVERWRITE});
  }
}

}  // namespace
}  // namespace pmuconf
