// SPDX-License-Identifier: Apache-2.0
// Side-band records: COMM, FORK, EXIT, READ and LOST, with the id fields at their end.
#include "cases/record/side_band.h"

#include <sys/prctl.h>

#include "harness/behaviour.h"
#include "perf/kernel_behaviour.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Record, CommReportsNewName, .rules = {rule::REC_104, rule::REC_024},
                 .needs = {Cap::kSampling}) {
  auto [event, ring] = Sampler(target().AnyEvent(),
                               {.sample_period = 1'000'000'000,
                                .sample_type = kTrailer,
                                .sample_id_all = true,
                                .edit = [](perf_event_attr& attr) { attr.comm = 1; }},
                               1);
  prctl(PR_SET_NAME, "renamed-case");
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.others.size(), 1u) << rule::REC_104;
  const Record& comm = got.others[0];
  ASSERT_EQ(comm.type, std::uint32_t{PERF_RECORD_COMM}) << rule::REC_104;
  EXPECT_EQ(comm.misc & PERF_RECORD_MISC_COMM_EXEC, 0) << rule::REC_104;
  EXPECT_EQ(pmuconf::At<std::uint32_t>(comm, 0), static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(pmuconf::At<std::uint32_t>(comm, 4), static_cast<std::uint32_t>(gettid()));
  ASSERT_EQ(comm.body.size(), 8 + 16 + kTrailerBytes) << rule::REC_104;
  EXPECT_STREQ(reinterpret_cast<const char*>(comm.body.data() + 8), "renamed-case")
      << rule::REC_104;
  ExpectTrailer(comm, event, getpid());
}

CONFORMANCE_CASE(Record, ForkAndExitReportTaskAndParent, .rules = {rule::REC_105, rule::REC_024},
                 .needs = {Cap::kSampling}) {
  const Event event =
      Open(target().AnyEvent(), {.cpu = CurrentCpu(),
                                 .sample_period = 1'000'000'000,  // no overflow occurs
                                 .sample_type = kTrailer,
                                 .disabled = false,
                                 .inherit = true,
                                 .sample_id_all = true,
                                 .edit = [](perf_event_attr& attr) { attr.task = 1; }});
  Ring ring(event, 1);
  Child child([] { return 0; });
  const auto parent = static_cast<std::uint32_t>(getpid());
  const auto pid = static_cast<std::uint32_t>(child.pid());
  ASSERT_EQ(child.Run(), 0);
  const RingContents got = ring.Drain();
  EXPECT_THAT(got.order, testing::ElementsAre(PERF_RECORD_FORK, PERF_RECORD_EXIT)) << rule::REC_105;
  for (const Record& record : got.others) {
    EXPECT_EQ(record.body.size(), 24 + kTrailerBytes) << rule::REC_105;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 0), pid) << rule::REC_105;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 4), parent) << rule::REC_105;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 8), pid) << rule::REC_105;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 12), parent) << rule::REC_105;
    EXPECT_NE(pmuconf::At<std::uint64_t>(record, 16), 0u) << rule::REC_105;
  }
  ExpectTrailer(got.others.front(), event, getpid());
}

