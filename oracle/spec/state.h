// SPDX-License-Identifier: Apache-2.0
// The state of perf as a program sees it.
#ifndef PMUCONF_ORACLE_SPEC_STATE_H_
#define PMUCONF_ORACLE_SPEC_STATE_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "oracle/spec/interval.h"

namespace pmuconf {

// What makes an event count.
enum class SpecSource {
  kNothing,
  kPulses,  // pulses with its code, or ticks of the manual clock
  kFaults,
  kSwitches,
  kSyscalls,
  kTime,
  kUnknown,
};

struct SpecKind {
  SpecSource source = SpecSource::kUnknown;
  std::uint16_t code = 0;
  int shift = -1;  // the clock drives it: it counts each 2^shift ticks
  // The counters that can count it: bit i is a general counter, bit 32 + i a fixed one. 0: it needs
  // none.
  std::uint64_t counters = 0;
  bool wide = false;  // it also takes the next counter
  unsigned pmu = 0;   // events of one PMU have the same number
  bool hardware() const { return counters != 0; }
};

// The task or CPU that an event follows.
enum class SpecTask { kSelf, kChild, kCpu };

// Whether an event has a counter. kMaybe: it competes for counters, and the kernel may choose.
enum class SpecRuns { kNever, kMaybe, kYes };

// The enabled and the running time of an event in one task.
struct SpecTimes {
  Interval enabled, running;  // until the last change
  std::optional<Moment> enabled_since;
  std::optional<Moment> running_since;
  SpecRuns runs = SpecRuns::kNever;
  // ns by which the running time of the event and its ended children is behind their enabled time;
  // nullopt: not known
  std::optional<std::uint64_t> behind = 0;
};

struct SpecEvent {
  perf_event_attr attr = {};
  SpecKind kind;
  SpecTask task = SpecTask::kSelf;
  bool any_cpu = true;
  std::size_t leader = 0;  // itself, if it leads
  std::vector<std::size_t> siblings;
  // Of a leader: a hardware event is or was in its group, so that the group competes for counters.
  bool competes = false;

  bool alive = true;           // not released
  bool on = false;             // enabled; counts if its leader is enabled, too
  bool task_exited = false;    // nothing changes any more
  bool unsure = false;         // it may be in the error state
  bool former_member = false;  // its leader was closed
  bool orphan = false;         // and the kernel has not scheduled since
  // The known deviations that may explain its counts and times, and its times alone.
  std::string_view finding, time_finding;
  unsigned descriptors = 0;  // also those of a forked child
  unsigned mappings = 0;

  SpecTimes times;
  Interval ended_enabled, ended_running;  // of children that exited
  bool copied = false;                    // the child has a copy
  bool exchanged = false;  // the task may have the copy of a child instead, also after its exit
  SpecTimes copy_times;

  Interval count;                       // with all copies
  Interval kept;                        // the part of it that RESET leaves
  std::optional<Moment> counted_since;  // for counts of faults, switches and time

  std::uint64_t period = 0;           // 0: it only counts
  std::optional<std::uint64_t> left;  // events until the next overflow; nullopt: not known
  std::uint64_t limit = 0;            // overflows until REFRESH disables it; 0: no limit
  Interval lost;
  std::uint64_t id = 0;  // 0: not yet observed

  std::optional<std::size_t> ring;  // the buffer that receives its records
  std::optional<unsigned> signals;  // the slot whose signal each overflow sends
};

// A record that the buffer must contain.
struct SpecRecord {
  std::uint32_t type = 0;
  std::size_t event = 0;
  std::size_t size = 0;
  SpecTask task = SpecTask::kSelf;  // the task that ran
  // PERF_RECORD_SAMPLE
  bool kernel = false;
  std::uint64_t period = 0;
  std::vector<Interval> values;  // of the event, or of its group
  // PERF_RECORD_LOST
  std::uint64_t lost = 0;
  // PERF_RECORD_FORK and PERF_RECORD_EXIT
  std::uint32_t pid = 0, parent = 0;
};

struct SpecRing {
  std::size_t owner = 0;
  std::uint64_t size = 0;  // bytes of data
  unsigned mappings = 0;
  bool writable = true;
  bool paused = false;
  bool unsure = false;   // its records are no longer predicted
  bool several = false;  // several events wrote to it
  std::uint64_t head = 0, tail = 0;
  std::uint64_t lost = 0;  // since the last LOST record
  std::uint64_t watermark = 0, wakeup = 0, samples = 0;
  bool wake = false;
  std::uint64_t last_time = 0;
  std::deque<SpecRecord> records;
};

struct SpecSlot {
  std::optional<std::size_t> event;    // behind its descriptor
  std::optional<std::size_t> mapping;  // the buffer that is mapped through it
  std::size_t mapped_event = 0;        // whose mapping that is
};

// The pending signals of a slot.
struct SpecSignals {
  Interval count;
  bool code_known = true;
  bool last_hangs_up = false;  // POLL_HUP, or else POLL_IN
};

// The machine that the program runs on.
struct SpecMachine {
  unsigned general = 0;  // counters
  unsigned fixed = 0;
  std::size_t page_size = 4096;
  bool poll_reports_rdnorm = true;
  bool disabled_members_need_room = false;  // a new member must fit with all others: UNC-010
  // SpecNow::time is exactly the clock of the contexts. Otherwise times are not judged.
  bool exact_clock = true;
  // The time of a context goes on while the kernel schedules its events. Before 6.12 it stands
  // still from the moment in which they stop until they start again.
  bool time_goes_on = true;
};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_SPEC_STATE_H_
