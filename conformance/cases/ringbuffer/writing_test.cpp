// SPDX-License-Identifier: Apache-2.0
// Records in a ring buffer: written completely or counted as lost, in order, across the end, and
// backwards.
#include <cstring>

#include "harness/case.h"
#include "perf/ring.h"
#include "rules/RB.h"
#include "rules/REC.h"

namespace pmuconf {
namespace {

// The numbered samples that a buffer of one page can hold.
const std::uint64_t kRoom = PageSize() / 16;
constexpr std::uint64_t kWithLost = kReadTimes | PERF_FORMAT_LOST;

// Generates samples whose addresses are numbers: first, first + 1, ...
void StimulateNumbered(const EventSpec& spec, std::uint64_t first, std::uint64_t n) {
  for (std::uint64_t i = first; i < first + n; ++i) target().Stimulate(spec, 1, {.addr = i});
}

void ExpectNumbered(const std::vector<Sample>& samples, std::uint64_t first, const Rule& rule) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    ASSERT_EQ(samples[i].addr, first + i) << rule;
  }
}

Event OpenNumbered(const EventSpec& spec, bool write_backward = false) {
  return Open(spec, {.sample_period = 1,
                     .sample_type = PERF_SAMPLE_ADDR,
                     .read_format = kWithLost,
                     .write_backward = write_backward});
}

// The addresses of the samples from `head` on, at most one buffer length, in the order in which a
// reader of an overwritten buffer finds them.
std::vector<std::uint64_t> WalkFrom(const Ring& ring, std::uint64_t head) {
  std::vector<std::byte> data(ring.data().size());
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = ring.data()[(head + i) % data.size()];
  std::vector<std::uint64_t> addresses;
  for (std::size_t at = 0; at + 16 <= data.size(); at += 16) {
    perf_event_header header = {};
    std::memcpy(&header, &data[at], sizeof(header));
    if (header.type != PERF_RECORD_SAMPLE || header.size != 16) break;
    addresses.emplace_back();
    std::memcpy(&addresses.back(), &data[at + 8], 8);
  }
  return addresses;
}

CONFORMANCE_CASE(RingBuffer, UnreadRecordsAreNotOverwritten,
                 .rules = {rule::RB_009, rule::RB_011, rule::RB_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenNumbered(spec);
  Ring ring(event, 1);
  event.Enable();
  const std::uint64_t many = kRoom + 144;
  StimulateNumbered(spec, 1, many);
  EXPECT_EQ(event.Read().lost + ring.head() / 16, many) << rule::RB_011;
  const RingContents received = ring.Drain();
  ExpectNumbered(received.samples, 1, rule::RB_009);
  EXPECT_THAT(received.lost, testing::IsEmpty()) << rule::RB_009;

  StimulateNumbered(spec, many + 1, 1);
  const RingContents after = ring.Drain();
  EXPECT_THAT(after.order, testing::ElementsAre(PERF_RECORD_LOST, PERF_RECORD_SAMPLE))
      << rule::RB_010;
  ASSERT_EQ(after.lost.size(), 1u) << rule::RB_010;
  EXPECT_EQ(after.lost[0].lost, many - received.samples.size()) << rule::RB_010;
  EXPECT_EQ(after.lost[0].lost, event.Read().lost) << rule::RB_011;
  ExpectNumbered(after.samples, many + 1, rule::RB_010);
}

CONFORMANCE_CASE(RingBuffer, SamplesAndLostAddUpToTheOverflows,
                 .rules = {rule::RB_011, rule::REC_103},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenNumbered(spec);
  Ring ring(event, 1);
  event.Enable();
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  for (const std::uint64_t burst :
       {std::uint64_t{1}, kRoom - 2, kRoom - 1, kRoom, kRoom + 44, std::uint64_t{2}, 4 * kRoom,
        std::uint64_t{0}, 3 * kRoom, std::uint64_t{1}}) {
    target().Stimulate(spec, burst);
    const RingContents got = ring.Drain();
    samples += got.samples.size();
    for (const LostRecord& record : got.lost) lost += record.lost;
  }
  EXPECT_EQ(samples + lost, event.Read().value) << rule::RB_011;
  EXPECT_EQ(lost, event.Read().lost) << rule::RB_011;
  EXPECT_GT(lost, 0u);
}

CONFORMANCE_CASE(RingBuffer, RoomGivenBackIsUsedAgain, .rules = {rule::RB_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenNumbered(spec);
  Ring ring(event, 1);
  event.Enable();
  StimulateNumbered(spec, 1, kRoom - 1);
  ring.set_tail(10 * 16);
  StimulateNumbered(spec, kRoom, 10);
  EXPECT_EQ(event.Read().lost, 0u);
  StimulateNumbered(spec, kRoom + 10, 1);
  EXPECT_EQ(event.Read().lost, 1u);
  ExpectNumbered(ring.Drain().samples, 11, rule::RB_009);
}

CONFORMANCE_CASE(RingBuffer, WrappedRecordsAreIntact, .rules = {rule::RB_019, rule::REC_121},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(
      spec,
      {.sample_period = 1,
       .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID | PERF_SAMPLE_IP},
      1);
  for (std::uint64_t round = 0; ring.head() <= 8 * PageSize(); ++round) {
    StimulateNumbered(spec, 1 + 70 * round, 70);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 70u) << rule::RB_019;
    ExpectNumbered(got.samples, 1 + 70 * round, rule::RB_019);
    EXPECT_EQ(got.PeriodSum(), 70u) << rule::RB_019;
    EXPECT_EQ(got.samples.back().id, event.Id()) << rule::RB_019;
  }
}

CONFORMANCE_CASE(RingBuffer, HeadGrowsByWhatIsWritten, .rules = {rule::RB_023},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenNumbered(spec);
  Ring ring(event, 1);
  event.Enable();
  std::uint64_t head = 0;
  for (const std::uint64_t n : {1, 3, 0, 100, 150, 90, 250}) {
    target().Stimulate(spec, n);
    EXPECT_EQ(ring.head(), head + 16 * n);
    head = ring.head();
    ring.Drain();
    EXPECT_EQ(ring.head(), head);
  }
}

CONFORMANCE_CASE(RingBuffer, PausedBufferIsNotWritten, .rules = {rule::RB_012, rule::RB_011},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenNumbered(spec);
  Ring ring(event, 1);
  event.Enable();
  StimulateNumbered(spec, 1, 5);
  event.PauseOutput(true);
  StimulateNumbered(spec, 6, 3);
  EXPECT_EQ(ring.head(), 5u * 16) << rule::RB_012;
  EXPECT_EQ(event.Read().lost, 3u) << rule::RB_012;
  event.PauseOutput(false);
  StimulateNumbered(spec, 9, 2);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 7u) << rule::RB_012;
  EXPECT_EQ(got.samples[5].addr, 9u) << rule::RB_012;
  ASSERT_EQ(got.lost.size(), 1u) << rule::RB_012;
  EXPECT_EQ(got.lost[0].lost, 3u) << rule::RB_011;
  EXPECT_THAT(event.Read(), Counted(spec, 10)) << rule::RB_012;
}

