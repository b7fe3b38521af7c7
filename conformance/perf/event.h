// SPDX-License-Identifier: Apache-2.0
// Perf events: the description of an event (EventSpec, OpenOptions), the open event (Event), and
// its readings.
//
// There are two kinds of calls. Plain calls (Open, Enable, Read) assert: a failure ends the case as
// BROKEN with the errno and the attr. Their Try variants return the error to the case:
//   EXPECT_THAT(TryOpen(attr), FailsWith(EINVAL));
#ifndef PMUCONF_PERF_EVENT_H_
#define PMUCONF_PERF_EVENT_H_

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "system/fd.h"

namespace pmuconf {

// How the suite makes an event happen.
enum class StimulusKind {
  kNone,   // it cannot
  kPulse,  // pulses through the stimulus port
  kClock,  // ticks of the port's manual clock
  // These need no port (stimuli.h).
  kPageFaults,
  kContextSwitches,
  kMigrations,
  kSyscalls,
  kIncrements,
  kStores,
  kWork,  // a worker process executes instructions (work/work.h)
};

// The unit of work of a worker (kWork).
enum class WorkKind { kInstructions, kBranches, kLoads, kStores, kCalls };

// How much a count may deviate: by `abs` events or by the fraction `rel`, whichever is more. The
// target file states both.
struct Accuracy {
  std::uint64_t abs = 0;
  double rel = 0.0;
  std::uint64_t step = 1;  // the number that one event adds to the count
  bool exact() const { return abs == 0 && rel == 0.0; }
};

// A resolved event of the target: the values for the attr, and how to make the event happen.
struct EventSpec {
  std::string name;  // "pulse_a"
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t config3 = 0;  // as config4, only for kernels that have the field
  std::uint64_t config4 = 0;
  std::uint32_t bp_type = 0;  // HW_BREAKPOINT_* of an event of the PMU `breakpoint`
  StimulusKind stimulus = StimulusKind::kNone;
  // The event code of the port (event in bits 0-7, unit mask in bits 8-15, or the first word of the
  // attr that has terms), or the number of the system call, variable or function.
  std::uint64_t code = 0;
  std::uint32_t ticks = 0;                  // clock ticks per event (kClock)
  WorkKind work = WorkKind::kInstructions;  // (kWork)
  std::uint32_t work_extra = 0;             // events that each command to the worker adds (kWork)
  std::uint32_t work_interrupts = 0;        // events that an interrupt adds at most (kWork)
  // Properties that a pulse needs to cause this event: cycles, and off-core request and response
  // bits (kPulse).
  std::uint32_t latency = 0;
  std::uint64_t response = 0;
  // Counters that can count it: bit i is general counter i, bit 32 + i is fixed counter i. 0 if
  // counters do not limit events.
  std::uint64_t counters = 0;
  bool wide = false;                     // it uses the next counter as well
  std::optional<std::uint64_t> generic;  // PERF_COUNT_HW_* that also selects it
  Accuracy accuracy;
};

// Returns the software event with that number.
EventSpec Software(perf_sw_ids id);

// Returns the same event by its generic number (PERF_TYPE_HARDWARE). Throws Broken if it has none.
EventSpec AsGeneric(const EventSpec& spec);

inline constexpr std::uint64_t kReadTimes =
    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

// Arguments of perf_event_open(2). By default the event follows this task on any CPU, is disabled,
// counts, and reads both times. On a system-wide PMU, the default is the whole machine through the
// designated CPU. Use designated initialisers, in this order.
struct OpenOptions {
  pid_t pid = 0;
  int cpu = -1;  // cpu >= 0 and pid = -1: a CPU-wide event
  int group_fd = -1;
  unsigned long flags = PERF_FLAG_FD_CLOEXEC;
  std::uint64_t sample_period = 0;
  std::uint64_t sample_freq = 0;  // nonzero sets attr.freq
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = kReadTimes;
  std::uint32_t wakeup_events = 0;
  std::uint32_t wakeup_watermark = 0;  // nonzero sets attr.watermark
  bool disabled = true;
  bool inherit = false;
  bool pinned = false;
  bool exclusive = false;
  bool exclude_user = false;
  bool exclude_kernel = false;
  bool exclude_hv = false;
  bool exclude_idle = false;
  bool enable_on_exec = false;
  bool sample_id_all = false;
  bool sigtrap = false;  // also sets remove_on_exec, which the kernel requires
  std::uint64_t sig_data = 0;
  bool write_backward = false;
  std::function<void(perf_event_attr&)> edit = {};  // changes any other field; runs last
};

// Properties of the PMU under test that affect how its events are opened. Without a policy there
// are none.
struct OpenPolicy {
  std::uint64_t min_period = 0;  // Open() skips a case with a shorter period
  // Returns the CPU that replaces the default (this task, any CPU) on a system-wide PMU; nullopt
  // for other PMUs.
  std::function<std::optional<int>()> default_cpu = {};
  // Returns the task that replaces the calling task: the one that makes the events happen, if that
  // is another one.
  std::function<std::optional<pid_t>()> default_task = {};
  // Prepares a CPU for a CPU-wide event of a type on it, before the event is opened.
  std::function<void(std::uint32_t type, int cpu)> prepare_cpu = {};
};
void SetOpenPolicy(OpenPolicy policy);

// Returns the attr that Open(spec, options) uses. attr.size is PERF_ATTR_SIZE_VER7, the size of
// Linux 6.1, unless the event has config3 or config4.
perf_event_attr MakeAttr(const EventSpec& spec, const OpenOptions& options = {});

// Returns one line with every field that is not zero, for messages.
std::string Describe(const perf_event_attr& attr);

// The result of a system call that the case judges: a value >= 0, or an errno.
struct SysResult {
  long value = 0;
  int error = 0;
  bool ok() const { return error == 0; }
};

// The result of read(2) for one event. Fields that read_format does not request are 0.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t time_enabled = 0;  // ns
  std::uint64_t time_running = 0;  // ns
  std::uint64_t id = 0;
  std::uint64_t lost = 0;
};

