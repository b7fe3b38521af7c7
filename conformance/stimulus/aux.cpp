// SPDX-License-Identifier: Apache-2.0
// Maps an AUX area and extracts the trace.
#include "stimulus/aux.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "system/broken.h"

namespace pmuconf {
namespace {

void* Map(const Event& event, Ring* ring, const AuxMapping& mapping) {
  const std::uint64_t offset = PageSize() + ring->data().size() + mapping.gap;
  const std::size_t size = mapping.pages * PageSize();
  const int protection = PROT_READ | (mapping.writable ? PROT_WRITE : 0);
  ring->control().aux_offset = offset;
  ring->control().aux_size = size;
  return mmap(nullptr, size + mapping.longer * PageSize(), protection, MAP_SHARED, event.fd(),
              static_cast<off_t>(offset + mapping.skew));
}

template <typename T>
std::vector<T> ParseBodies(const RingContents& contents, std::uint32_t type) {
  std::vector<T> found;
  for (const Record& record : contents.others) {
    if (record.type != type) continue;
    if (record.body.size() < sizeof(T)) {
      ADD_FAILURE() << "a record of type " << type << " has only " << record.body.size()
                    << " bytes";
      continue;
    }
    T body = {};
    std::memcpy(&body, record.body.data(), sizeof(body));
    found.push_back(body);
  }
  return found;
}

std::uint64_t ReadU64(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

}  // namespace

AuxArea::AuxArea(const Event& event, Ring* ring, const AuxMapping& mapping)
    : ring_(ring), base_(Map(event, ring, mapping)), size_(mapping.pages * PageSize()) {
  if (base_ == MAP_FAILED) {
    base_ = nullptr;
    throw BrokenErrno(
        "mmap of " + std::to_string(mapping.pages) + " AUX pages on " + Describe(event.attr()),
        errno);
  }
}

AuxArea::~AuxArea() { Unmap(); }

void AuxArea::Unmap() {
  if (base_ != nullptr) munmap(base_, size_);
  base_ = nullptr;
}

SysResult AuxArea::TryMap(const Event& event, Ring* ring, const AuxMapping& mapping) {
  void* const base = Map(event, ring, mapping);
  if (base == MAP_FAILED) return {-1, errno};
  munmap(base, (mapping.pages + mapping.longer) * PageSize());
  return {0, 0};
}

std::span<const std::byte> AuxArea::data() const {
  return {static_cast<const std::byte*>(base_), size_};
}

std::uint64_t AuxArea::head() const {
  const std::uint64_t head = ring_->page().aux_head;
  std::atomic_thread_fence(std::memory_order_acquire);  // read data after the head
  return head;
}

std::uint64_t AuxArea::tail() const { return ring_->page().aux_tail; }

void AuxArea::set_tail(std::uint64_t tail) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // read data before the tail moves
  ring_->control().aux_tail = tail;
}

std::vector<std::byte> AuxArea::Copy(std::uint64_t from, std::uint64_t to) const {
  const std::size_t length = static_cast<std::size_t>(std::min<std::uint64_t>(to - from, size_));
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = data()[(from + i) & (size_ - 1)];
  return bytes;
}

std::vector<AuxRecord> AuxRecords(const RingContents& contents) {
  return ParseBodies<AuxRecord>(contents, PERF_RECORD_AUX);
}

std::vector<ItraceStart> ItraceStarts(const RingContents& contents) {
  return ParseBodies<ItraceStart>(contents, PERF_RECORD_ITRACE_START);
}

std::vector<TracedBranch> DecodeTrace(std::span<const std::byte> bytes, std::uint64_t at,
                                      std::size_t area, std::size_t record) {
  std::vector<TracedBranch> branches;
  std::size_t i = 0;
  while (i < bytes.size()) {
    const std::size_t to_end = area - ((at + i) & (area - 1));
    const std::size_t remaining = bytes.size() - i;
    if (to_end < record) {
      const auto padding = bytes.subspan(i, std::min(to_end, remaining));
      const bool zero = std::all_of(padding.begin(), padding.end(),
                                    [](std::byte byte) { return byte == std::byte{0}; });
      if (!zero) ADD_FAILURE() << "padding at position " << at + i << " is not zero";
      i += padding.size();
      continue;
    }
    if (remaining < record) {
      ADD_FAILURE() << "the trace ends inside a record, at position " << at + i;
      break;
    }
    branches.push_back({ReadU64(bytes, i), ReadU64(bytes, i + sizeof(std::uint64_t))});
    i += record;
  }
  return branches;
}

std::vector<TracedBranch> AsTraced(std::span<const Branch> branches) {
  std::vector<TracedBranch> traced;
  for (const Branch& branch : branches) traced.push_back({branch.from, branch.to});
  return traced;
}

std::vector<Branch> SomeBranches(std::size_t n, std::uint64_t first, Privilege privilege) {
  std::vector<Branch> branches;
  for (std::uint64_t i = first; i < first + n; ++i) {
    branches.push_back(
        {.from = 0x400000 + 64 * i, .to = 0x400010 + 64 * i, .privilege = privilege});
  }
  return branches;
}

}  // namespace pmuconf