CONFORMANCE_CASE(Record, CommReportsExec, .rules = {rule::REC_104, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  Child child([] {
    prctl(PR_SET_NAME, "before");
    execl("/bin/true", "true", nullptr);
    return 125;
  });
  const pid_t pid = child.pid();
  SideBand side_band([](perf_event_attr& attr) { attr.comm = attr.comm_exec = 1; }, {.pid = pid});
  ASSERT_EQ(child.Run(), 0);
  std::vector<Record> records = side_band.DrainRaw();
  std::erase_if(records, [](const Record& record) { return record.type != PERF_RECORD_COMM; });
  ASSERT_EQ(records.size(), 2u) << rule::REC_104;
  EXPECT_EQ(NameAt(records[0], 8), "before") << rule::REC_104;
  EXPECT_EQ(records[0].misc & PERF_RECORD_MISC_COMM_EXEC, 0) << rule::REC_104;
  EXPECT_EQ(NameAt(records[1], 8), "true") << rule::REC_104;
  EXPECT_NE(records[1].misc & PERF_RECORD_MISC_COMM_EXEC, 0) << rule::REC_104;
  for (const Record& record : records) ExpectTrailer(record, side_band.event(), pid);
}

// A child that generates `n` events and then executes another program.
constexpr auto kStimulateAndExec = [](const EventSpec& spec, std::uint64_t n) {
  target().Stimulate(spec, n);
  execl("/bin/true", "true", nullptr);
  return 125;
};

// Checks the record of a child that counted 300 events of `spec`, for its parent's event.
void ExpectReadOf(std::uint32_t pid, const EventSpec& spec, const Event& event,
                  const ReadRecord& read) {
  EXPECT_EQ(read.pid, pid) << rule::REC_107;
  EXPECT_EQ(read.tid, pid) << rule::REC_107;
  EXPECT_THAT(*read.read, Counted(spec, 300)) << rule::REC_107;
  EXPECT_GT(read.read->time_running, 0u) << rule::REC_107;
  EXPECT_GE(read.read->time_enabled, read.read->time_running) << rule::REC_107;
  EXPECT_EQ(read.read->id, event.Id()) << rule::REC_107;
  EXPECT_EQ(read.trailer.tid, pid) << rule::REC_024;
  EXPECT_EQ(read.trailer.id, event.Id()) << rule::REC_008;
  EXPECT_NE(read.trailer.stream_id, event.Id()) << rule::REC_008;
}

CONFORMANCE_CASE(Record, ReadReportsChildCount,
                 .rules = {rule::REC_107, rule::REC_008, rule::REC_024},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const bool at_exit = WritesReadAtExit();
  EXPECT_TRUE(IsBehaviour(rule::REC_107, "records_at_exit", at_exit)) << rule::REC_107;
  for (const bool until_exec : {true, false}) {
    SCOPED_TRACE(until_exec ? "taken from the child at exec" : "at the child's end");
    const auto edit = [until_exec](perf_event_attr& attr) {
      attr.inherit_stat = 1;
      attr.remove_on_exec = until_exec;
    };
    const Event event = Open(spec, {.cpu = CurrentCpu(),
                                    .sample_type = kTrailer,
                                    .read_format = kReadTimes | PERF_FORMAT_ID,
                                    .disabled = false,
                                    .inherit = true,
                                    .sample_id_all = true,
                                    .edit = edit});
    Ring ring(event, 1);
    // Makes the contexts of parent and child differ. Otherwise the kernel may swap them at a
    // context switch, and the child gets the events of its parent.
    const Event of_parent = Open(spec);
    target().Stimulate(spec, 1'000);
    // Also for the child: a context switch before exec would update its counts (waiver CORE-2).
    const NoPreemption no_preemption;
    Child child([&spec] { return kStimulateAndExec(spec, 300); });
    const std::uint32_t pid = Unsigned(child.pid());
    ASSERT_EQ(child.Run(), 0);
    const RingContents got = ring.Drain();
    const std::size_t want = until_exec || at_exit ? 1 : 0;
    ASSERT_EQ(got.order, std::vector<std::uint32_t>(want, PERF_RECORD_READ)) << rule::REC_107;
    for (const ReadRecord& read : got.reads) ExpectReadOf(pid, spec, event, read);
  }
}

CONFORMANCE_CASE(Record, LostReportsEventAndNumber, .rules = {rule::REC_103, rule::REC_024},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(
      spec, {.sample_period = 1, .sample_type = kTrailer | PERF_SAMPLE_ADDR, .sample_id_all = true},
      1);
  const std::uint64_t samples = 2 * PageSize() / 64;  // each takes 64 bytes
  for (int i = 0; i < 3; ++i) {
    target().Stimulate(spec, samples);
    const std::size_t received = ring.Drain().samples.size();
    ASSERT_LT(received, samples);
    target().Stimulate(spec, 1);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.lost.size(), 1u) << rule::REC_103;
    EXPECT_EQ(got.lost[0].lost, samples - received) << rule::REC_103;
    EXPECT_EQ(got.lost[0].id, event.Id()) << rule::REC_103;
    EXPECT_EQ(got.lost[0].trailer.id, event.Id()) << rule::REC_024;
    EXPECT_EQ(got.lost[0].trailer.cpu, static_cast<std::uint32_t>(CurrentCpu())) << rule::REC_024;
    EXPECT_EQ(got.lost[0].trailer.identifier, event.Id()) << rule::REC_024;
  }
}

CONFORMANCE_CASE(Record, MixedRecordsParseWithoutAGap, .rules = {rule::REC_121},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const OpenOptions options = {.sample_period = 1,
                               .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR,
                               .sample_id_all = true,
                               .edit = [](perf_event_attr& attr) { attr.comm = 1; }};
  const Event owner = Open(specs[0], options);
  const Event redirected = Open(specs[1], options);
  Ring ring(owner, 1);
  redirected.SetOutput(owner);
  owner.Enable();
  redirected.Enable();
  std::uint64_t written = 0;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    target().Stimulate(specs[i % 2], i);
    prctl(PR_SET_NAME, i % 3 == 0 ? "short" : "a-longer-name");
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), i);
    EXPECT_EQ(got.others.size(), 2u);
    written += got.order.size();
  }
  EXPECT_EQ(written, 60u * 61 / 2 + 2 * 60);
  EXPECT_EQ(ring.head(), ring.tail());
}

}  // namespace
}  // namespace pmuconf
