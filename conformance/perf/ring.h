// SPDX-License-Identifier: Apache-2.0
// The ring buffer of an event: its mapping, its control page, and its records.
#ifndef PMUCONF_PERF_RING_H_
#define PMUCONF_PERF_RING_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "perf/event.h"
#include "perf/sample.h"

namespace pmuconf {

std::size_t PageSize();

// One record, copied out of the ring buffer.
struct Record {
  std::uint32_t type = 0;       // PERF_RECORD_*
  std::uint16_t misc = 0;       // PERF_RECORD_MISC_*
  std::vector<std::byte> body;  // the bytes after the header
};

// Extracts whole records between `tail` and `head` from `data`, whose size is a power of two. It
// does not trust the data. At a record that is shorter than its header, not a multiple of 8, or
// longer than the remaining bytes, it stops with ok = false. `tail` of the result is the position
// where it stopped.
struct ExtractedRecords {
  std::vector<Record> records;
  std::uint64_t tail = 0;
  bool ok = true;
};
ExtractedRecords ExtractRecords(std::span<const std::byte> data, std::uint64_t tail,
                                std::uint64_t head);

// All records of a ring buffer, parsed by the attr of its event, in order within each kind.
struct RingContents {
  std::vector<Sample> samples;
  std::vector<LostRecord> lost;
  std::vector<ThrottleRecord> throttles;  // THROTTLE and UNTHROTTLE
  std::vector<ReadRecord> reads;          // PERF_RECORD_READ
  std::vector<DeferredRecord> deferred;   // PERF_RECORD_CALLCHAIN_DEFERRED
  std::vector<Record> others;
  std::vector<std::uint32_t> order;  // the type of each record, in the order of the ring buffer

  // Returns the sum of the periods of all samples (PERF_SAMPLE_PERIOD).
  std::uint64_t PeriodSum() const;
};

// Maps a ring buffer and unmaps it on destruction.
class Ring {
 public:
  // Maps 1 + `pages` pages of `event`. `pages` is a power of two, or 0 for the control page only.
  // Throws Broken on failure. In a read-only mapping the kernel overwrites old records and ignores
  // the tail.
  explicit Ring(const Event& event, std::size_t pages = 64, bool writable = true);
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&& other) = delete;
  ~Ring();

  // Maps and unmaps the buffer; returns the errno of mmap(2), or 0.
  static SysResult TryMap(const Event& event, std::size_t pages, bool writable = true);

  const volatile perf_event_mmap_page& page() const;
  volatile perf_event_mmap_page& control();  // for writes; writable mappings only
  std::span<const std::byte> data() const;
  std::uint64_t head() const;  // acquires: data is read after it
  std::uint64_t tail() const;
  void set_tail(std::uint64_t tail);  // releases: data is read before it; writable mappings only

  // Removes and returns all records up to the head. An invalid record fails the case (ADD_FAILURE)
  // and ends the loop.
  std::vector<Record> DrainRaw();

  // DrainRaw(), then parse by the event's attr. A record that does not match the attr fails the
  // case.
  RingContents Drain();

 private:
  void* base_ = nullptr;
  std::size_t size_ = 0;
  perf_event_attr attr_ = {};
};

// An event that samples into its buffer, and is enabled: auto [event, ring] = Sampler(spec, {...});
struct Sampler {
  explicit Sampler(const EventSpec& spec, const OpenOptions& options, std::size_t pages = 64,
                   bool writable = true)
      : event(Open(spec, options)), ring(event, pages, writable) {
    event.Enable();
  }
  Event event;
  Ring ring;
};

}  // namespace pmuconf

#endif  // PMUCONF_PERF_RING_H_