CONFORMANCE_CASE(RingBuffer, ReadOnlyMappingKeepsTheNewest, .rules = {rule::RB_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenNumbered(spec);
  const Ring ring(event, 1, false);
  event.Enable();
  const std::uint64_t many = 2 * kRoom + 188;
  StimulateNumbered(spec, 1, many);
  event.PauseOutput(true);
  EXPECT_EQ(ring.head(), many * 16);
  EXPECT_EQ(event.Read().lost, 0u);
  const std::vector<std::uint64_t> received = WalkFrom(ring, ring.head());
  ASSERT_EQ(received.size(), kRoom);
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i], many - kRoom + 1 + i);
  }
}

CONFORMANCE_CASE(RingBuffer, BackwardBufferHasTheNewestFirst, .rules = {rule::RB_008},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenNumbered(spec, true);
  const Ring ring(event, 1, false);
  event.Enable();
  std::uint64_t before = 0;
  for (const std::uint64_t total : {std::uint64_t{3}, 2 * kRoom + 88}) {
    StimulateNumbered(spec, before + 1, total - before);
    before = total;
    event.PauseOutput(true);
    EXPECT_EQ(ring.head(), 0 - 16 * total);
    const std::vector<std::uint64_t> received = WalkFrom(ring, ring.head());
    ASSERT_EQ(received.size(), std::min(total, kRoom));
    for (std::size_t i = 0; i < received.size(); ++i) {
      EXPECT_EQ(received[i], total - i);
    }
    event.PauseOutput(false);
  }
}

CONFORMANCE_CASE(RingBuffer, SharedBufferIdentifiesEvents, .rules = {rule::RB_018},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSeveralEvents, Cap::kSampling,
                           Cap::kCounters3}) {
  const std::vector<EventSpec> specs = target().AnyEvents(3);
  std::vector<Event> events;
  for (const EventSpec& spec : specs) {
    events.push_back(Open(spec, {.sample_period = 3 + 2 * events.size(),
                                 .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_PERIOD}));
  }
  Ring ring(events[0], 4);
  for (std::size_t i = 1; i < events.size(); ++i) events[i].SetOutput(events[0]);
  for (const Event& event : events) event.Enable();
  for (const EventSpec& spec : specs) target().Stimulate(spec, 105);
  std::vector<std::uint64_t> samples(events.size(), 0);
  for (const Sample& sample : ring.Drain().samples) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (*sample.identifier != events[i].Id()) continue;
      ++samples[i];
      EXPECT_EQ(sample.period, 3 + 2 * i);
    }
  }
  EXPECT_THAT(samples, testing::ElementsAre(35u, 21u, 15u));
}

}  // namespace
}  // namespace pmuconf
