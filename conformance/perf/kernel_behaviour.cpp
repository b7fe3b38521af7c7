// SPDX-License-Identifier: Apache-2.0
// Finds the behaviour of the running kernel by calls on its own software events.
#include "perf/kernel_behaviour.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

#include "perf/event.h"
#include "perf/ring.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "system/smaps.h"
#include "system/sysctl.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

// The raw calls below do not follow the policy of the target (SetOpenPolicy).
perf_event_attr Dummy(const std::function<void(perf_event_attr&)>& edit = {}) {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = 1;
  if (edit) edit(attr);
  return attr;
}

struct Opened {
  Fd fd;
  int error = 0;
};

Opened OpenRaw(const void* attr, pid_t pid = 0, int cpu = -1, int group_fd = -1) {
  const SysResult result = TryOpenRaw(attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
  return {Fd(result.ok() ? static_cast<int>(result.value) : -1), result.error};
}

int ErrnoOf(const std::function<void(perf_event_attr&)>& edit) {
  const perf_event_attr attr = Dummy(edit);
  return OpenRaw(&attr).error;
}

Opened OpenOrBreak(const perf_event_attr& attr, pid_t pid, int cpu = -1) {
  Opened opened = OpenRaw(&attr, pid, cpu);
  if (opened.error != 0) throw BrokenErrno("opening a software event", opened.error);
  return opened;
}

// Runs `body` as a task without privileges while kernel.perf_event_paranoid has a value, and
// returns its result.
int Unprivileged(const char* level, const std::function<int()>& body) {
  constexpr uid_t kNobody = 65534;
  const Sysctl paranoid("kernel/perf_event_paranoid", level);
  Child child([&] {
    const bool dropped =
        setresgid(kNobody, kNobody, kNobody) == 0 && setresuid(kNobody, kNobody, kNobody) == 0;
    return dropped ? body() : 126;
  });
  child.Go();
  return child.Wait();
}

int UnprivilegedErrnoOf(const std::function<void(perf_event_attr&)>& edit,
                        const char* level = "2") {
  return Unprivileged(level, [&] {
    return ErrnoOf([&](perf_event_attr& attr) {
      attr.exclude_kernel = 1;
      edit(attr);
    });
  });
}

// The first bit from `first` on that the kernel refuses as unknown.
unsigned FirstUnknown(unsigned first, const std::function<int(unsigned)>& errno_of) {
  unsigned bit = first;
  while (bit < 64 && errno_of(bit) != EINVAL) ++bit;
  return bit;
}

std::uint32_t FindAcceptedAttrSize() {
  std::uint32_t size = PERF_ATTR_SIZE_VER7;
  for (const auto field : {&perf_event_attr::config3, &perf_event_attr::config4}) {
    perf_event_attr attr = Dummy();
    attr.size = sizeof(attr);
    attr.*field = 1;
    if (OpenRaw(&attr).error != 0) break;
    size += sizeof(attr.*field);
  }
  return size;
}

std::uint32_t FindReportedAttrSize() {
  perf_event_attr attr = Dummy();
  attr.size = 1u << 20;
  OpenRaw(&attr);  // cases judge its errno
  return attr.size;
}

int FindDeadLeaderErrno() {
  Child child([] { return 0; });
  const perf_event_attr attr = Dummy();
  const Opened leader = OpenOrBreak(attr, child.pid());
  child.Go();
  if (child.Wait() != 0) throw Broken("a child did not exit with 0");
  return OpenRaw(&attr, 0, -1, leader.fd.get()).error;
}

// An event of another user's task, in a group with an event of this task: two errors.
bool FindSharedContexts() {
  const pid_t privileged = getpid();
  const int error = Unprivileged("2", [&] {
    const perf_event_attr attr = Dummy([](perf_event_attr& it) { it.exclude_kernel = 1; });
    const Opened leader = OpenRaw(&attr);
    if (leader.error != 0) return 125;
    return OpenRaw(&attr, privileged, -1, leader.fd.get()).error;
  });
  if (error != EACCES && error != EINVAL) {
    throw Broken("an event of another user's task with a wrong leader: status " +
                 std::to_string(error));
  }
  return error == EACCES;
}

bool FindClockPmus() {
  for (const std::string& name : ListFolder(kEventSource)) {
    const auto type = ReadFile(std::string(kEventSource) + "/" + name + "/type");
    if (type && *type == std::to_string(PERF_TYPE_MAX)) return false;
  }
  return ErrnoOf([](perf_event_attr& attr) {
           attr.type = PERF_TYPE_MAX;
           attr.config = PERF_COUNT_SW_CPU_CLOCK;
         }) == 0;
}

bool FindReadAtExit() {
  const int cpu = CurrentCpu();
  const perf_event_attr attr = Dummy([](perf_event_attr& it) {
    it.sample_period = 1;
    it.sample_type = PERF_SAMPLE_TID;
    it.inherit = it.inherit_stat = 1;
  });
  // An event that is not inherited: the contexts of the task and its child differ, so a context
  // switch does not swap them.
  const perf_event_attr own_attr = Dummy();
  const Opened own = OpenOrBreak(own_attr, 0);
  const Event event(OpenOrBreak(attr, 0, cpu).fd, attr);
  Ring ring(event, 1);
  Child child([] { return 0; });
  child.Go();
  if (child.Wait() != 0) throw Broken("a child did not exit with 0");
  const auto records = ring.DrainRaw();
  return std::ranges::any_of(records,
                             [](const Record& one) { return one.type == PERF_RECORD_READ; });
}

bool FindGroupThrottle() {
  constexpr std::uint64_t kPeriod = 50'000;  // ns; many in each tick
  const SampleRateLimit one_per_tick(1);
  const perf_event_attr leader_attr = Dummy();
  const perf_event_attr timer_attr = Dummy([](perf_event_attr& it) {
    it.config = PERF_COUNT_SW_CPU_CLOCK;
    it.sample_period = kPeriod;
    it.disabled = 0;
  });
  const Event leader(OpenOrBreak(leader_attr, 0).fd, leader_attr);
  Opened opened = OpenRaw(&timer_attr, 0, -1, leader.fd());
  if (opened.error != 0) throw BrokenErrno("opening a timer in a group", opened.error);
  const Event timer(std::move(opened.fd), timer_attr);
  Ring of_leader(leader, 1);
  Ring of_timer(timer, 4);
  const auto throttled = [](Ring& ring) {
    const auto records = ring.DrainRaw();
    return std::ranges::any_of(records,
                               [](const Record& one) { return one.type == PERF_RECORD_THROTTLE; });
  };
  leader.Enable();
  for (int i = 0; i < 1'000; ++i) {  // the second overflow of a tick is enough
    BusyWait(0.001);
    if (throttled(of_leader)) return true;
    if (throttled(of_timer)) return false;
  }
  throw Broken("a timer in a group is not throttled");
}

std::optional<bool> FindPagesAtOnce() {
  const Opened event = OpenOrBreak(Dummy([](perf_event_attr& attr) { attr.sample_period = 1; }), 0);
  const std::size_t size = 2 * PageSize();
  void* const base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event.fd.get(), 0);
  if (base == MAP_FAILED) throw BrokenErrno("mmap", errno);
  // "rd wr sh mr mw me ms pf io de"
  const auto flags = SmapsValue(reinterpret_cast<std::uintptr_t>(base), "VmFlags:");
  munmap(base, size);
  if (!flags) return std::nullopt;
  return (*flags + " ").find(" pf ") != std::string::npos;
}