struct GroupEntry {
  std::uint64_t value = 0;
  std::uint64_t id = 0;
  std::uint64_t lost = 0;
};

// The result of read(2) for a group (PERF_FORMAT_GROUP). The leader comes first.
struct GroupReading {
  std::uint64_t time_enabled = 0;  // ns
  std::uint64_t time_running = 0;  // ns
  std::vector<GroupEntry> entries;
};

// Parse the bytes of a reading. Return nullopt if their length is not the one that read_format
// implies.
std::optional<Reading> ParseReading(std::span<const std::byte> bytes, std::uint64_t read_format);
std::optional<GroupReading> ParseGroupReading(std::span<const std::byte> bytes,
                                              std::uint64_t read_format);

// An open event. Closes its file descriptor on destruction.
class Event {
 public:
  Event() = default;
  Event(Fd fd, const perf_event_attr& attr) : fd_(std::move(fd)), attr_(attr) {}

  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.get() >= 0; }
  const perf_event_attr& attr() const { return attr_; }

  // These throw Broken on failure.
  void Enable() const;
  void Disable() const;
  void Reset() const;
  void EnableGroup() const;  // with PERF_IOC_FLAG_GROUP
  void DisableGroup() const;
  void ResetGroup() const;
  void Refresh(int n) const;                // PERF_EVENT_IOC_REFRESH
  void Period(std::uint64_t period) const;  // PERF_EVENT_IOC_PERIOD
  std::uint64_t Id() const;                 // PERF_EVENT_IOC_ID
  void SetOutput(const Event& to) const;    // PERF_EVENT_IOC_SET_OUTPUT
  void PauseOutput(bool pause) const;       // PERF_EVENT_IOC_PAUSE_OUTPUT
  void SetBpf(int program_fd) const;        // PERF_EVENT_IOC_SET_BPF
  Reading Read() const;                     // without PERF_FORMAT_GROUP
  GroupReading ReadGroup() const;           // only with PERF_FORMAT_GROUP
  void Close();

  // These return the error. `arg` is the argument of ioctl(2): a value, or a pointer cast to one.
  SysResult TryIoctl(unsigned long request, unsigned long arg = 0) const;
  SysResult TryEnable(unsigned long flags = 0) const;
  SysResult TryRefresh(int n) const;
  SysResult TryPeriod(std::uint64_t period) const;
  // read(2) of up to `size` bytes. `bytes` receives the data; it is empty at end of file or on
  // error.
  SysResult TryRead(std::size_t size, std::vector<std::byte>* bytes = nullptr) const;

 private:
  Fd fd_;
  perf_event_attr attr_ = {};
};

// Opens an event, or ends the case as BROKEN. The failure message of the case shows the last attrs.
Event Open(const EventSpec& spec, const OpenOptions& options = {});
Event Open(const perf_event_attr& attr, pid_t pid = 0, int cpu = -1, int group_fd = -1,
           unsigned long flags = PERF_FLAG_FD_CLOEXEC);

// An event, or the errno of perf_event_open(2).
struct OpenResult {
  Event event;
  int error = 0;  // 0 if open
  bool ok() const { return error == 0; }
};
OpenResult TryOpen(const EventSpec& spec, const OpenOptions& options = {});
OpenResult TryOpen(const perf_event_attr& attr, pid_t pid = 0, int cpu = -1, int group_fd = -1,
                   unsigned long flags = PERF_FLAG_FD_CLOEXEC);
// perf_event_open(2) without a copy of the attr, for attrs that are too short, too long or at a bad
// address.
SysResult TryOpenRaw(const void* attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_EVENT_H_
