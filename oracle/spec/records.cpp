// SPDX-License-Identifier: Apache-2.0
// Buffers and their records. Rules: RB-009 to RB-012, RB-018, RB-023, REC-001 to REC-026, REC-103,
// REC-105, SIG-006 to SIG-008.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "oracle/spec/model.h"
#include "text/byte_reader.h"

namespace pmuconf {
namespace {

constexpr std::size_t kHeader = sizeof(perf_event_header);
constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

std::size_t SpecModel::TrailerSize(const SpecEvent& event) const {
  constexpr std::uint64_t kFields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                    PERF_SAMPLE_IDENTIFIER;
  if (!event.attr.sample_id_all) return 0;
  return kWord * static_cast<std::size_t>(std::popcount(event.attr.sample_type & kFields));
}

// Of the fields that the generator requests, each is one word; READ has a size of its own.
std::size_t SpecModel::SampleSize(const SpecEvent& event) const {
  const std::uint64_t type = event.attr.sample_type;
  std::size_t words =
      static_cast<std::size_t>(std::popcount(type & ~static_cast<std::uint64_t>(PERF_SAMPLE_READ)));
  if ((type & PERF_SAMPLE_READ) != 0) {
    const std::uint64_t format = event.attr.read_format;
    const auto has = [format](std::uint64_t bit) { return (format & bit) != 0 ? 1u : 0u; };
    const std::size_t members = has(PERF_FORMAT_GROUP) ? GroupOf(event).size() : 1;
    words += has(PERF_FORMAT_GROUP) + has(PERF_FORMAT_TOTAL_TIME_ENABLED) +
             has(PERF_FORMAT_TOTAL_TIME_RUNNING) +
             members * (1 + has(PERF_FORMAT_ID) + has(PERF_FORMAT_LOST));
  }
  return kHeader + kWord * words;
}

void SpecModel::Write(SpecRecord record) {
  SpecEvent& event = events_[record.event];
  if (!event.ring) return;
  SpecRing& ring = rings_[*event.ring];
  if (ring.owner != record.event) ring.several = true;
  if (ring.unsure || !ring.writable) {
    ring.unsure = true;
    event.lost.high = Interval::kUnbounded;
    return;
  }
  const std::size_t lost_size =
      ring.lost > 0 ? kHeader + 2 * kWord + TrailerSize(event) : std::size_t{0};
  // The kernel leaves at least one byte free.
  const bool fits = ring.size - (ring.head - ring.tail) > record.size + lost_size;
  // The order decides which record does not fit.
  if (!fits && ring.several) {
    ring.unsure = true;
    event.lost.high = Interval::kUnbounded;
    return;
  }
  if (ring.paused || !fits) {
    ++ring.lost;
    event.lost.Add({1, 1});
    return;
  }
  if (ring.lost > 0) {
    SpecRecord lost;
    lost.type = PERF_RECORD_LOST;
    lost.event = record.event;
    lost.size = lost_size;
    lost.task = record.task;
    lost.lost = ring.lost;
    ring.lost = 0;
    ring.records.push_back(std::move(lost));
  }
  ring.head += record.size + lost_size;
  if (ring.head > ring.wakeup && ring.head - ring.wakeup > ring.watermark) {
    ring.wakeup += ring.watermark;
    ring.wake = true;
  }
  const std::uint32_t each = event.attr.watermark ? 0 : event.attr.wakeup_events;
  if (record.type == PERF_RECORD_SAMPLE && each > 0 && ++ring.samples >= each) {
    ring.samples -= each;
    ring.wakeup += 1;
    ring.wake = true;
  }
  ring.records.push_back(std::move(record));
}

// Fork and exit of the child, for the events that request them.
void SpecModel::WriteTaskRecords(std::uint32_t type, SpecTask from) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    SpecEvent& event = events_[i];
    if (!event.attr.task || !event.alive || !event.on || !event.ring) continue;
    if (!Enabled(event)) {
      // Whether a member of a disabled group receives the record is not defined.
      rings_[*event.ring].unsure = true;
      continue;
    }
    // The exit concerns the events of the child alone.
    const bool concerned = type == PERF_RECORD_FORK
                               ? event.task == SpecTask::kSelf
                               : event.task == SpecTask::kChild || event.copied;
    if (!concerned) continue;
    if (!event.any_cpu || event.attr.inherit) {
      rings_[*event.ring].unsure = true;
      continue;
    }
    SpecRecord record;
    record.type = type;
    record.event = i;
    record.size = kHeader + 3 * kWord + TrailerSize(event);
    record.task = from;
    record.pid = child_pid_;
    record.parent = self_;
    Write(std::move(record));
  }
}

