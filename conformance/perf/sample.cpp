// SPDX-License-Identifier: Apache-2.0
// Parses records in the order of fields in perf_event_open(2), "PERF_RECORD_SAMPLE".
#include "perf/sample.h"

#include <bit>

#include "perf/reading.h"
#include "perf/ring.h"
#include "text/words.h"

namespace pmuconf {
namespace {

// The headers of the oldest supported distribution lack PERF_SAMPLE_BRANCH_COUNTERS.
constexpr std::uint64_t kBranchCounters = 1ULL << 19;

void TakeRegs(Words* words, std::uint64_t mask, std::optional<std::uint64_t>* abi,
              std::optional<std::vector<std::uint64_t>>* regs) {
  *abi = words->U64();
  const bool any = **abi != PERF_SAMPLE_REGS_ABI_NONE;
  *regs = words->TakeMany<std::uint64_t>(any ? static_cast<std::uint64_t>(std::popcount(mask)) : 0);
}

void TakeBranches(Words* words, const perf_event_attr& attr, Sample* sample) {
  const std::uint64_t n = words->U64();
  if (attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) sample->branch_hw_index = words->U64();
  sample->branches = words->TakeMany<perf_branch_entry>(n);
  if (attr.branch_sample_type & kBranchCounters) words->TakeMany<std::uint64_t>(n);
}

std::vector<std::byte> TakeBytes(Words* words, std::uint64_t n) {
  return words->TakeMany<std::byte>(n);
}

void TakeRead(Words* words, std::uint64_t read_format, std::optional<Reading>* one,
              std::optional<GroupReading>* group) {
  if (read_format & PERF_FORMAT_GROUP) {
    *group = TakeGroupReading(words, read_format);
  } else {
    *one = TakeReading(words, read_format);
  }
}

// Parses the first fields, which have a fixed size.
void TakeHead(Words* words, std::uint64_t type, Sample* sample) {
  if (type & PERF_SAMPLE_IDENTIFIER) sample->identifier = words->U64();
  if (type & PERF_SAMPLE_IP) sample->ip = words->U64();
  if (type & PERF_SAMPLE_TID) {
    sample->pid = words->U32();
    sample->tid = words->U32();
  }
  if (type & PERF_SAMPLE_TIME) sample->time = words->U64();
  if (type & PERF_SAMPLE_ADDR) sample->addr = words->U64();
  if (type & PERF_SAMPLE_ID) sample->id = words->U64();
  if (type & PERF_SAMPLE_STREAM_ID) sample->stream_id = words->U64();
  if (type & PERF_SAMPLE_CPU) {
    sample->cpu = words->U32();
    words->U32();
  }
  if (type & PERF_SAMPLE_PERIOD) sample->period = words->U64();
}

void TakeStack(Words* words, Sample* sample) {
  const std::uint64_t size = words->U64();
  std::vector<std::byte> stack = TakeBytes(words, size);
  if (size != 0) {
    const std::uint64_t used = words->U64();
    if (used <= stack.size()) stack.resize(used);
  }
  sample->stack_user = std::move(stack);
}

void TakeTail(Words* words, const perf_event_attr& attr, Sample* sample) {
  const std::uint64_t type = attr.sample_type;
  if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) sample->weight = words->U64();
  if (type & PERF_SAMPLE_DATA_SRC) sample->data_src = words->U64();
  if (type & PERF_SAMPLE_TRANSACTION) sample->transaction = words->U64();
  if (type & PERF_SAMPLE_REGS_INTR) {
    TakeRegs(words, attr.sample_regs_intr, &sample->regs_intr_abi, &sample->regs_intr);
  }
  if (type & PERF_SAMPLE_PHYS_ADDR) sample->phys_addr = words->U64();
  if (type & PERF_SAMPLE_CGROUP) sample->cgroup = words->U64();
  if (type & PERF_SAMPLE_DATA_PAGE_SIZE) sample->data_page_size = words->U64();
  if (type & PERF_SAMPLE_CODE_PAGE_SIZE) sample->code_page_size = words->U64();
  if (type & PERF_SAMPLE_AUX) sample->aux = TakeBytes(words, words->U64());
}

SampleId TakeTrailer(Words* words, const perf_event_attr& attr) {
  SampleId id;
  if (!attr.sample_id_all) return id;
  const std::uint64_t type = attr.sample_type;
  if (type & PERF_SAMPLE_TID) {
    id.pid = words->U32();
    id.tid = words->U32();
  }
  if (type & PERF_SAMPLE_TIME) id.time = words->U64();
  if (type & PERF_SAMPLE_ID) id.id = words->U64();
  if (type & PERF_SAMPLE_STREAM_ID) id.stream_id = words->U64();
  if (type & PERF_SAMPLE_CPU) {
    id.cpu = words->U32();
    words->U32();
  }
  if (type & PERF_SAMPLE_IDENTIFIER) id.identifier = words->U64();
  return id;
}

template <typename T>
std::optional<T> IfDone(const Words& words, T value) {
  return words.done() ? std::optional<T>(std::move(value)) : std::nullopt;
}

}  // namespace

