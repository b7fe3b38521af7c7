// SPDX-License-Identifier: Apache-2.0
// Parses records about processes and throttling, by the layout in perf_event_open(2).
#include "tools/profile/side_band.h"

#include <algorithm>
#include <ctime>

#include "text/byte_reader.h"

namespace pmuconf::profile {
namespace {

constexpr std::size_t kTrailer = 16;  // pid and tid, time

std::uint64_t TimeOf(std::span<const std::byte> trailer) {
  ByteReader reader(trailer);
  reader.U64();
  return reader.U64();
}

SideRecord ReadMap(ByteReader& reader) {
  SideRecord record;
  record.pid = reader.U32();
  record.tid = reader.U32();
  record.mapping.begin = reader.U64();
  record.mapping.end = record.mapping.begin + reader.U64();
  record.mapping.file_offset = reader.U64();
  FileKey& file = record.mapping.file;
  file.major = reader.U32();
  file.minor = reader.U32();
  file.inode = reader.U64();
  reader.U64();  // inode generation
  reader.U64();  // protection and flags
  const auto name = reader.Bytes(reader.remaining());
  const auto* const text = reinterpret_cast<const char*>(name.data());
  file.path.assign(text, std::find(text, text + name.size(), '\0'));
  return record;
}

SideRecord ReadTask(ByteReader& reader, SideRecord::Kind kind) {
  SideRecord record;
  record.kind = kind;
  record.pid = reader.U32();
  record.parent_pid = reader.U32();
  record.tid = reader.U32();
  record.parent_tid = reader.U32();
  return record;
}

}  // namespace

perf_event_attr SideBandAttr() {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.sample_period = 1;
  attr.sample_id_all = 1;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  // Wake up at once, because the files of a short process must be opened immediately.
  attr.wakeup_watermark = 1;
  return attr;
}

std::optional<SideRecord> ParseSideRecord(std::uint32_t type, std::uint16_t misc,
                                          std::span<const std::byte> body) {
  SideRecord record;
  if (type == PERF_RECORD_THROTTLE) {
    record.kind = SideRecord::Kind::kThrottle;
    return record;
  }
  if (type == PERF_RECORD_LOST) {
    ByteReader reader(body);
    reader.U64();
    record.kind = SideRecord::Kind::kLost;
    record.lost = reader.U64();
    return reader.ok() ? std::optional(record) : std::nullopt;
  }
  if (body.size() < kTrailer) return std::nullopt;
  ByteReader reader(body.first(body.size() - kTrailer));
  if (type == PERF_RECORD_MMAP2) {
    record = ReadMap(reader);
  } else if (type == PERF_RECORD_COMM) {
    if ((misc & PERF_RECORD_MISC_COMM_EXEC) == 0) return std::nullopt;
    record.kind = SideRecord::Kind::kExec;
    record.pid = reader.U32();
    record.tid = reader.U32();
  } else if (type == PERF_RECORD_FORK) {
    record = ReadTask(reader, SideRecord::Kind::kFork);
  } else if (type == PERF_RECORD_EXIT) {
    record = ReadTask(reader, SideRecord::Kind::kExit);
  } else {
    return std::nullopt;
  }
  record.time_ns = TimeOf(body.last(kTrailer));
  return reader.ok() ? std::optional(record) : std::nullopt;
}

}  // namespace pmuconf::profile