void SpecModel::JudgeTime(SpecRing& ring, std::uint64_t time) {
  if (ring.several) return;
  judge_->Expect(SpecCheck::kSampleTime, time >= ring.last_time && time != 0,
                 "at least " + std::to_string(ring.last_time), std::to_string(time));
  ring.last_time = time;
}

void SpecModel::JudgeTrailer(SpecRing& ring, const SpecEvent& event, const SampleId& trailer,
                             SpecTask task) {
  const std::uint64_t pid = task == SpecTask::kChild ? child_pid_ : self_;
  const std::size_t index = IndexOf(event);
  if (trailer.pid) judge_->Compare(SpecCheck::kTrailer, {pid, pid}, *trailer.pid, "pid");
  if (trailer.tid) judge_->Compare(SpecCheck::kTrailer, {pid, pid}, *trailer.tid, "tid");
  if (trailer.cpu) judge_->Compare(SpecCheck::kTrailer, {0, 0}, *trailer.cpu, "cpu");
  if (trailer.id) JudgeId(events_[index], *trailer.id, SpecCheck::kTrailer);
  if (trailer.identifier) JudgeId(events_[index], *trailer.identifier, SpecCheck::kTrailer);
  if (trailer.stream_id && !event.attr.inherit) {
    JudgeId(events_[index], *trailer.stream_id, SpecCheck::kTrailer);
  }
  if (trailer.time) JudgeTime(ring, *trailer.time);
}

void SpecModel::JudgeSample(SpecRing& ring, const SpecRecord& expected, const Record& record) {
  SpecEvent& event = events_[expected.event];
  const std::optional<Sample> sample = ParseSample(record, event.attr);
  const bool right = sample && record.body.size() + kHeader == expected.size;
  judge_->Expect(SpecCheck::kRecordForm, right, std::to_string(expected.size) + " bytes",
                 std::to_string(record.body.size() + kHeader) + " bytes",
                 event.former_member ? "CORE-12" : "");
  if (!right) return;
  const std::uint64_t pid = expected.task == SpecTask::kChild ? child_pid_ : self_;
  const std::uint16_t mode = expected.kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
  judge_->Compare(SpecCheck::kSampleMode, {mode, mode},
                  sample->misc & PERF_RECORD_MISC_CPUMODE_MASK);
  if (sample->pid) judge_->Compare(SpecCheck::kSampleTask, {pid, pid}, *sample->pid, "pid");
  if (sample->tid) judge_->Compare(SpecCheck::kSampleTask, {pid, pid}, *sample->tid, "tid");
  if (sample->cpu) judge_->Compare(SpecCheck::kSampleCpu, {0, 0}, *sample->cpu);
  if (sample->addr) judge_->Compare(SpecCheck::kSampleAddress, {0, 0}, *sample->addr);
  if (sample->identifier) JudgeId(event, *sample->identifier, SpecCheck::kSampleEvent);
  if (sample->id) JudgeId(event, *sample->id, SpecCheck::kSampleEvent);
  if (sample->stream_id && !event.attr.inherit) {
    JudgeId(event, *sample->stream_id, SpecCheck::kSampleEvent);
  }
  if (sample->period) {
    judge_->Compare(SpecCheck::kSamplePeriod, {expected.period, expected.period}, *sample->period);
  }
  if (sample->time) JudgeTime(ring, *sample->time);
  const bool inherits = event.attr.inherit;
  if (sample->read && !inherits && expected.values.size() == 1) {
    judge_->Compare(SpecCheck::kSampleValue, expected.values[0], sample->read->value);
  }
  if (sample->read_group && !inherits) {
    const std::vector<GroupEntry>& entries = sample->read_group->entries;
    judge_->Compare(SpecCheck::kSampleValue, {expected.values.size(), expected.values.size()},
                    entries.size(), "members");
    for (std::size_t i = 0; i < std::min(entries.size(), expected.values.size()); ++i) {
      judge_->Compare(SpecCheck::kSampleValue, expected.values[i], entries[i].value,
                      "member " + std::to_string(i));
    }
  }
}

