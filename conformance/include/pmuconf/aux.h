// SPDX-License-Identifier: Apache-2.0
// The AUX area of a trace event: mapping it behind a ring, its positions, the records about it.
#ifndef PMUCONF_AUX_H_
#define PMUCONF_AUX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pmuconf/event.h"
#include "pmuconf/ring.h"
#include "pmuconf/stimulus.h"

namespace pmuconf {

// Designated initialisers, in this order.
struct AuxMapping {
  std::size_t pages = 4;   // told to the kernel
  bool writable = true;    // read-only: old data is overwritten (snapshot)
  std::uint64_t gap = 0;   // bytes between the ring and the area; below 0: as a wrapped number
  std::uint64_t skew = 0;  // added to the offset that mmap is given, not to the one told
  std::size_t longer = 0;  // pages that the mapping is longer than what was told
};

// The mapping; unmaps when it goes. The ring must live as long.
class AuxArea {
 public:
  AuxArea(const Event& event, Ring* ring, const AuxMapping& mapping = {});  // asserts
  AuxArea(const AuxArea&) = delete;
  ~AuxArea();

  // The twin: the errno of mmap, 0 if it worked (it is unmapped again).
  static SysResult TryMap(const Event& event, Ring* ring, const AuxMapping& mapping = {});

  std::span<const std::byte> data() const;
  std::uint64_t head() const;  // acquire
  std::uint64_t tail() const;
  void set_tail(std::uint64_t tail);  // release

  // Copies the bytes at positions [from, to), which may wrap; at most the size of the area.
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

// Those of `contents`, in order. One that is too short fails the case.
std::vector<AuxRecord> AuxRecords(const RingContents& contents);
std::vector<ItraceStart> ItraceStarts(const RingContents& contents);

// A branch as the reference trace records it: three words, of which the third holds flags.
struct TracedBranch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool operator==(const TracedBranch&) const = default;
};

// The records in `bytes`, whose first is at position `at` of an area of `area` bytes. A record does
// not wrap: what is left at the end of the area must be zero, and is left out.
std::vector<TracedBranch> DecodeTrace(std::span<const std::byte> bytes, std::uint64_t at,
                                      std::size_t area, std::size_t record);

// What a trace must show of `branches`.
std::vector<TracedBranch> AsTraced(std::span<const Branch> branches);

// `n` branches that differ from each other, and from those of another `first`.
std::vector<Branch> SomeBranches(std::size_t n, std::uint64_t first = 0,
                                 Privilege privilege = Privilege::kUser);

}  // namespace pmuconf

#endif  // PMUCONF_AUX_H_
