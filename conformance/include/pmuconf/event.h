// SPDX-License-Identifier: Apache-2.0
// Perf events: what to open (EventSpec, OpenOptions), the open event (Event), and what it reads.
//
// Two kinds of call. The plain ones (Open, Enable, Read …) assert: a failure ends the case as
// BROKEN with the errno and the attr. Their Try twins return the error for the case to judge:
//   EXPECT_THAT(TryOpen(attr), FailsWith(EINVAL));
#ifndef PMUCONF_EVENT_H_
#define PMUCONF_EVENT_H_

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

#include "pmuconf/fd.h"

namespace pmuconf {

// How events of a kind are made to happen.
enum class StimulusKind {
  kNone,   // it cannot be stimulated
  kPulse,  // pulses through the stimulus port
  kClock,  // ticks of the port's manual clock
  // What this program does itself (stimuli.h).
  kPageFaults,
  kContextSwitches,
  kMigrations,
  kSyscalls,
  kInstructions,
  kIncrements,
};

// How close to the truth a count must be. Only target files state it.
struct Accuracy {
  std::uint64_t abs = 0;
  double rel = 0.0;
  bool exact() const { return abs == 0 && rel == 0.0; }
};

// One event of the target, resolved: what to put into the attr, and how to make it happen.
struct EventSpec {
  std::string name;  // "pulse_a"
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  StimulusKind stimulus = StimulusKind::kNone;
  // The port's event code (event in bits 0-7, unit mask in 8-15), or the number of the system call.
  std::uint16_t code = 0;
  std::uint32_t ticks = 0;  // clock ticks one event takes (kClock)
  // What it takes to happen: cycles, off-core request and response bits (kPulse).
  std::uint32_t latency = 0;
  std::uint64_t response = 0;
  // Counters that can count it: bit i general, bit 32 + i fixed; none where nothing limits them.
  std::uint64_t counters = 0;
  bool wide = false;                     // it takes the counter after that one too
  std::optional<std::uint64_t> generic;  // PERF_COUNT_HW_* it also answers to
  Accuracy accuracy;
};

// The same event asked for by its generic name (PERF_TYPE_HARDWARE). Throws Broken without one.
EventSpec AsGeneric(const EventSpec& spec);

inline constexpr std::uint64_t kReadTimes =
    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

// How to open. The default: this task on any CPU, disabled, counting, both times in the reading.
// Of a PMU that the machine has once: the whole machine, through its designated CPU.
// Designated initialisers, in this order.
struct OpenOptions {
  pid_t pid = 0;
  int cpu = -1;  // cpu >= 0 with pid = -1 is a CPU-wide event
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
  bool sigtrap = false;  // also sets remove_on_exec, which the kernel asks for
  std::uint64_t sig_data = 0;
  bool write_backward = false;
  std::function<void(perf_event_attr&)> edit = {};  // anything else; runs last
};

// The attr that Open(spec, options) uses. attr.size is PERF_ATTR_SIZE_VER7 (6.1's).
perf_event_attr MakeAttr(const EventSpec& spec, const OpenOptions& options = {});

// A line that shows every field that is not zero, for messages.
std::string Describe(const perf_event_attr& attr);

// The outcome of a system call that the case judges: value (>= 0) or errno.
struct SysResult {
  long value = 0;
  int error = 0;
  bool ok() const { return error == 0; }
};

// What read() gave for one event. Fields that read_format did not ask for are 0.
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

// What read() gave for a group (PERF_FORMAT_GROUP): the leader first.
struct GroupReading {
  std::uint64_t time_enabled = 0;  // ns
  std::uint64_t time_running = 0;  // ns
  std::vector<GroupEntry> entries;
};

// Bytes of a reading; nullopt unless they are exactly as long as read_format says.
std::optional<Reading> ParseReading(std::span<const std::byte> bytes, std::uint64_t read_format);
std::optional<GroupReading> ParseGroupReading(std::span<const std::byte> bytes,
                                              std::uint64_t read_format);

// An open event; closes it when it goes. Movable.
class Event {
 public:
  Event() = default;
  Event(Fd fd, const perf_event_attr& attr) : fd_(std::move(fd)), attr_(attr) {}

  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.get() >= 0; }
  const perf_event_attr& attr() const { return attr_; }

  // Assert.
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
  Reading Read() const;                     // not for PERF_FORMAT_GROUP
  GroupReading ReadGroup() const;           // only for PERF_FORMAT_GROUP
  void Close();

  // Return the error. `arg` is the ioctl's argument (a value, or a pointer cast to it).
  SysResult TryIoctl(unsigned long request, unsigned long arg = 0) const;
  SysResult TryEnable(unsigned long flags = 0) const;
  SysResult TryRefresh(int n) const;
  SysResult TryPeriod(std::uint64_t period) const;
  // read(2) of up to `size` bytes: `bytes` gets what came (empty at end of file or on error).
  SysResult TryRead(std::size_t size, std::vector<std::byte>* bytes = nullptr) const;

 private:
  Fd fd_;
  perf_event_attr attr_ = {};
};

// Opens, or ends the case as BROKEN. Remembers the attr for the failure message.
Event Open(const EventSpec& spec, const OpenOptions& options = {});
Event Open(const perf_event_attr& attr, pid_t pid = 0, int cpu = -1, int group_fd = -1,
           unsigned long flags = PERF_FLAG_FD_CLOEXEC);

// An event, or why there is none.
struct OpenResult {
  Event event;
  int error = 0;  // errno, 0 if open
  bool ok() const { return error == 0; }
};
OpenResult TryOpen(const EventSpec& spec, const OpenOptions& options = {});
OpenResult TryOpen(const perf_event_attr& attr, pid_t pid = 0, int cpu = -1, int group_fd = -1,
                   unsigned long flags = PERF_FLAG_FD_CLOEXEC);
// The system call as it is: for attrs that are too short, too long or at bad addresses.
SysResult TryOpenRaw(const void* attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

}  // namespace pmuconf

#endif  // PMUCONF_EVENT_H_