void SpecModel::JudgeTaskRecord(SpecRing& ring, const SpecRecord& expected, const Record& record) {
  ByteReader reader(record.body);
  const std::uint32_t pid = reader.U32(), parent = reader.U32();
  const std::uint32_t tid = reader.U32(), parent_tid = reader.U32();
  const bool right = pid == expected.pid && tid == expected.pid && parent == expected.parent &&
                     parent_tid == expected.parent && record.body.size() + kHeader == expected.size;
  judge_->Expect(SpecCheck::kTaskRecord, right,
                 std::to_string(expected.pid) + " of " + std::to_string(expected.parent),
                 std::to_string(pid) + " of " + std::to_string(parent));
  if (!right) return;
  // The end of the record is like that of a LOST record.
  const SpecEvent& event = events_[expected.event];
  Record end;
  end.type = PERF_RECORD_LOST;
  end.body.resize(2 * kWord);
  end.body.insert(end.body.end(),
                  record.body.end() - static_cast<std::ptrdiff_t>(TrailerSize(event)),
                  record.body.end());
  if (const std::optional<LostRecord> parsed = ParseLost(end, event.attr)) {
    JudgeTrailer(ring, event, parsed->trailer, expected.task);
  }
}

void SpecModel::JudgeRecord(SpecRing& ring, const SpecRecord& expected, const Record& record) {
  const bool right = expected.type == record.type;
  judge_->Expect(SpecCheck::kRecordKind, right, "record of type " + std::to_string(expected.type),
                 "record of type " + std::to_string(record.type));
  if (!right) return;
  SpecEvent& event = events_[expected.event];
  if (record.type == PERF_RECORD_SAMPLE) return JudgeSample(ring, expected, record);
  if (record.type == PERF_RECORD_LOST) {
    const std::optional<LostRecord> lost = ParseLost(record, event.attr);
    judge_->Expect(SpecCheck::kRecordForm, lost.has_value(), "a LOST record of its event", "not");
    if (!lost) return;
    judge_->Compare(SpecCheck::kLostRecord, {expected.lost, expected.lost}, lost->lost);
    JudgeId(event, lost->id, SpecCheck::kLostRecord);
    JudgeTrailer(ring, event, lost->trailer, expected.task);
    return;
  }
  JudgeTaskRecord(ring, expected, record);
}

void SpecModel::Drain(unsigned slot, const SpecResult& result) {
  const std::optional<std::size_t> mapping = slots_[slot].mapping;
  if (!mapping) {
    judge_->Expect(SpecCheck::kHead, result.error == ENOENT, "no buffer", "a buffer");
    return;
  }
  SpecRing& ring = rings_[*mapping];
  const auto head = static_cast<std::uint64_t>(result.value);
  const std::uint64_t tail = ring.tail;
  const bool unsure = ring.unsure || !ring.writable;
  if (unsure) {
    judge_->CannotJudge(SpecCheck::kHead);
  } else {
    judge_->Compare(SpecCheck::kHead, {ring.head, ring.head}, head);
  }
  std::deque<SpecRecord> expected = std::move(ring.records);
  ring.records.clear();
  ring.head = head;
  if (ring.writable) ring.tail = head;
  if (!ring.writable) return;
  // The bytes begin at the tail, so the positions are relative.
  std::vector<std::byte> data(result.data.begin(), result.data.end());
  data.resize(std::bit_ceil(std::max<std::size_t>(data.size(), 1)));
  const ExtractedRecords found = ExtractRecords(data, 0, head - tail);
  judge_->Expect(SpecCheck::kRecordForm, found.ok, "whole records", "parts of records");
  if (unsure) return;
  judge_->Compare(SpecCheck::kRecordKind, {expected.size(), expected.size()}, found.records.size(),
                  "records");
  if (!found.ok || expected.size() != found.records.size()) return;
  for (const Record& record : found.records) {
    auto next = expected.begin();
    // Records of several events that happened at once may have any order.
    if (ring.several) next = NextOf(expected, record);
    if (next == expected.end()) {
      judge_->CannotJudge(SpecCheck::kRecordKind);
      return;
    }
    JudgeRecord(ring, *next, record);
    expected.erase(next);
  }
}

// Returns the next record of the event whose identifier the record begins with.
std::deque<SpecRecord>::iterator SpecModel::NextOf(std::deque<SpecRecord>& expected,
                                                   const Record& record) const {
  if (record.type != PERF_RECORD_SAMPLE || record.body.size() < kWord) return expected.end();
  std::uint64_t id = 0;
  std::memcpy(&id, record.body.data(), sizeof(id));
  return std::find_if(expected.begin(), expected.end(), [&](const SpecRecord& each) {
    const SpecEvent& event = events_[each.event];
    return each.type == record.type && event.id == id && id != 0 &&
           (event.attr.sample_type & PERF_SAMPLE_IDENTIFIER) != 0;
  });
}

}  // namespace pmuconf
