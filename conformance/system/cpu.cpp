// SPDX-License-Identifier: Apache-2.0
// CPUs and child processes.
#include "system/cpu.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "system/broken.h"
#include "system/context.h"
#include "system/sysfs.h"

namespace pmuconf {

std::vector<int> OnlineCpus() {
  const auto text = ReadFile("/sys/devices/system/cpu/online");
  const auto cpus = text ? ParseCpuList(*text) : std::nullopt;
  if (!cpus || cpus->empty()) throw Broken("/sys/devices/system/cpu/online lists no CPU");
  return *cpus;
}

bool CanLeave(int cpu) {
  return access(("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/online").c_str(), F_OK) ==
         0;
}

namespace {

// The CPUs that this thread left, and the one where its events are to happen.
struct Places {
  std::set<int> left;
  std::optional<int> events;
};

Places& ThePlaces() {
  thread_local Places the_places;
  return the_places;
}

void RunOn(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) == 0) return;
  throw BrokenErrno("pinning to CPU " + std::to_string(cpus.front()), errno);
}

// Pins this thread to `cpu`, or to the CPUs that it has not left.
void Place(int cpu) {
  const std::set<int>& left = ThePlaces().left;
  if (!left.contains(cpu)) return RunOn({cpu});
  std::vector<int> others = OnlineCpus();
  std::erase_if(others, [&](int other) { return left.contains(other); });
  if (others.empty()) {
    throw Skipped{SkipReason::kKernelLacks,
                  "needs a CPU that its CPU-wide events do not count, for itself"};
  }
  RunOn(others);
}

}  // namespace

void PinTo(int cpu) {
  Place(cpu);
  ThePlaces().events = cpu;
}

OnCpu::OnCpu(int cpu) {
  sched_getaffinity(0, sizeof(before_), &before_);
  RunOn({cpu});
}

OnCpu::~OnCpu() { sched_setaffinity(0, sizeof(before_), &before_); }

void LeaveCpu(int cpu) {
  ThePlaces().left.insert(cpu);
  PinTo(cpu);
}

int EventCpu() { return ThePlaces().events.value_or(CurrentCpu()); }

int CurrentCpu() { return sched_getcpu(); }

namespace {

bool Schedule(int policy, int priority) {
  const sched_param param = {.sched_priority = priority};
  return sched_setscheduler(0, policy, &param) == 0;
}

// Returns how often the scheduler preempted this thread.
long Preemptions() {
  rusage used = {};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

}  // namespace

NoPreemption::NoPreemption() : switches_(Preemptions()) {
  if (!Schedule(SCHED_FIFO, 1)) throw BrokenErrno("a priority above ordinary tasks", errno);
}

NoPreemption::~NoPreemption() {
  if (Preemptions() != switches_) context().preempted = true;
  Schedule(SCHED_OTHER, 0);
}

void NoPreemption::Yield() {
  const long before = Preemptions();
  sched_yield();
  switches_ += Preemptions() - before;
}

namespace {

constexpr char kViolation = -1;  // instead of a skip reason

// Writes a Skipped to the pipe: one byte for the enumerator of the skip reason, then the capability
// up to a NUL, then the text. All fit into the empty pipe.
void WriteSkipped(int fd, const Skipped& skipped) {
  const std::string message =
      static_cast<char>(skipped.skip_reason) + skipped.capability + '\0' + skipped.reason;
  if (write(fd, message.data(), message.size()) < 0) _exit(126);
}

void WriteViolation(int fd, const Violation& violation) {
  const std::string message = kViolation + violation.text;
  if (write(fd, message.data(), message.size()) < 0) _exit(126);
}

// Throws the Skipped or Violation that the child wrote, if any. Other processes may still have the
// write end open, so this does not wait for end of file: the child has ended, and its data is in
// the pipe.
void ThrowIfSkipped(int fd) {
  std::array<char, PIPE_BUF> message;
  const ssize_t size = read(fd, message.data(), message.size());
  if (size <= 0) return;
  const std::string text(message.data() + 1, message.data() + size);
  if (message[0] == kViolation) throw Violation{text};
  const std::size_t end = text.find('\0');
  throw Skipped{static_cast<SkipReason>(message[0]), text.substr(end + 1), text.substr(0, end)};
}

}  // namespace

Child::Child(const std::function<int()>& body) {
  int go_ends[2], skip_ends[2];
  if (pipe2(go_ends, O_CLOEXEC) != 0) throw BrokenErrno("pipe", errno);
  if (pipe2(skip_ends, O_CLOEXEC | O_NONBLOCK) != 0) throw BrokenErrno("pipe", errno);
  skip_fd_ = Fd(skip_ends[0]);
  const Fd skip_pipe(skip_ends[1]);
  pid_ = fork();
  if (pid_ < 0) throw BrokenErrno("fork", errno);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(go_ends[1]);
    char byte = 0;
    if (read(go_ends[0], &byte, 1) != 1) _exit(127);  // the parent has exited
    int status = 126;
    try {
      status = body();
    } catch (const Skipped& skipped) {
      WriteSkipped(skip_pipe.get(), skipped);
    } catch (const Violation& violation) {
      WriteViolation(skip_pipe.get(), violation);
    } catch (const std::exception&) {
    }
    _exit(status);
  }
  close(go_ends[0]);
  go_fd_ = go_ends[1];
}

Child::~Child() {
  if (go_fd_ >= 0) close(go_fd_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Child::Go() {
  const char byte = 1;
  if (write(go_fd_, &byte, 1) != 1) throw BrokenErrno("starting the child", errno);
  close(go_fd_);
  go_fd_ = -1;
}

int Child::Wait() {
  int status = 0;
  pid_t reaped;
  do {
    reaped = waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) throw BrokenErrno("waitpid", errno);
  pid_ = -1;
  ThrowIfSkipped(skip_fd_.get());
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void BusyWait(double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < until) {
  }
}

}  // namespace pmuconf
