// SPDX-License-Identifier: Apache-2.0
// The layouts of attr.read_format (perf_event_open(2), "Reading results").
#include "perf/reading.h"

namespace pmuconf {

Reading ReadReading(ByteReader* reader, std::uint64_t read_format) {
  Reading reading;
  reading.value = reader->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) reading.time_enabled = reader->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) reading.time_running = reader->U64();
  if (read_format & PERF_FORMAT_ID) reading.id = reader->U64();
  if (read_format & PERF_FORMAT_LOST) reading.lost = reader->U64();
  return reading;
}

GroupReading ReadGroupReading(ByteReader* reader, std::uint64_t read_format) {
  GroupReading reading;
  const std::uint64_t n = reader->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) reading.time_enabled = reader->U64();
  if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) reading.time_running = reader->U64();
  for (std::uint64_t i = 0; i < n && reader->ok(); ++i) {
    GroupEntry entry;
    entry.value = reader->U64();
    if (read_format & PERF_FORMAT_ID) entry.id = reader->U64();
    if (read_format & PERF_FORMAT_LOST) entry.lost = reader->U64();
    if (reader->ok()) reading.entries.push_back(entry);
  }
  return reading;
}

std::optional<Reading> ParseReading(std::span<const std::byte> bytes, std::uint64_t read_format) {
  if (read_format & PERF_FORMAT_GROUP) return std::nullopt;
  ByteReader reader(bytes);
  const Reading reading = ReadReading(&reader, read_format);
  return reader.done() ? std::optional(reading) : std::nullopt;
}

std::optional<GroupReading> ParseGroupReading(std::span<const std::byte> bytes,
                                              std::uint64_t read_format) {
  if (!(read_format & PERF_FORMAT_GROUP)) return std::nullopt;
  ByteReader reader(bytes);
  GroupReading reading = ReadGroupReading(&reader, read_format);
  return reader.done() ? std::optional(std::move(reading)) : std::nullopt;
}

}  // namespace pmuconf