bool FindFdinfo() {
  const Opened event = OpenOrBreak(Dummy(), 0);
  const auto text = ReadFile("/proc/self/fdinfo/" + std::to_string(event.fd.get()));
  return text && text->find("perf_event_attr.") != std::string::npos;
}

}  // namespace

std::uint32_t AcceptedAttrSize() {
  static const std::uint32_t size = FindAcceptedAttrSize();
  return size;
}

std::uint32_t ReportedAttrSize() {
  static const std::uint32_t size = FindReportedAttrSize();
  return size;
}

void SetFlag(perf_event_attr* attr, unsigned bit) {
  constexpr std::size_t kFlags = offsetof(perf_event_attr, read_format) + sizeof(attr->read_format);
  auto* const at = reinterpret_cast<std::byte*>(attr) + kFlags;
  std::uint64_t flags = 0;
  std::memcpy(&flags, at, sizeof(flags));
  flags |= std::uint64_t{1} << bit;
  std::memcpy(at, &flags, sizeof(flags));
}

unsigned KnownAttrFlags() {
  static const unsigned known = FirstUnknown(38, [](unsigned bit) {
    return ErrnoOf([bit](perf_event_attr& attr) { SetFlag(&attr, bit); });
  });
  return known;
}

unsigned KnownAuxActionBits() {
  // Bit 0 needs a PMU with a trace. A kernel that does not know it fails with EINVAL.
  static const bool known = ErrnoOf([](perf_event_attr& attr) { attr.aux_action = 1; }) != EINVAL;
  return known ? 3 : 0;
}

unsigned KnownBranchBits() {
  constexpr unsigned kFirst = 19;  // PERF_SAMPLE_BRANCH_COUNTERS
  static const unsigned known = FirstUnknown(kFirst, [](unsigned bit) {
    return ErrnoOf([bit](perf_event_attr& attr) {
      attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
      attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | 1ull << bit;
    });
  });
  return known;
}

int InheritedSampleReadErrno() {
  static const int error = ErrnoOf([](perf_event_attr& attr) {
    attr.inherit = 1;
    attr.sample_period = 1;
    attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
  });
  return error;
}

int DeadLeaderErrno() {
  static const int error = FindDeadLeaderErrno();
  return error;
}

int UnprivilegedCallChainErrno() {
  static const int error =
      UnprivilegedErrnoOf([](perf_event_attr& attr) { attr.sample_type = PERF_SAMPLE_CALLCHAIN; });
  return error;
}

int UnprivilegedTextPokeErrno() {
  static const int error = UnprivilegedErrnoOf([](perf_event_attr& attr) { attr.text_poke = 1; });
  return error;
}

bool RefusesAllEvents() {
  static const int error = UnprivilegedErrnoOf([](perf_event_attr&) {}, "3");
  return error == EACCES;
}

bool HasSharedContexts() {
  static const bool shared = FindSharedContexts();
  return shared;
}

bool HasClockPmus() {
  static const bool has = FindClockPmus();
  return has;
}

bool WritesReadAtExit() {
  static const bool writes = FindReadAtExit();
  return writes;
}

bool ThrottlesGroups() {
  static const bool throttles = FindGroupThrottle();
  return throttles;
}

std::optional<bool> MapsPagesAtOnce() {
  static const std::optional<bool> at_once = FindPagesAtOnce();
  return at_once;
}

bool FdinfoShowsAttr() {
  static const bool shows = FindFdinfo();
  return shows;
}

}  // namespace pmuconf
