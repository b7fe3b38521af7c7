// SPDX-License-Identifier: Apache-2.0
#include "target/attr/attr_observation.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>

#include "perf/ring.h"
#include "stimulus/stimuli.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "target/target.h"

namespace pmuconf {
namespace {

constexpr std::size_t kPages = 64;
constexpr int kActions_ms = 10'000;  // within which a child has caused its events
constexpr std::uint64_t kUser = 1'000, kKernel = 300, kOfGrandchild = 70;

// What a child and its observer share.
struct Shared {
  volatile std::sig_atomic_t traps;
};

class SharedMemory {
 public:
  SharedMemory() {
    void* const area =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) throw BrokenErrno("mmap", errno);
    shared_ = static_cast<Shared*>(area);
  }
  SharedMemory(const SharedMemory&) = delete;
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  Shared* get() const { return shared_; }

 private:
  Shared* shared_ = nullptr;
};

Shared* g_shared = nullptr;

void CountTrap(int /*signal*/) { g_shared->traps = g_shared->traps + 1; }

// The events of a worker or of no stimulus come from the other actions.
void Stimulate(const EventSpec& spec, std::uint64_t n, Privilege privilege) {
  if (spec.stimulus == StimulusKind::kNone || spec.stimulus == StimulusKind::kWork) return;
  if (privilege == Privilege::kKernel && spec.stimulus != StimulusKind::kPulse) return;
  target().Stimulate(spec, n, {.privilege = privilege});
}

void Loop() {
  constexpr int kTurns = 200'000;
  for (int i = 0; i < kTurns; ++i) asm volatile("");
}

void MapOwnProgram() {
  const Fd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  void* const code = mmap(nullptr, PageSize(), PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
  if (code != MAP_FAILED) munmap(code, PageSize());
}

void MapData() {
  void* const data =
      mmap(nullptr, PageSize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data != MAP_FAILED) munmap(data, PageSize());
}

// The end of a socket of the child or of its observer. The child waits until the event was polled,
// because an event of a task that has ended is not readable.
class Meeting {
 public:
  explicit Meeting(int fd) : fd_(fd) {}
  // Tells the other side to go on. Fails if it has ended.
  void Tell() const { (void)!send(fd_.get(), "", 1, MSG_NOSIGNAL); }
  void Await() const {
    char byte = 0;
    while (read(fd_.get(), &byte, 1) < 0 && errno == EINTR) {
    }
  }
  void AwaitAtMost(int milliseconds) const {
    pollfd ready = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
    poll(&ready, 1, milliseconds);
  }

 private:
  Fd fd_;
};

int Act(const EventSpec& spec, bool execs, const Meeting& observer) {
  struct sigaction action = {};
  action.sa_handler = CountTrap;
  sigaction(SIGTRAP, &action, nullptr);
  constexpr int kCalls = 100, kFaults = 20;
  Stimulate(spec, kUser, Privilege::kUser);
  Stimulate(spec, kKernel, Privilege::kKernel);
  Loop();
  for (int i = 0; i < kCalls; ++i) syscall(SYS_getppid);
  TouchFreshPages(kFaults);
  prctl(PR_SET_NAME, "attr");
  MapOwnProgram();
  MapData();
  const pid_t grandchild = fork();
  if (grandchild == 0) {
    Stimulate(spec, kOfGrandchild, Privilege::kUser);
    Loop();
    _exit(0);
  }
  if (grandchild > 0) waitpid(grandchild, nullptr, 0);  // the task leaves its CPU
  observer.Tell();
  observer.Await();
  if (execs) {
    const int null_fd = open("/dev/null", O_WRONLY);
    dup2(null_fd, STDOUT_FILENO);
    execl("/proc/self/exe", "pmuconf", "--version", static_cast<char*>(nullptr));
  }
  return 0;
}

std::string RecordName(std::uint32_t type) {
  static constexpr const char* kNames[] = {"0",
                                           "MMAP",
                                           "LOST",
                                           "COMM",
                                           "EXIT",
                                           "THROTTLE",
                                           "UNTHROTTLE",
                                           "FORK",
                                           "READ",
                                           "SAMPLE",
                                           "MMAP2",
                                           "AUX",
                                           "ITRACE_START",
                                           "LOST_SAMPLES",
                                           "SWITCH",
                                           "SWITCH_CPU_WIDE",
                                           "NAMESPACES",
                                           "KSYMBOL",
                                           "BPF_EVENT",
                                           "CGROUP",
                                           "TEXT_POKE",
                                           "AUX_OUTPUT_HW_ID",
                                           "CALLCHAIN_DEFERRED"};
  return type < std::size(kNames) ? kNames[type] : std::to_string(type);
}

void AddRecord(const Record& record, std::map<std::string, double>* numbers) {
  const std::string name = RecordName(record.type);
  auto& found = *numbers;
  const auto size = static_cast<double>(record.body.size());
  double& smallest = found["bytes of the smallest " + name];
  smallest = smallest == 0 ? size : std::min(smallest, size);
  found["bytes of all " + name] += size;
  ++found["records " + name];
  const unsigned mode = record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
  if (record.type == PERF_RECORD_SAMPLE) ++found["samples in mode " + std::to_string(mode)];
  for (unsigned bit = 3; bit < 16; ++bit) {
    if (record.misc >> bit & 1) ++found[name + " with bit " + std::to_string(bit) + " of misc"];
  }
  // The second word of a sample is often a time.
  std::uint64_t words[2] = {};
  if (record.type != PERF_RECORD_SAMPLE || record.body.size() < sizeof(words)) return;
  std::memcpy(words, record.body.data(), sizeof(words));
  constexpr double kNsPerSecond = 1e9;
  double& latest = found["the second word of a sample / 1e9"];
  latest = std::max(latest, static_cast<double>(words[1]) / kNsPerSecond);
}

void AddReading(const Event& event, std::map<std::string, double>* numbers) {
  constexpr std::size_t kMost = 256;
  std::vector<std::byte> bytes;
  if (!event.TryRead(kMost, &bytes).ok()) return;
  (*numbers)["bytes of a reading"] = static_cast<double>(bytes.size());
  const std::uint64_t format = event.attr().read_format;
  if (format & PERF_FORMAT_GROUP) {
    const auto group = ParseGroupReading(bytes, format);
    if (group && !group->entries.empty()) {
      (*numbers)[kCountName] = static_cast<double>(group->entries.front().value);
    }
  } else if (const auto reading = ParseReading(bytes, format)) {
    (*numbers)[kCountName] = static_cast<double>(reading->value);
    if (reading->time_enabled > 0) (*numbers)["enabled"] = 1;
  }
}

// Without the records that cases keep of each open.
OpenResult OpenOn(perf_event_attr attr, pid_t task) {
  const bool per_cpu = target().Claims(Cap::kSystemWide);
  const SysResult opened =
      TryOpenRaw(&attr, per_cpu ? -1 : task, per_cpu ? target().DesignatedCpu() : -1, -1,
                 PERF_FLAG_FD_CLOEXEC);
  if (!opened.ok()) return {Event(), opened.error};
  return {Event(Fd(static_cast<int>(opened.value)), attr), 0};
}

}  // namespace

double Observation::Get(const std::string& name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

int OpenErrno(const perf_event_attr& attr) { return OpenOn(attr, 0).error; }

Observation Observe(const EventSpec& spec, const perf_event_attr& attr, const AttrField& field) {
  const bool per_cpu = target().Claims(Cap::kSystemWide);
  const SharedMemory shared;
  g_shared = shared.get();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw BrokenErrno("socketpair", errno);
  }
  const Meeting actor(ends[0]);
  std::optional<Meeting> observer(std::in_place, ends[1]);
  Child child([&] {
    if (per_cpu) PinTo(target().DesignatedCpu());
    return Act(spec, field.execs, *observer);
  });
  observer.reset();
  const OpenResult opened = OpenOn(attr, child.pid());
  if (!opened.ok()) return {.error = opened.error};
  const Event& event = opened.event;
  std::optional<Ring> ring;
  if (Ring::TryMap(event, kPages).ok()) ring.emplace(event, kPages);
  if (field.starts) event.TryEnable();
  child.Go();
  Observation seen;
  actor.AwaitAtMost(kActions_ms);
  pollfd ready = {.fd = event.fd(), .events = POLLIN, .revents = 0};
  poll(&ready, 1, 0);
  seen.numbers["poll"] = (ready.revents & POLLIN) != 0;
  actor.Tell();
  if (const int status = child.Wait(); status != 0) {
    throw Broken("the child that causes events ended with " + std::to_string(status));
  }
  seen.numbers["signals"] = shared.get()->traps;
  AddReading(event, &seen.numbers);
  if (!ring) return seen;
  if (static_cast<std::int64_t>(ring->head()) < 0) {
    seen.numbers["a buffer that is written backward"] = 1;
    return seen;
  }
  for (const Record& record : ExtractRecords(ring->data(), 0, ring->head()).records) {
    AddRecord(record, &seen.numbers);
  }
  return seen;
}

}  // namespace pmuconf