std::optional<Sample> ParseSample(const Record& record, const perf_event_attr& attr) {
  if (record.type != PERF_RECORD_SAMPLE) return std::nullopt;
  Words words(record.body);
  Sample sample;
  sample.misc = record.misc;
  const std::uint64_t type = attr.sample_type;
  TakeHead(&words, type, &sample);
  if (type & PERF_SAMPLE_READ) TakeRead(&words, attr.read_format, &sample.read, &sample.read_group);
  if (type & PERF_SAMPLE_CALLCHAIN) sample.callchain = words.TakeMany<std::uint64_t>(words.U64());
  if (type & PERF_SAMPLE_RAW) sample.raw = TakeBytes(&words, words.U32());
  if (type & PERF_SAMPLE_BRANCH_STACK) TakeBranches(&words, attr, &sample);
  if (type & PERF_SAMPLE_REGS_USER) {
    TakeRegs(&words, attr.sample_regs_user, &sample.regs_user_abi, &sample.regs_user);
  }
  if (type & PERF_SAMPLE_STACK_USER) TakeStack(&words, &sample);
  TakeTail(&words, attr, &sample);
  return IfDone(words, std::move(sample));
}

std::optional<LostRecord> ParseLost(const Record& record, const perf_event_attr& attr) {
  Words words(record.body);
  LostRecord lost;
  if (record.type == PERF_RECORD_LOST) {
    lost.id = words.U64();
  } else if (record.type != PERF_RECORD_LOST_SAMPLES) {
    return std::nullopt;
  }
  lost.lost = words.U64();
  lost.trailer = TakeTrailer(&words, attr);
  return IfDone(words, lost);
}

std::optional<ThrottleRecord> ParseThrottle(const Record& record, const perf_event_attr& attr) {
  if (record.type != PERF_RECORD_THROTTLE && record.type != PERF_RECORD_UNTHROTTLE) {
    return std::nullopt;
  }
  Words words(record.body);
  ThrottleRecord throttle;
  throttle.throttle = record.type == PERF_RECORD_THROTTLE;
  throttle.time = words.U64();
  throttle.id = words.U64();
  throttle.stream_id = words.U64();
  throttle.trailer = TakeTrailer(&words, attr);
  return IfDone(words, throttle);
}

std::optional<ReadRecord> ParseReadRecord(const Record& record, const perf_event_attr& attr) {
  if (record.type != PERF_RECORD_READ) return std::nullopt;
  Words words(record.body);
  ReadRecord read;
  read.pid = words.U32();
  read.tid = words.U32();
  TakeRead(&words, attr.read_format, &read.read, &read.read_group);
  read.trailer = TakeTrailer(&words, attr);
  return IfDone(words, std::move(read));
}

}  // namespace pmuconf
