// SPDX-License-Identifier: Apache-2.0
// The result of a read of an event: its size, its fields, and nothing else.
#include <unistd.h>

#include <array>
#include <thread>

#include "cases/common.h"
#include "cases/raw_read.h"
#include "cases/readformat/read_cost.h"
#include "rules/RDF.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kFormats =
    PERF_FORMAT_GROUP | kReadTimes | PERF_FORMAT_ID | PERF_FORMAT_LOST;

// The size of a reading of `members` events, by perf_event_open(2).
std::size_t SizeOf(std::uint64_t format, std::size_t members) {
  std::size_t entry = 1;
  std::size_t head = 0;
  if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) ++head;
  if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) ++head;
  if (format & PERF_FORMAT_ID) ++entry;
  if (format & PERF_FORMAT_LOST) ++entry;
  if (format & PERF_FORMAT_GROUP) return 8 * (1 + head + entry * members);
  return 8 * (head + entry);
}

CONFORMANCE_CASE(ReadFormat, PlainReadingIsTheCountAlone, .rules = {rule::RDF_001},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.read_format = 0});
  event.Enable();
  target().Stimulate(spec, 0x1122334455);
  std::array<std::uint64_t, 4> words = {};
  ASSERT_EQ(::read(event.fd(), words.data(), sizeof(words)), 8);
  EXPECT_THAT(words[0], Counted(spec, 0x1122334455));
}

CONFORMANCE_CASE(ReadFormat, TimesFollowTheValue, .rules = {rule::RDF_002},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  event.Enable();
  target().Stimulate(spec, 3);
  event.Disable();
  std::array<std::uint64_t, 4> words = {};
  ASSERT_EQ(::read(event.fd(), words.data(), sizeof(words)), 24);
  EXPECT_THAT(words[0], Counted(spec, 3));
  EXPECT_GT(words[1], 0u);
  EXPECT_GT(words[2], 0u);
}

CONFORMANCE_CASE(ReadFormat, EachFormatHasDocumentedLayout,
                 .rules = {rule::RDF_003, rule::RDF_004, rule::RDF_006, rule::RDF_007,
                           rule::RDF_008},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  for (std::uint64_t format = 0; format <= kFormats; ++format) {
    if ((format & ~kFormats) != 0) continue;
    const Event leader = Open(spec, {.read_format = format});
    const Event member = Open(spec, {.group_fd = leader.fd(), .read_format = format});
    leader.EnableGroup();
    target().Stimulate(spec, 21);
    leader.DisableGroup();
    const std::size_t size = SizeOf(format, 2);
    const RawRead exact(leader.fd(), size);
    const RawRead larger(leader.fd(), exact.bytes.size());
    const RawRead shorter(leader.fd(), size - 1);
    EXPECT_EQ(exact.result, static_cast<ssize_t>(size)) << rule::RDF_006 << format;
    EXPECT_EQ(larger.result, static_cast<ssize_t>(size)) << rule::RDF_008 << format;
    EXPECT_TRUE(larger.UntouchedFrom(size)) << rule::RDF_008 << format;
    EXPECT_EQ(larger.bytes, exact.bytes) << rule::RDF_008 << format;
    EXPECT_EQ(shorter.error, ENOSPC) << rule::RDF_007 << format;
    EXPECT_TRUE(shorter.UntouchedFrom(0)) << rule::RDF_007 << format;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(exact.bytes)).first(size);
    const bool with_id = (format & PERF_FORMAT_ID) != 0;
    std::vector<GroupEntry> entries;
    if (format & PERF_FORMAT_GROUP) {
      const std::optional<GroupReading> reading = ParseGroupReading(bytes, format);
      ASSERT_TRUE(reading) << rule::RDF_004;
      entries = reading->entries;
      ASSERT_EQ(entries.size(), 2u) << rule::RDF_004;
      EXPECT_EQ(entries[1].id, with_id ? member.Id() : 0) << rule::RDF_003;
    } else {
      const std::optional<Reading> reading = ParseReading(bytes, format);
      ASSERT_TRUE(reading) << rule::RDF_006;
      entries = {{reading->value, reading->id, reading->lost}};
    }
    EXPECT_EQ(entries[0].id, with_id ? leader.Id() : 0) << rule::RDF_003;
    for (const GroupEntry& entry : entries) {
      EXPECT_THAT(entry, Counted(spec, 21)) << rule::RDF_004 << format;
      EXPECT_EQ(entry.lost, 0u) << rule::RDF_006 << format;
    }
  }
}

