// SPDX-License-Identifier: Apache-2.0
// Records that are no samples: COMM, FORK, EXIT, LOST, and the id fields behind them.
#include <sys/prctl.h>

#include <cstring>

#include "pmuconf/case.h"
#include "pmuconf/cpu.h"
#include "pmuconf/ring.h"
#include "pmuconf/rules/REC.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kTrailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
constexpr std::size_t kTrailerBytes = 48;

template <typename T>
T At(const Record& record, std::size_t offset) {
  T value = {};
  if (offset + sizeof(T) > record.body.size()) {
    ADD_FAILURE() << "record of " << record.body.size() << " bytes ends before " << offset;
    return value;
  }
  std::memcpy(&value, record.body.data() + offset, sizeof(T));
  return value;
}

// The id fields at the end of `record`, which `task` caused on this CPU.
void ExpectTrailer(const Record& record, const Event& event, pid_t task) {
  ASSERT_GE(record.body.size(), kTrailerBytes) << rule::REC_024.text;
  const std::size_t begin = record.body.size() - kTrailerBytes;
  EXPECT_EQ(At<std::uint32_t>(record, begin), static_cast<std::uint32_t>(task))
      << rule::REC_024.text;
  EXPECT_NE(At<std::uint64_t>(record, begin + 8), 0u) << rule::REC_024.text;
  EXPECT_EQ(At<std::uint64_t>(record, begin + 16), event.Id()) << rule::REC_024.text;
  EXPECT_EQ(At<std::uint64_t>(record, begin + 24), event.Id()) << rule::REC_024.text;
  EXPECT_EQ(At<std::uint32_t>(record, begin + 32), static_cast<std::uint32_t>(CurrentCpu()))
      << rule::REC_024.text;
  EXPECT_EQ(At<std::uint64_t>(record, begin + 40), event.Id()) << rule::REC_024.text;
}

CONFORMANCE_CASE(Record, CommTellsTheNewName, .rules = {rule::REC_104, rule::REC_024},
                 .needs = {Cap::kSampling}) {
  const Event event =
      Open(target().AnyEvent(), {.sample_period = 1'000,
                                 .sample_type = kTrailer,
                                 .sample_id_all = true,
                                 .edit = [](perf_event_attr& attr) { attr.comm = 1; }});
  Ring ring(event, 1);
  event.Enable();
  prctl(PR_SET_NAME, "renamed-case");
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.others.size(), 1u) << rule::REC_104.text;
  const Record& comm = got.others[0];
  ASSERT_EQ(comm.type, std::uint32_t{PERF_RECORD_COMM}) << rule::REC_104.text;
  EXPECT_EQ(comm.misc & PERF_RECORD_MISC_COMM_EXEC, 0) << rule::REC_104.text;
  EXPECT_EQ(At<std::uint32_t>(comm, 0), static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(At<std::uint32_t>(comm, 4), static_cast<std::uint32_t>(gettid()));
  ASSERT_EQ(comm.body.size(), 8 + 16 + kTrailerBytes) << rule::REC_104.text;
  EXPECT_STREQ(reinterpret_cast<const char*>(comm.body.data() + 8), "renamed-case")
      << rule::REC_104.text;
  ExpectTrailer(comm, event, getpid());
}

CONFORMANCE_CASE(Record, ForkAndExitTellTheFamily, .rules = {rule::REC_105, rule::REC_024},
                 .needs = {Cap::kSampling}) {
  const Event event =
      Open(target().AnyEvent(), {.cpu = CurrentCpu(),
                                 .sample_period = 1'000,
                                 .sample_type = kTrailer,
                                 .disabled = false,
                                 .inherit = true,
                                 .sample_id_all = true,
                                 .edit = [](perf_event_attr& attr) { attr.task = 1; }});
  Ring ring(event, 1);
  Child child([] { return 0; });
  const auto parent = static_cast<std::uint32_t>(getpid());
  const auto pid = static_cast<std::uint32_t>(child.pid());
  child.Go();
  ASSERT_EQ(child.Wait(), 0);
  const RingContents got = ring.Drain();
  EXPECT_THAT(got.order, testing::ElementsAre(PERF_RECORD_FORK, PERF_RECORD_EXIT))
      << rule::REC_105.text;
  for (const Record& record : got.others) {
    EXPECT_EQ(record.body.size(), 24 + kTrailerBytes) << rule::REC_105.text;
    EXPECT_EQ(At<std::uint32_t>(record, 0), pid) << rule::REC_105.text;
    EXPECT_EQ(At<std::uint32_t>(record, 4), parent) << rule::REC_105.text;
    EXPECT_EQ(At<std::uint32_t>(record, 8), pid) << rule::REC_105.text;
    EXPECT_EQ(At<std::uint32_t>(record, 12), parent) << rule::REC_105.text;
    EXPECT_NE(At<std::uint64_t>(record, 16), 0u) << rule::REC_105.text;
  }
  ExpectTrailer(got.others.front(), event, getpid());
}

CONFORMANCE_CASE(Record, LostTellsEventAndNumber, .rules = {rule::REC_103, rule::REC_024},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event =
      Open(spec,
           {.sample_period = 1, .sample_type = kTrailer | PERF_SAMPLE_ADDR, .sample_id_all = true});
  Ring ring(event, 1);
  event.Enable();
  for (int i = 0; i < 3; ++i) {
    target().Stimulate(spec, 200);
    const std::size_t kept = ring.Drain().samples.size();
    ASSERT_LT(kept, 200u);
    target().Stimulate(spec, 1);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.lost.size(), 1u) << rule::REC_103.text;
    EXPECT_EQ(got.lost[0].lost, 200 - kept) << rule::REC_103.text;
    EXPECT_EQ(got.lost[0].id, event.Id()) << rule::REC_103.text;
    EXPECT_EQ(got.lost[0].trailer.id, event.Id()) << rule::REC_024.text;
    EXPECT_EQ(got.lost[0].trailer.cpu, static_cast<std::uint32_t>(CurrentCpu()))
        << rule::REC_024.text;
    EXPECT_EQ(got.lost[0].trailer.identifier, event.Id()) << rule::REC_024.text;
  }
}

CONFORMANCE_CASE(Record, MixedRecordsParseWithoutAGap, .rules = {rule::REC_121},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const OpenOptions options = {.sample_period = 1,
                               .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR,
                               .sample_id_all = true,
                               .edit = [](perf_event_attr& attr) { attr.comm = 1; }};
  const Event owner = Open(specs[0], options);
  const Event guest = Open(specs[1], options);
  Ring ring(owner, 1);
  guest.SetOutput(owner);
  owner.Enable();
  guest.Enable();
  std::uint64_t written = 0;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    target().Stimulate(specs[i % 2], i);
    prctl(PR_SET_NAME, i % 3 == 0 ? "short" : "a-longer-name");
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), i) << rule::REC_121.text;
    EXPECT_EQ(got.others.size(), 2u) << rule::REC_121.text;
    written += got.order.size();
  }
  EXPECT_EQ(written, 60u * 61 / 2 + 2 * 60) << rule::REC_121.text;
  EXPECT_EQ(ring.head(), ring.tail()) << rule::REC_121.text;
}

}  // namespace
}  // namespace pmuconf
