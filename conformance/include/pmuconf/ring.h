// SPDX-License-Identifier: Apache-2.0
// The ring buffer of an event: mapping it, its control page, taking records out of it.
#ifndef PMUCONF_RING_H_
#define PMUCONF_RING_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pmuconf/event.h"
#include "pmuconf/sample.h"

namespace pmuconf {

std::size_t PageSize();

// One record, copied out of the ring.
struct Record {
  std::uint32_t type = 0;       // PERF_RECORD_*
  std::uint16_t misc = 0;       // PERF_RECORD_MISC_*
  std::vector<std::byte> body;  // what follows the header
};

// Takes whole records out of `data` (a power of two long) between tail and head. Trusts nothing:
// stops, with ok = false, at a record that is shorter than its header, not a multiple of 8, or
// longer than what is left. `tail` is where it stopped.
struct TakenRecords {
  std::vector<Record> records;
  std::uint64_t tail = 0;
  bool ok = true;
};
TakenRecords TakeRecords(std::span<const std::byte> data, std::uint64_t tail, std::uint64_t head);

// Everything that was in a ring, parsed by the attr of its event, in order within each kind.
struct RingContents {
  std::vector<Sample> samples;
  std::vector<LostRecord> lost;
  std::vector<ThrottleRecord> throttles;  // THROTTLE and UNTHROTTLE
  std::vector<ReadRecord> reads;          // PERF_RECORD_READ
  std::vector<Record> others;
  std::vector<std::uint32_t> order;  // type of each record, in the order of the ring

  // Sum of the samples' periods (PERF_SAMPLE_PERIOD).
  std::uint64_t PeriodSum() const;
};

// The mapping; unmaps when it goes. Movable.
class Ring {
 public:
  // Maps 1 + `pages` pages of `event` (pages a power of two; 0: the control page only). Asserts.
  // Read-only mappings overwrite old records and have no tail.
  explicit Ring(const Event& event, std::size_t pages = 64, bool writable = true);
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&& other) = delete;
  ~Ring();

  // The twin: the errno of mmap, 0 if it worked (it is unmapped again).
  static SysResult TryMap(const Event& event, std::size_t pages, bool writable = true);

  const volatile perf_event_mmap_page& page() const;
  volatile perf_event_mmap_page& control();  // the same, to be written; writable rings only
  std::span<const std::byte> data() const;   // the data area
  std::uint64_t head() const;                // acquire
  std::uint64_t tail() const;
  void set_tail(std::uint64_t tail);  // release; writable rings only

  // Takes out all records up to now and gives the room back. A record that breaks the format is a
  // failure of the case (ADD_FAILURE) and ends the reading.
  std::vector<Record> Take();

  // Take() and parse with the event's attr. A body that its attr does not explain fails the case.
  RingContents Drain();

 private:
  void* base_ = nullptr;
  std::size_t size_ = 0;
  perf_event_attr attr_ = {};
};

}  // namespace pmuconf

#endif  // PMUCONF_RING_H_
