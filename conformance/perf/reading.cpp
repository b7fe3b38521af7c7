// SPDX-License-Identifier: Apache-2.0
// The layouts of attr.read_format (perf_event_open(2), "Reading results").
#include "perf/reading.h"

namespace pmuconf {

Reading TakeReading(Words* words, std::uint64_t read_format) {
  Reading reading;
  reading.value = words->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) reading.time_enabled = words->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) reading.time_running = words->U64();
  if (read_format & PERF_FORMAT_ID) reading.id = words->U64();
  if (read_format & PERF_FORMAT_LOST) reading.lost = words->U64();
  return reading;
}

GroupReading TakeGroupReading(Words* words, std::uint64_t read_format) {
  GroupReading reading;
  const std::uint64_t n = words->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) reading.time_enabled = words->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) reading.time_running = words->U64();
  for (std::uint64_t i = 0; i < n && words->ok(); ++i) {
    GroupEntry entry;
    entry.value = words->U64();
    if (read_format & PERF_FORMAT_ID) entry.id = words->U64();
    if (read_format & PERF_FORMAT_LOST) entry.lost = words->U64();
    if (words->ok()) reading.entries.push_back(entry);
  }
  return reading;
}

std::optional<Reading> ParseReading(std::span<const std::byte> bytes, std::uint64_t read_format) {
  if (read_format & PERF_FORMAT_GROUP) return std::nullopt;
  Words words(bytes);
  const Reading reading = TakeReading(&words, read_format);
  return words.done() ? std::optional(reading) : std::nullopt;
}

std::optional<GroupReading> ParseGroupReading(std::span<const std::byte> bytes,
                                              std::uint64_t read_format) {
  if (!(read_format & PERF_FORMAT_GROUP)) return std::nullopt;
  Words words(bytes);
  GroupReading reading = TakeGroupReading(&words, read_format);
  return words.done() ? std::optional(std::move(reading)) : std::nullopt;
}

}  // namespace pmuconf
