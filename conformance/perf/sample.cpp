// SPDX-License-Identifier: Apache-2.0
// Parses records in the order of fields in perf_event_open(2), "PERF_RECORD_SAMPLE".
#include "perf/sample.h"

#include <bit>

#include "perf/reading.h"
#include "perf/ring.h"
#include "text/byte_reader.h"

namespace pmuconf {
namespace {

// The headers of the oldest supported distribution lack PERF_SAMPLE_BRANCH_COUNTERS.
constexpr std::uint64_t kBranchCounters = 1ULL << 19;

void ReadRegs(ByteReader* reader, std::uint64_t mask, std::optional<std::uint64_t>* abi,
              std::optional<std::vector<std::uint64_t>>* regs) {
  *abi = reader->U64();
  const bool any = **abi != PERF_SAMPLE_REGS_ABI_NONE;
  *regs =
      reader->ReadMany<std::uint64_t>(any ? static_cast<std::uint64_t>(std::popcount(mask)) : 0);
}

void ReadBranches(ByteReader* reader, const perf_event_attr& attr, Sample* sample) {
  const std::uint64_t n = reader->U64();
  if (attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
    sample->branch_hw_index = reader->U64();
  sample->branches = reader->ReadMany<perf_branch_entry>(n);
  if (attr.branch_sample_type & kBranchCounters) reader->ReadMany<std::uint64_t>(n);
}

std::vector<std::byte> ReadBytes(ByteReader* reader, std::uint64_t n) {
  return reader->ReadMany<std::byte>(n);
}

void ReadCounts(ByteReader* reader, std::uint64_t read_format, std::optional<Reading>* one,
                std::optional<GroupReading>* group) {
  if (read_format & PERF_FORMAT_GROUP) {
    *group = ReadGroupReading(reader, read_format);
  } else {
    *one = ReadReading(reader, read_format);
  }
}

// Parses the first fields, which have a fixed size.
void ReadHead(ByteReader* reader, std::uint64_t type, Sample* sample) {
  if (type & PERF_SAMPLE_IDENTIFIER) sample->identifier = reader->U64();
  if (type & PERF_SAMPLE_IP) sample->ip = reader->U64();
  if (type & PERF_SAMPLE_TID) {
    sample->pid = reader->U32();
    sample->tid = reader->U32();
  }
  if (type & PERF_SAMPLE_TIME) sample->time = reader->U64();
  if (type & PERF_SAMPLE_ADDR) sample->addr = reader->U64();
  if (type & PERF_SAMPLE_ID) sample->id = reader->U64();
  if (type & PERF_SAMPLE_STREAM_ID) sample->stream_id = reader->U64();
  if (type & PERF_SAMPLE_CPU) {
    sample->cpu = reader->U32();
    reader->U32();
  }
  if (type & PERF_SAMPLE_PERIOD) sample->period = reader->U64();
}

void ReadStack(ByteReader* reader, Sample* sample) {
  const std::uint64_t size = reader->U64();
  std::vector<std::byte> stack = ReadBytes(reader, size);
  if (size != 0) {
    const std::uint64_t used = reader->U64();
    if (used <= stack.size()) stack.resize(used);
  }
  sample->stack_user = std::move(stack);
}

void ReadTail(ByteReader* reader, const perf_event_attr& attr, Sample* sample) {
  const std::uint64_t type = attr.sample_type;
  if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) sample->weight = reader->U64();
  if (type & PERF_SAMPLE_DATA_SRC) sample->data_src = reader->U64();
  if (type & PERF_SAMPLE_TRANSACTION) sample->transaction = reader->U64();
  if (type & PERF_SAMPLE_REGS_INTR) {
    ReadRegs(reader, attr.sample_regs_intr, &sample->regs_intr_abi, &sample->regs_intr);
  }
  if (type & PERF_SAMPLE_PHYS_ADDR) sample->phys_addr = reader->U64();
  if (type & PERF_SAMPLE_CGROUP) sample->cgroup = reader->U64();
  if (type & PERF_SAMPLE_DATA_PAGE_SIZE) sample->data_page_size = reader->U64();
  if (type & PERF_SAMPLE_CODE_PAGE_SIZE) sample->code_page_size = reader->U64();
  if (type & PERF_SAMPLE_AUX) sample->aux = ReadBytes(reader, reader->U64());
}

SampleId ReadTrailer(ByteReader* reader, const perf_event_attr& attr) {
  SampleId id;
  if (!attr.sample_id_all) return id;
  const std::uint64_t type = attr.sample_type;
  if (type & PERF_SAMPLE_TID) {
    id.pid = reader->U32();
    id.tid = reader->U32();
  }
  if (type & PERF_SAMPLE_TIME) id.time = reader->U64();
  if (type & PERF_SAMPLE_ID) id.id = reader->U64();
  if (type & PERF_SAMPLE_STREAM_ID) id.stream_id = reader->U64();
  if (type & PERF_SAMPLE_CPU) {
    id.cpu = reader->U32();
    reader->U32();
  }
  if (type & PERF_SAMPLE_IDENTIFIER) id.identifier = reader->U64();
  return id;
}

template <typename T>
std::optional<T> ValueIfDone(const ByteReader& reader, T value) {
  return reader.done() ? std::optional<T>(std::move(value)) : std::nullopt;
}

}  // namespace

std::optional<Sample> ParseSample(const Record& record, const perf_event_attr& attr) {
  if (record.type != PERF_RECORD_SAMPLE) return std::nullopt;
  ByteReader reader(record.body);
  Sample sample;
  sample.misc = record.misc;
  const std::uint64_t type = attr.sample_type;
  ReadHead(&reader, type, &sample);
  if (type & PERF_SAMPLE_READ)
    ReadCounts(&reader, attr.read_format, &sample.read, &sample.read_group);
  if (type & PERF_SAMPLE_CALLCHAIN) sample.callchain = reader.ReadMany<std::uint64_t>(reader.U64());
  if (type & PERF_SAMPLE_RAW) sample.raw = ReadBytes(&reader, reader.U32());
  if (type & PERF_SAMPLE_BRANCH_STACK) ReadBranches(&reader, attr, &sample);
  if (type & PERF_SAMPLE_REGS_USER) {
    ReadRegs(&reader, attr.sample_regs_user, &sample.regs_user_abi, &sample.regs_user);
  }
  if (type & PERF_SAMPLE_STACK_USER) ReadStack(&reader, &sample);
  ReadTail(&reader, attr, &sample);
  return ValueIfDone(reader, std::move(sample));
}

std::optional<LostRecord> ParseLost(const Record& record, const perf_event_attr& attr) {
  ByteReader reader(record.body);
  LostRecord lost;
  if (record.type == PERF_RECORD_LOST) {
    lost.id = reader.U64();
  } else if (record.type != PERF_RECORD_LOST_SAMPLES) {
    return std::nullopt;
  }
  lost.lost = reader.U64();
  lost.trailer = ReadTrailer(&reader, attr);
  return ValueIfDone(reader, lost);
}

std::optional<ThrottleRecord> ParseThrottle(const Record& record, const perf_event_attr& attr) {
  if (record.type != PERF_RECORD_THROTTLE && record.type != PERF_RECORD_UNTHROTTLE) {
    return std::nullopt;
  }
  ByteReader reader(record.body);
  ThrottleRecord throttle;
  throttle.throttle = record.type == PERF_RECORD_THROTTLE;
  throttle.time = reader.U64();
  throttle.id = reader.U64();
  throttle.stream_id = reader.U64();
  throttle.trailer = ReadTrailer(&reader, attr);
  return ValueIfDone(reader, throttle);
}

std::optional<ReadRecord> ParseReadRecord(const Record& record, const perf_event_attr& attr) {
  if (record.type != PERF_RECORD_READ) return std::nullopt;
  ByteReader reader(record.body);
  ReadRecord read;
  read.pid = reader.U32();
  read.tid = reader.U32();
  ReadCounts(&reader, attr.read_format, &read.read, &read.read_group);
  read.trailer = ReadTrailer(&reader, attr);
  return ValueIfDone(reader, std::move(read));
}

std::optional<DeferredRecord> ParseDeferred(const Record& record, const perf_event_attr& attr) {
  if (record.type != PERF_RECORD_CALLCHAIN_DEFERRED) return std::nullopt;
  ByteReader reader(record.body);
  DeferredRecord deferred;
  deferred.misc = record.misc;
  deferred.cookie = reader.U64();
  deferred.ips = reader.ReadMany<std::uint64_t>(reader.U64());
  deferred.trailer = ReadTrailer(&reader, attr);
  return ValueIfDone(reader, std::move(deferred));
}

}  // namespace pmuconf
