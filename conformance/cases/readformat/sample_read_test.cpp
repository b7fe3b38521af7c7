// SPDX-License-Identifier: Apache-2.0
// Readings in samples, and the count of samples for which the buffer had no space.
#include <utility>

#include "cases/common.h"
#include "perf/ring.h"
#include "rules/RDF.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kPeriod = 40;

// How far apart the samples of each event are, and how late.
class Distances {
 public:
  // Attaches both, with the samples of one more event.
  void AttachWith(const std::string& event, const std::vector<Sample>& samples) {
    Series& distance = distances_.series.emplace_back(Series{event, {}});
    Series& skid = skids_.series.emplace_back(Series{event, {}});
    double last = 0;
    double end = 0;
    for (const Sample& sample : samples) {
      if (!sample.read) continue;
      const auto count = static_cast<double>(sample.read->value);
      const auto number = static_cast<double>(distance.points.size() + 1);
      distance.points.emplace_back(number, count - std::exchange(last, count));
      skid.points.emplace_back(number, count - (end += kPeriod));
    }
    Attach(distances_);
    Attach(skids_);
  }

 private:
  Measurement distances_ = {.name = "distance",
                            .title = "Distance of a sample from the previous one",
                            .mark = Mark::kPoints,
                            .x = {"sample", ""},
                            .y = {"distance", "events"},
                            .series = {}};
  Measurement skids_ = {.name = "skid",
                        .title = "Events after the end of the period",
                        .mark = Mark::kBars,
                        .x = {"sample", ""},
                        .y = {"skid", "events"},
                        .series = {}};
};

CONFORMANCE_CASE(ReadFormat, SampleHoldsTheCountAtTheOverflow, .rules = {rule::RDF_019},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  Distances distances;
  for (const EventSpec& spec : target().Events()) {
    auto [event, ring] = Sampler(spec,
                                 {.sample_period = kPeriod,
                                  .sample_type = PERF_SAMPLE_READ,
                                  .read_format = kReadTimes | PERF_FORMAT_ID},
                                 4);
    Pulse(spec, 10 * kPeriod + 9);
    event.Disable();
    const std::vector<Sample> samples = ring.Drain().samples;
    distances.AttachWith(spec.name, samples);
    ASSERT_EQ(samples.size(), 10u);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      ASSERT_TRUE(samples[i].read);
      const Reading& reading = *samples[i].read;
      EXPECT_THAT(reading, Counted(spec, kPeriod * (i + 1)));
      EXPECT_EQ(reading.id, event.Id());
      EXPECT_LE(reading.time_running, reading.time_enabled);
    }
  }
}

CONFORMANCE_CASE(ReadFormat, SampleHoldsTheWholeGroup, .rules = {rule::RDF_019},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event leader = Open(
      specs[0],
      {.sample_period = 10, .sample_type = PERF_SAMPLE_READ, .read_format = Group::kReadFormat});
  const Event member = Open(specs[1], {.group_fd = leader.fd(), .read_format = Group::kReadFormat});
  Ring ring(leader, 4);
  leader.EnableGroup();
  for (std::uint64_t i = 1; i <= 8; ++i) {
    Pulse(specs[1], i);
    Pulse(specs[0], 10);
  }
  leader.DisableGroup();
  const RingContents contents = ring.Drain();
  ASSERT_EQ(contents.samples.size(), 8u);
  for (std::uint64_t i = 1; i <= 8; ++i) {
    ASSERT_TRUE(contents.samples[i - 1].read_group);
    const GroupReading& reading = *contents.samples[i - 1].read_group;
    ASSERT_EQ(reading.entries.size(), 2u);
    EXPECT_THAT(reading.entries[0], Counted(specs[0], 10 * i));
    EXPECT_THAT(reading.entries[1], Counted(specs[1], i * (i + 1) / 2));
    EXPECT_EQ(reading.entries[1].id, member.Id());
  }
}

CONFORMANCE_CASE(ReadFormat, LostSamplesAreCounted, .rules = {rule::RDF_005},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec,
                               {.sample_period = 5,
                                .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
                                .read_format = PERF_FORMAT_LOST},
                               1);
  const std::uint64_t samples = 2 * PageSize() / 24;  // each takes 24 bytes
  Pulse(spec, 5 * samples);
  event.Disable();
  const Reading reading = event.Read();
  const std::uint64_t received = ring.Drain().samples.size();
  EXPECT_GT(reading.lost, 0u);
  EXPECT_EQ(reading.lost + received, samples);
  event.Enable();
  Pulse(spec, 5 * 3);
  EXPECT_EQ(event.Read().lost, reading.lost);
}

CONFORMANCE_CASE(ReadFormat, LostSamplesOfAGroupAreCountedByMember, .rules = {rule::RDF_005},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const OpenOptions options = {.sample_period = 5,
                               .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
                               .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_LOST};
  const Event leader = Open(specs[0], options);
  OpenOptions of_member = options;
  of_member.group_fd = leader.fd();
  const Event member = Open(specs[1], of_member);
  Ring leader_ring(leader, 1);
  Ring member_ring(member, 1);
  leader.EnableGroup();
  const std::uint64_t samples = 2 * PageSize() / 24;  // each takes 24 bytes
  Pulse(specs[0], 5 * samples);
  Pulse(specs[1], 5 * (samples + 50));
  leader.DisableGroup();
  const GroupReading reading = leader.ReadGroup();
  ASSERT_EQ(reading.entries.size(), 2u);
  const std::vector<std::size_t> received = {leader_ring.Drain().samples.size(),
                                             member_ring.Drain().samples.size()};
  for (const std::size_t i : {0, 1}) {
    EXPECT_GT(reading.entries[i].lost, 0u);
    EXPECT_EQ(reading.entries[i].lost + received[i], samples + 50 * i);
  }
}

}  // namespace
}  // namespace pmuconf