CONFORMANCE_CASE(ReadFormat, GroupReadingHasItsMembersInOrder,
                 .rules = {rule::RDF_002, rule::RDF_003, rule::RDF_004},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  const std::vector<EventSpec> specs = FullSet();
  {
    Group group(specs);
    group.Enable();
    const std::vector<std::uint64_t> want = PulseEach(specs, 5'000);
    const GroupReading reading = group.Read();
    ASSERT_EQ(reading.entries.size(), specs.size()) << rule::RDF_004;
    EXPECT_GT(reading.time_enabled, 0u) << rule::RDF_002;
    EXPECT_GT(reading.time_running, 0u) << rule::RDF_002;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      EXPECT_EQ(reading.entries[i].id, group[i].Id()) << rule::RDF_003;
      EXPECT_THAT(reading.entries[i], Counted(specs[i], want[i])) << rule::RDF_004;
    }
  }

  Series cost = {"read(2)", {}};
  for (std::size_t n = 1; n <= specs.size(); ++n) {
    Group part(std::vector(specs.begin(), specs.begin() + static_cast<std::ptrdiff_t>(n)));
    part.Enable();
    cost.points.emplace_back(n, MedianCostNs([&part] { part.Read(); }));
  }
  Attach({.name = "cost",
          .title = "Cost of the reading of a group",
          .mark = Mark::kLine,
          .x = {"members", ""},
          .y = {"median of 33 readings", "ns"},
          .series = {cost}});
}

CONFORMANCE_CASE(ReadFormat, SiblingReadsTheGroupInItsOwnFormat, .rules = {rule::RDF_011},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec, {.read_format = PERF_FORMAT_GROUP});
  const Event member = Open(spec, {.group_fd = leader.fd(), .read_format = Group::kReadFormat});
  leader.EnableGroup();
  target().Stimulate(spec, 8);
  std::array<std::uint64_t, 16> words = {};
  ASSERT_EQ(::read(leader.fd(), words.data(), sizeof(words)), 24);
  EXPECT_EQ(words[0], 2u);
  const GroupReading reading = member.ReadGroup();
  ASSERT_EQ(reading.entries.size(), 2u);
  EXPECT_EQ(reading.entries[0].id, leader.Id());
  EXPECT_EQ(reading.entries[1].id, member.Id());
  for (const GroupEntry& entry : reading.entries) {
    EXPECT_THAT(entry, Counted(spec, 8));
  }
  EXPECT_GT(reading.time_running, 0u);
}

CONFORMANCE_CASE(ReadFormat, EachFormatSumsInheritedGroup, .rules = {rule::RDF_004, rule::RDF_006},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kGroups, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  for (std::uint64_t format = 0; format <= kFormats; ++format) {
    if ((format & ~kFormats) != 0) continue;
    const Event leader = Open(spec, {.read_format = format, .inherit = true});
    const Event member =
        Open(spec, {.group_fd = leader.fd(), .read_format = format, .inherit = true});
    leader.EnableGroup();
    target().Stimulate(spec, 5);
    std::thread([&spec] { target().Stimulate(spec, 300); }).join();
    leader.DisableGroup();
    for (const Event* event : {&leader, &member}) {
      const std::size_t size = SizeOf(format, 2);
      const RawRead raw(event->fd(), sizeof(RawRead::bytes));
      ASSERT_EQ(raw.result, static_cast<ssize_t>(size)) << rule::RDF_006 << format;
      const std::span<const std::byte> bytes = std::as_bytes(std::span(raw.bytes)).first(size);
      const bool group = (format & PERF_FORMAT_GROUP) != 0;
      const std::uint64_t value = group ? ParseGroupReading(bytes, format)->entries.back().value
                                        : ParseReading(bytes, format)->value;
      EXPECT_THAT(value, Counted(spec, 305)) << rule::RDF_004 << format;
    }
  }
}

}  // namespace
}  // namespace pmuconf
