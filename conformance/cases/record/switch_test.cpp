// SPDX-License-Identifier: Apache-2.0
// SWITCH and SWITCH_CPU_WIDE records: a task leaves its CPU or returns to it, with the reason and
// the task.
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>

#include "cases/record/side_band.h"

namespace pmuconf {
namespace {

constexpr std::uint16_t kOut = PERF_RECORD_MISC_SWITCH_OUT;
constexpr std::uint16_t kPreempted = PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

void RequestSwitches(perf_event_attr& attr) { attr.context_switch = 1; }

// How often the task gave up its CPU voluntarily.
std::ptrdiff_t Voluntary(const std::vector<Record>& records) {
  return std::count_if(records.begin(), records.end(), [](const Record& record) {
    return (record.misc & (kOut | kPreempted)) == kOut;
  });
}

// Checks that the switches out and in alternate, and that the records have only their id fields.
void ExpectSwitches(const std::vector<Record>& records, const Event& event) {
  std::uint16_t out = kOut;
  for (const Record& record : records) {
    EXPECT_EQ(record.misc & kOut, out) << rule::REC_111;
    EXPECT_EQ(record.body.size(), kTrailerBytes) << rule::REC_111;
    ExpectTrailer(record, event, gettid());
    out ^= kOut;
  }
  EXPECT_EQ(out, kOut) << rule::REC_111;
}

CONFORMANCE_CASE(Record, SwitchReportsPreemptedAndBlocked, .rules = {rule::REC_111, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  NoPreemption no_preemption;  // a child runs only when this task yields or waits
  Child first([] { return 0; });
  Child second([] { return 0; });
  SideBand side_band(RequestSwitches);
  side_band.DrainRaw(PERF_RECORD_SWITCH);
  first.Go();
  EXPECT_EQ(Voluntary(side_band.DrainRaw(PERF_RECORD_SWITCH)), 0) << rule::REC_111;
  no_preemption.Yield();
  const std::vector<Record> yielded = side_band.DrainRaw(PERF_RECORD_SWITCH);
  EXPECT_GE(yielded.size(), 2u) << rule::REC_111;
  ExpectSwitches(yielded, side_band.event());
  EXPECT_EQ(Voluntary(yielded), 0) << rule::REC_111;
  ASSERT_EQ(first.Wait(), 0);
  side_band.DrainRaw(PERF_RECORD_SWITCH);
  ASSERT_EQ(second.Run(), 0);
  const std::vector<Record> blocked = side_band.DrainRaw(PERF_RECORD_SWITCH);
  ExpectSwitches(blocked, side_band.event());
  EXPECT_EQ(Voluntary(blocked), 1) << rule::REC_111;
}

// The kernel counts the switches of a task by the same reasons. Since 6.12 a task that sleeps after
// more than its share of the CPU may stay on the run queue for a while.
CONFORMANCE_CASE(Record, SwitchReasonsAgreeWithGetrusage, .rules = {rule::REC_111},
                 .needs = {Cap::kTasks}) {
  Child rival([] {
    while (true) {
      asm volatile("");  // A loop without an effect is undefined.
    }
    return 0;
  });
  const auto voluntary = [] {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  SideBand side_band(RequestSwitches);
  rival.Go();
  side_band.DrainRaw();
  const auto before = voluntary();
  std::ptrdiff_t reported = 0;
  for (int i = 0; i < 50; ++i) {
    BusyWait(0.004);
    poll(nullptr, 0, 1);  // gives up the CPU
    reported += Voluntary(side_band.DrainRaw(PERF_RECORD_SWITCH));
  }
  EXPECT_EQ(reported, voluntary() - before);
}

CONFORMANCE_CASE(Record, CpuWideSwitchReportsBothTasks, .rules = {rule::REC_112, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  NoPreemption no_preemption;
  Child child([] { return 0; });
  SideBand side_band(RequestSwitches, {.pid = -1, .cpu = CurrentCpu()});
  side_band.DrainRaw(PERF_RECORD_SWITCH_CPU_WIDE);
  child.Go();
  no_preemption.Yield();
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_SWITCH_CPU_WIDE);
  EXPECT_TRUE(std::any_of(records.begin(), records.end(), [&child](const Record& record) {
    return TrailerTid(record) == Unsigned(child.pid());
  })) << rule::REC_112;
  ASSERT_EQ(child.Wait(), 0);
  ASSERT_GE(records.size(), 4u) << rule::REC_112;
  EXPECT_EQ(records.size() % 2, 0u) << rule::REC_112;
  EXPECT_EQ(TrailerTid(records.front()), Unsigned(gettid())) << rule::REC_112;
  EXPECT_EQ(TrailerTid(records.back()), Unsigned(gettid())) << rule::REC_112;
  for (std::size_t i = 0; i + 1 < records.size(); i += 2) {
    const Record &out = records[i], &in = records[i + 1];
    EXPECT_EQ(out.body.size(), 8 + kTrailerBytes) << rule::REC_112;
    EXPECT_NE(out.misc & kOut, 0) << rule::REC_112;
    EXPECT_EQ(in.misc & kOut, 0) << rule::REC_112;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(out, 4), TrailerTid(in)) << rule::REC_112;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(in, 4), TrailerTid(out)) << rule::REC_112;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(out, 0), pmuconf::At<std::uint32_t>(in, 8))
        << rule::REC_112;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(in, 0), pmuconf::At<std::uint32_t>(out, 8))
        << rule::REC_112;
  }
  EXPECT_NE(records.front().misc & kPreempted, 0) << rule::REC_112;
}

}  // namespace
}  // namespace pmuconf
