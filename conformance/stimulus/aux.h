// SPDX-License-Identifier: Apache-2.0
// The AUX area of a trace event: its mapping, its positions, and the records that report new data
// in it.
#ifndef PMUCONF_STIMULUS_AUX_H_
#define PMUCONF_STIMULUS_AUX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "perf/event.h"
#include "perf/ring.h"
#include "stimulus/stimulus.h"

namespace pmuconf {

// Use designated initialisers, in this order. The control page states the offset and size of the
// area; some cases pass others to mmap(2).
struct AuxMapping {
  std::size_t pages = 4;   // size of the area as the control page states it
  bool writable = true;    // false: the kernel overwrites old data (snapshot mode)
  std::uint64_t gap = 0;   // bytes between the ring buffer and the area; a negative value wraps
  std::uint64_t skew = 0;  // bytes added to the offset that mmap(2) gets, not to aux_offset
  std::size_t longer = 0;  // pages added to the length that mmap(2) gets, not to aux_size
};

// Maps the area and unmaps it on destruction. The ring must outlive it.
class AuxArea {
 public:
  // Throws Broken on failure.
  AuxArea(const Event& event, Ring* ring, const AuxMapping& mapping = {});
  AuxArea(const AuxArea&) = delete;
  ~AuxArea();

  // Maps and unmaps the area; returns the errno of mmap(2), or 0.
  static SysResult TryMap(const Event& event, Ring* ring, const AuxMapping& mapping = {});

  std::span<const std::byte> data() const;
  std::uint64_t head() const;  // acquires: data is read after it
  std::uint64_t tail() const;
  void set_tail(std::uint64_t tail);  // releases: data is read before it

  // Copies the bytes at positions [from, to), at most the size of the area. The range may wrap.
  std::vector<std::byte> Copy(std::uint64_t from, std::uint64_t to) const;
  void Unmap();

 private:
  Ring* ring_;
  void* base_ = nullptr;
  std::size_t size_ = 0;
};

// PERF_RECORD_AUX.
struct AuxRecord {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t flags = 0;  // PERF_AUX_FLAG_*
};

// PERF_RECORD_ITRACE_START.
struct ItraceStart {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
};

// Return the records of this type, in order. A record that is too short fails the case.
std::vector<AuxRecord> AuxRecords(const RingContents& contents);
std::vector<ItraceStart> ItraceStarts(const RingContents& contents);

// A branch as the reference driver traces it: three 64-bit words, of which the third holds flags.
struct TracedBranch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool operator==(const TracedBranch&) const = default;
};

// Parses the records in `bytes`, which begin at position `at` of an area of `area` bytes. `record`
// is the size of a record. Records do not wrap, so the driver pads the end of the area with zeros;
// the result omits that padding.
std::vector<TracedBranch> DecodeTrace(std::span<const std::byte> bytes, std::uint64_t at,
                                      std::size_t area, std::size_t record);

// Returns the records that a trace of `branches` must contain.
std::vector<TracedBranch> AsTraced(std::span<const Branch> branches);

// Returns `n` branches. All are different, also from those of a call with a `first` that is at
// least `n` higher or lower.
std::vector<Branch> SomeBranches(std::size_t n, std::uint64_t first = 0,
                                 Privilege privilege = Privilege::kUser);

}  // namespace pmuconf

#endif  // PMUCONF_STIMULUS_AUX_H_
