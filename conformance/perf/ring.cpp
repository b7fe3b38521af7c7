// SPDX-License-Identifier: Apache-2.0
// Maps the ring buffer and extracts records.
#include "perf/ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "perf/answers.h"
#include "perf/cpu_wide.h"
#include "system/broken.h"

namespace pmuconf {
namespace {

void* Map(const Event& event, std::size_t pages, bool writable) {
  NoteUsed(event.fd());
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  return mmap(nullptr, (1 + pages) * PageSize(), protection, MAP_SHARED, event.fd(), 0);
}

void CopyWrapped(std::span<const std::byte> data, std::uint64_t at, void* to, std::size_t n) {
  if (n == 0) return;  // memcpy(3) requires non-null pointers
  const std::size_t start = at & (data.size() - 1);
  const std::size_t first = std::min(n, data.size() - start);
  std::memcpy(to, data.data() + start, first);
  if (n > first) std::memcpy(static_cast<std::byte*>(to) + first, data.data(), n - first);
}

}  // namespace

std::size_t PageSize() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

ExtractedRecords ExtractRecords(std::span<const std::byte> data, std::uint64_t tail,
                                std::uint64_t head) {
  ExtractedRecords extracted;
  extracted.tail = tail;
  if (data.empty() || (data.size() & (data.size() - 1)) != 0 || head - tail > data.size()) {
    extracted.ok = head == tail;
    return extracted;
  }
  while (extracted.tail != head) {
    const std::uint64_t remaining = head - extracted.tail;
    perf_event_header header = {};
    if (remaining < sizeof(header)) {
      extracted.ok = false;
      return extracted;
    }
    CopyWrapped(data, extracted.tail, &header, sizeof(header));
    if (header.size < sizeof(header) || header.size % 8 != 0 || header.size > remaining) {
      extracted.ok = false;
      return extracted;
    }
    Record record{header.type, header.misc, {}};
    record.body.resize(header.size - sizeof(header));
    CopyWrapped(data, extracted.tail + sizeof(header), record.body.data(), record.body.size());
    extracted.records.push_back(std::move(record));
    extracted.tail += header.size;
  }
  return extracted;
}

std::uint64_t RingContents::PeriodSum() const {
  std::uint64_t sum = 0;
  for (const Sample& sample : samples) sum += sample.period.value_or(0);
  return sum;
}

Ring::Ring(const Event& event, std::size_t pages, bool writable)
    : size_((1 + pages) * PageSize()), attr_(event.attr()) {
  base_ = Map(event, pages, writable);
  if (base_ == MAP_FAILED) {
    base_ = nullptr;
    throw BrokenErrno("mmap of " + std::to_string(pages) + " ring pages on " + Describe(attr_),
                      errno);
  }
  // Populates the mapping now, so that later reads cause no page fault while an event counts them.
  for (std::size_t page = 0; page <= pages; ++page) {
    static_cast<void>(static_cast<const volatile char*>(base_)[page * PageSize()]);
  }
  if (writable) control().data_tail = control().data_tail;
}

Ring::Ring(Ring&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), size_(other.size_), attr_(other.attr_) {}

Ring::~Ring() {
  if (base_ != nullptr) munmap(base_, size_);
}

SysResult Ring::TryMap(const Event& event, std::size_t pages, bool writable) {
  void* const base = Map(event, pages, writable);
  if (base == MAP_FAILED) return {-1, errno};
  munmap(base, (1 + pages) * PageSize());
  return {0, 0};
}

const volatile perf_event_mmap_page& Ring::page() const {
  const auto* const page = static_cast<const volatile perf_event_mmap_page*>(base_);
  return perf_answers().page == nullptr ? *page : *perf_answers().page(attr_, page);
}

volatile perf_event_mmap_page& Ring::control() {
  return *static_cast<volatile perf_event_mmap_page*>(base_);
}

std::span<const std::byte> Ring::data() const {
  return {static_cast<const std::byte*>(base_) + PageSize(), size_ - PageSize()};
}

std::uint64_t Ring::head() const {
  const std::uint64_t head = page().data_head;
  std::atomic_thread_fence(std::memory_order_acquire);  // data after head: rmb() of the manual
  return head;
}

std::uint64_t Ring::tail() const { return page().data_tail; }

void Ring::set_tail(std::uint64_t tail) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // data before tail: mb() of the manual
  control().data_tail = tail;
}

std::vector<Record> Ring::DrainRaw() {
  const std::uint64_t head_now = head();
  ExtractedRecords extracted = ExtractRecords(data(), tail(), head_now);
  if (!extracted.ok) {
    ADD_FAILURE() << "the ring holds no whole record at offset " << extracted.tail << " (head "
                  << head_now << ", " << data().size() << " bytes)";
  }
  set_tail(head_now);
  if (perf_answers().records != nullptr) perf_answers().records(attr_, &extracted.records);
  return std::move(extracted.records);
}

RingContents Ring::Drain() {
  RingContents contents;
  for (Record& record : DrainRaw()) {
    contents.order.push_back(record.type);
    bool parsed = true;
    const auto append_parsed = [&](auto value, auto* to) {
      parsed = value.has_value();
      if (parsed) to->push_back(*std::move(value));
    };
    switch (record.type) {
      case PERF_RECORD_SAMPLE:
        append_parsed(ParseSample(record, attr_), &contents.samples);
        break;
      case PERF_RECORD_LOST:
      case PERF_RECORD_LOST_SAMPLES:
        append_parsed(ParseLost(record, attr_), &contents.lost);
        break;
      case PERF_RECORD_THROTTLE:
      case PERF_RECORD_UNTHROTTLE:
        append_parsed(ParseThrottle(record, attr_), &contents.throttles);
        break;
      case PERF_RECORD_READ:
        append_parsed(ParseReadRecord(record, attr_), &contents.reads);
        break;
      case PERF_RECORD_CALLCHAIN_DEFERRED:
        append_parsed(ParseDeferred(record, attr_), &contents.deferred);
        break;
      default:
        contents.others.push_back(record);
    }
    if (!parsed) {
      ADD_FAILURE() << "a record of type " << contents.order.back() << " with "
                    << record.body.size() << " bytes does not match its attr: " << Describe(attr_);
    }
  }
  return contents;
}

}  // namespace pmuconf
