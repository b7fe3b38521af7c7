// SPDX-License-Identifier: Apache-2.0
// Each operation makes one or two system calls and only records their results.
// Longer than 500 lines: it has each operation of a program.
#include "tools/repro/child.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "system/broken.h"
#include "tools/repro/outcome.h"
#include "uapi/refpmu.h"

namespace pmuconf {
namespace {

constexpr uid_t kNobodyUid = 65534;
constexpr int kNoSuchPid = 0x3fff'ffff;
constexpr int kBeyond = 1 << 20;
constexpr int kClosedFd = 99'999;
constexpr int kChildFailed = 127;
constexpr char kSecondCpu[] = "/sys/devices/system/cpu/cpu1/online";
constexpr char kOther[] = "/bin/true";

// Drops all privileges of root except the saved user id, to restore them.
class WithoutRights {
 public:
  // The system call changes only this thread. The C library's function changes all of them.
  WithoutRights() : dropped_(syscall(SYS_setresuid, kNobodyUid, kNobodyUid, 0) == 0) {}
  WithoutRights(const WithoutRights&) = delete;
  ~WithoutRights() {
    if (dropped_ && syscall(SYS_setresuid, 0, 0, 0) != 0) _exit(kChildFailed);
  }

 private:
  bool dropped_;
};

void Work(unsigned which, std::uint64_t rounds) {
  const std::size_t page = PageSize();
  constexpr std::uint64_t kPages = 8;
  if (which == 1) {
    const std::size_t size = kPages * page;
    void* const at =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    auto* const bytes = static_cast<volatile char*>(at);
    for (std::uint64_t i = 0; i < std::min(rounds, kPages); ++i) bytes[i * page] = 1;
    munmap(at, size);
    return;
  }
  volatile std::uint64_t spun = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    if (which == 0) spun = spun + i;
    if (which == 2) sched_yield();
    if (which == 3) syscall(SYS_getppid);
  }
}

// Shares one BPF program between all programs of a process, because load and unload dominate the
// run time.
int Bpf() {
  static const Fd program = [] {
    bpf_insn code[2] = {};
    code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
    code[1].code = BPF_JMP | BPF_EXIT;
    union bpf_attr attr = {};
    constexpr char kLicense[] = "GPL";
    attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
    attr.insns = reinterpret_cast<std::uint64_t>(code);
    attr.insn_cnt = 2;
    attr.license = reinterpret_cast<std::uint64_t>(kLicense);
    return Fd(static_cast<int>(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr))));
  }();
  return program.get();
}

Outcome PulseOf(int port, unsigned which, std::uint64_t count) {
  if (port < 0) return Missing(ENXIO);
  refpmu_pulse pulse = {};
  pulse.size = sizeof(pulse);
  pulse.cpu = REFPMU_CPU_CURRENT;
  pulse.event = ProgramPulses()[which];
  pulse.privilege = count % 2 == 0 ? REFPMU_PRIV_USER : REFPMU_PRIV_KERNEL;
  pulse.n = count;
  return OutcomeOf(ioctl(port, REFPMU_IOC_PULSE, &pulse));
}

// The signals of a number of slots.
sigset_t SignalsOf(unsigned first, unsigned count) {
  sigset_t signals;
  sigemptyset(&signals);
  for (unsigned i = first; i < first + count; ++i)
    sigaddset(&signals, SIGRTMIN + static_cast<int>(i));
  return signals;
}

// After this letter come the kind of pulse, and the number of pulses after the first.
constexpr char kPulseLetter = 'p';
using PulseCommand = std::array<std::uint8_t, 2>;

// The main loop of a program's child: each letter is a command, which the child confirms.
[[noreturn]] void RunChildCommands(int fd, int port) {
  constexpr std::uint64_t kRounds = 16;
  char letter = 0;
  while (read(fd, &letter, 1) == 1) {
    if (letter == '0') _exit(0);
    if (letter == '1') {
      execl(kOther, kOther, static_cast<char*>(nullptr));
      _exit(kChildFailed);
    }
    if (letter == kPulseLetter) {
      PulseCommand command = {};
      if (read(fd, command.data(), command.size()) != ssize_t{command.size()}) break;
      if (PulseOf(port, command[0], command[1] + 1u).error != 0) letter = 'e';
      if (write(fd, &letter, 1) != 1) break;
      continue;
    }
    for (unsigned way = 0; way < ChoiceCount(Operation::kWork); ++way) Work(way, kRounds);
    if (write(fd, &letter, 1) != 1) break;
  }
  _exit(0);
}

}  // namespace

ProgramExecutor::ProgramExecutor(const ProgramMachine& machine, bool cpus)
    : machine_(machine), cpus_(cpus) {
  // Events may send these signals. They must not end the process, and with SIG_IGN the kernel would
  // drop them.
  for (const int number : {SIGTRAP, SIGIO}) signal(number, [](int) {});
  // Programs take the signals of their slots, all of which stay pending.
  const sigset_t signals = SignalsOf(0, kProgramSlots);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_SIGPENDING, &all);
  file_.Reset(open("/dev/null", O_RDWR | O_CLOEXEC));
  port_.Reset(open(machine.port().c_str(), O_RDWR | O_CLOEXEC));
  trace_port_.Reset(open(machine.trace_port().c_str(), O_RDWR | O_CLOEXEC));
  const std::size_t page = PageSize();
  void* const at = mmap(nullptr, 2 * page * kProgramTasks, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memory_ = static_cast<std::byte*>(at);
  if (at == MAP_FAILED) _exit(kChildFailed);
  for (unsigned task = 0; task < kProgramTasks; ++task) {
    if (mprotect(memory_ + (2 * task + 1) * page, page, PROT_NONE) != 0) _exit(kChildFailed);
  }
}

ProgramExecutor::~ProgramExecutor() {
  Undo();
  munmap(memory_, 2 * PageSize() * kProgramTasks);
}

Outcome ProgramExecutor::Do(const Step& step) {
  if (step.task == 0) return DoHere(step);
  if (!tasks_) tasks_ = std::make_unique<ProgramTasks>();
  Outcome outcome;
  tasks_->Begin(step.task, [&] { outcome = DoHere(step); });
  tasks_->Wait(step.task);
  return outcome;
}

void ProgramExecutor::DoAll(std::span<const Step> steps, Outcome* outcomes) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    outcomes[i] = Do(steps[i]);
    if (steps[i].operation != Operation::kRace || steps[i].which != 0) continue;
    const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto end = std::find_if(
        begin, steps.end(), [](const Step& step) { return step.operation == Operation::kRace; });
    Race({begin, end}, std::max<std::uint64_t>(1, steps[i].value), outcomes + i + 1);
    i += static_cast<std::size_t>(end - begin);
  }
}

void ProgramExecutor::Race(std::span<const Step> steps, std::uint64_t rounds, Outcome* outcomes) {
  if (!tasks_) tasks_ = std::make_unique<ProgramTasks>();
  racing_ = true;
  for (unsigned task = kProgramTasks; task-- > 0;) {
    tasks_->Begin(task, [=, this] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
          if (steps[i].task == task) outcomes[i] = DoHere(steps[i]);
        }
      }
    });
  }
  for (unsigned task = 1; task < kProgramTasks; ++task) tasks_->Wait(task);
  racing_ = false;
  events_.AllUnknown();
}

Outcome ProgramExecutor::DoHere(const Step& step) {
  Data().clear();
  const bool alone = step.operation == Operation::kFork || step.operation == Operation::kChild ||
                     step.operation == Operation::kChildPulse || step.operation == Operation::kCpu;
  // One task alone has the child.
  if (racing_ && alone && CurrentTask() != 0) return Missing(EPERM);
  switch (step.operation) {
    case Operation::kOpen:
      return DoOpen(step);
    case Operation::kIoctl:
      return Ioctl(step);
    case Operation::kMap:
      return Map(step);
    case Operation::kMapAux:
      return MapAux(step);
    case Operation::kUnmap:
      return step.which == 0 ? Unmap(step.slot) : UnmapAux(step.slot);
    case Operation::kRead:
      return Read(step);
    case Operation::kDrain:
      return Drain(step.slot);
    case Operation::kPoll:
      return Poll(step.slot);
    case Operation::kClose:
      return Close(step.slot);
    case Operation::kTasks:
      return OutcomeOf(prctl(
          step.which == 0 ? PR_TASK_PERF_EVENTS_DISABLE : PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0));
    case Operation::kFork:
      return ForkOne();
    case Operation::kChild:
      return CommandChild(step.which);
    case Operation::kWork:
      Work(step.which, step.value);
      return OutcomeOf(0);
    case Operation::kPulse:
      return Pulse(step);
    case Operation::kBranch:
      return Branch(step);
    case Operation::kAttach:
      return Attach(step.slot);
    case Operation::kCpu:
      return Cpu(step.which == 1);
    case Operation::kAdvance:
      return Advance(step);
    case Operation::kDuplicate:
      return Duplicate(step);
    case Operation::kChildPulse:
      return ChildPulse(step);
    case Operation::kSignals:
      return Signals(step);
    case Operation::kRace:
      return OutcomeOf(0);
    case Operation::kAffinity:
      return Affinity(step.which);
    case Operation::kMapAny:
      return MapAny(step);
    case Operation::kRemap:
      return Remap(step);
    case Operation::kTail:
      return Tail(step);
  }
  return {};
}

void ProgramExecutor::End() {
  tasks_.reset();
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(child_fd_);
  }
  if (exited_ > 0) waitpid(exited_, nullptr, 0);
  child_ = exited_ = -1;
  if (cpu_offline_) Cpu(true);
}

void ProgramExecutor::Undo() {
  End();
  for (unsigned slot = 0; slot < slots_.size(); ++slot) {
    UnmapAux(slot);
    Unmap(slot);
    if (slots_[slot].fd >= 0) close(slots_[slot].fd);
  }
  slots_ = {};
  events_ = {};
  Affinity(0);
  const sigset_t signals = SignalsOf(0, kProgramSlots);
  const timespec at_once = {};
  while (sigtimedwait(&signals, nullptr, &at_once) > 0) continue;
}

std::byte* ProgramExecutor::CopyAttr(const OpenCall& call) {
  std::byte* const attr = memory_ + (2 * CurrentTask() + 1) * PageSize() - call.readable;
  std::memcpy(attr, call.attr.data(), call.readable);
  return attr;
}

void ProgramExecutor::ReplaceMissing(OpenCall& call) const {
  if (call.who == OpenWho::kCgroup && machine_.cgroup() < 0) call.who = OpenWho::kFile;
  if (call.who == OpenWho::kOtherTask && child_ < 0) call.who = OpenWho::kNoTask;
  if (call.who == OpenWho::kExited && exited_ < 0) call.who = OpenWho::kNoTask;
  if (call.cpu == OpenCpu::kOffline) call.cpu = OpenCpu::kInvalid;
  if (call.cpu != OpenCpu::kSecond) return;
  if (machine_.model(true).pmu().cpus < 2) call.cpu = OpenCpu::kFirst;
  if (cpu_offline_) call.cpu = OpenCpu::kOffline;
}

int ProgramExecutor::Pid(const OpenCall& call) const {
  switch (call.who) {
    case OpenWho::kThisTask:
      return 0;
    case OpenWho::kOtherTask:
      return child_;
    case OpenWho::kAllTasks:
      return -1;
    case OpenWho::kExited:
      return exited_;
    case OpenWho::kCgroup:
      return machine_.cgroup();
    case OpenWho::kFile:
      return file_.get();
    case OpenWho::kNoTask:
      break;
  }
  return kNoSuchPid;
}

int ProgramExecutor::CpuOf(OpenCpu cpu) const {
  switch (cpu) {
    case OpenCpu::kAny:
      return -1;
    case OpenCpu::kFirst:
      return 0;
    case OpenCpu::kSecond:
    case OpenCpu::kOffline:
      return 1;
    case OpenCpu::kInvalid:
      break;
  }
  return kBeyond;
}

Outcome ProgramExecutor::DoOpen(const Step& step) {
  OpenCall call = machine_.Bind(step.call);
  ReplaceMissing(call);
  std::optional<OpenCall> model_call;
  // The model knows one task. In a race it does not know which events are open.
  const bool known = !racing_ && (step.task == 0 || call.group == OpenGroup::kNone);
  if (known) model_call = events_.ModelCall(machine_, call, step.other);
  int group_fd = -1;
  if (call.group != OpenGroup::kNone) {
    group_fd = call.group == OpenGroup::kFile     ? file_.get()
               : call.group == OpenGroup::kClosed ? kClosedFd
                                                  : slots_[step.other].fd;
    if (group_fd < 0) group_fd = kClosedFd;
  }
  const std::byte* const attr = CopyAttr(call);
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none = {0, before.rlim_max};
  // The limit is that of all tasks.
  const bool limited = !call.descriptors_available && !racing_;
  if (limited) setrlimit(RLIMIT_NOFILE, &none);
  Outcome outcome = [&] {
    std::optional<WithoutRights> without;
    if (!step.rights) without.emplace();
    return OutcomeOf(
        syscall(SYS_perf_event_open, attr, Pid(call), CpuOf(call.cpu), group_fd, call.flags));
  }();
  if (limited) setrlimit(RLIMIT_NOFILE, &before);
  if (racing_) {
    if (outcome.error == 0) Store(static_cast<int>(outcome.value), step.slot, true);
    return outcome;
  }
  const OpenModel& model = machine_.model(step.rights);
  if (model_call && machine_.IsOpaque(call.Attr())) {
    // The driver's checks are not known, but those of the kernel come before them.
    const OpenPrediction prediction = model.PredictBeforePmu(*model_call);
    outcome.known = prediction.check != nullptr;
    outcome.predicted = prediction.error;
    outcome.check = prediction.check;
  } else if (model_call) {
    const OpenPrediction prediction = model.Predict(*model_call);
    outcome.known = true;
    outcome.predicted = prediction.error;
    outcome.check = prediction.check;
  }
  if (outcome.error != 0) return outcome;
  Store(static_cast<int>(outcome.value), step.slot,
        (call.Attr().read_format & PERF_FORMAT_GROUP) != 0);
  events_.Opened(machine_, call, step.slot, step.other);
  if (step.task != 0) events_.Modified(step.slot);
  return outcome;
}

void ProgramExecutor::Store(int fd, unsigned slot, bool grouped) {
  UnmapAux(slot);
  Unmap(slot);
  {
    const std::lock_guard<std::mutex> held(lock_);
    std::swap(fd, slots_[slot].fd);
    slots_[slot].grouped = grouped;
  }
  if (fd >= 0) close(fd);
}

Outcome ProgramExecutor::Ioctl(const Step& step) {
  const ProgramIoctl& ioctl_row = ProgramIoctls()[step.which];
  const int fd = slots_[step.slot].fd;
  std::uint64_t value[4] = {step.value, 0, 0, 0};
  char filter[] = "filter 0x1000/0x1000";
  unsigned long arg = step.value;
  switch (ioctl_row.argument) {
    case ProgramIoctl::Argument::kValue:
      break;
    case ProgramIoctl::Argument::kPointer:
      value[0] = ioctl_row.request == PERF_EVENT_IOC_QUERY_BPF ? 2 : step.value;
      arg = reinterpret_cast<unsigned long>(value);
      break;
    case ProgramIoctl::Argument::kEvent:
      arg = static_cast<unsigned long>(static_cast<long>(slots_[step.other].fd));
      if (!racing_) events_.Modified(step.other);
      if (!racing_) events_.Modified(step.slot);
      break;
    case ProgramIoctl::Argument::kFilter:
      arg = reinterpret_cast<unsigned long>(filter);
      break;
    case ProgramIoctl::Argument::kBpf:
      arg = static_cast<unsigned long>(static_cast<long>(Bpf()));
      break;
    case ProgramIoctl::Argument::kAttr: {
      OpenCall call = machine_.model(true).ValidCall();
      call.Edit([&step](perf_event_attr& attr) {
        attr.type = PERF_TYPE_BREAKPOINT;
        attr.bp_type = 1 + static_cast<unsigned>(step.value % 3);
        attr.bp_addr = step.value & ~7ull & 0xff'ffff;
        attr.bp_len = 8;
      });
      arg = reinterpret_cast<unsigned long>(CopyAttr(call));
      if (!racing_) events_.Modified(step.slot);
      break;
    }
  }
  const Outcome outcome = OutcomeOf(ioctl(fd, ioctl_row.request, arg));
  if (ioctl_row.request == PERF_EVENT_IOC_ID) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(value);
    Data().assign(bytes, bytes + sizeof(value[0]));
  }
  return outcome;
}

Outcome ProgramExecutor::Read(const Step& step) {
  std::vector<std::byte>& data = Data();
  data.resize(std::min<std::size_t>(step.value, kProgramWork));
  const Outcome outcome = OutcomeOf(read(slots_[step.slot].fd, data.data(), data.size()));
  data.resize(outcome.error == 0 ? static_cast<std::size_t>(outcome.value) : 0);
  return outcome;
}

Outcome ProgramExecutor::Poll(unsigned slot) {
  pollfd poll_fd = {slots_[slot].fd, POLLIN | POLLRDNORM, 0};
  const Outcome outcome = OutcomeOf(poll(&poll_fd, 1, 0));
  Data().assign(1, static_cast<std::byte>(poll_fd.revents & 0xff));
  return outcome;
}

Outcome ProgramExecutor::Duplicate(const Step& step) {
  const Slot& to = slots_[step.other];
  if (slots_[step.slot].fd < 0) return Missing(EBADF);
  if (to.fd >= 0 || to.ring != nullptr || to.aux != nullptr) return Missing(EBUSY);
  const Outcome outcome = OutcomeOf(fcntl(slots_[step.slot].fd, F_DUPFD_CLOEXEC, 0));
  if (outcome.error != 0) return outcome;
  Store(static_cast<int>(outcome.value), step.other, slots_[step.slot].grouped);
  if (!racing_) events_.Duplicated(step.slot, step.other);
  return outcome;
}

Outcome ProgramExecutor::Close(unsigned at) {
  int fd = -1;
  {
    const std::lock_guard<std::mutex> held(lock_);
    std::swap(fd, slots_[at].fd);
  }
  const Outcome outcome = OutcomeOf(fd < 0 ? (errno = EBADF, -1) : close(fd));
  // If the ring buffer is still mapped, the event stays alive.
  if (!racing_) events_.Closed(at);
  return outcome;
}

Outcome ProgramExecutor::ForkOne() {
  if (child_ > 0) return Missing(EBUSY);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return OutcomeOf(-1);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    RunChildCommands(ends[1], port_.get());
  }
  const Outcome outcome = OutcomeOf(pid);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return outcome;
  }
  child_ = pid;
  child_fd_ = ends[0];
  return outcome;
}

Outcome ProgramExecutor::CommandChild(unsigned which) {
  if (child_ < 0) return Missing(ECHILD);
  char letter = static_cast<char>('0' + which);
  if (send(child_fd_, &letter, 1, MSG_NOSIGNAL) != 1) letter = '0';
  const bool goes_on = letter == '2' && read(child_fd_, &letter, 1) == 1;
  if (goes_on) return OutcomeOf(0);
  siginfo_t info = {};
  const Outcome outcome =
      OutcomeOf(waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT));
  if (exited_ > 0) waitpid(exited_, nullptr, 0);
  exited_ = child_;
  child_ = -1;
  close(child_fd_);
  if (!racing_) events_.AllModified();
  return outcome;
}

Outcome ProgramExecutor::Pulse(const Step& step) {
  return PulseOf(port_.get(), step.which, step.value);
}

Outcome ProgramExecutor::ChildPulse(const Step& step) {
  if (child_ < 0) return Missing(ECHILD);
  const std::array<std::uint8_t, 3> command = {kPulseLetter, static_cast<std::uint8_t>(step.which),
                                               static_cast<std::uint8_t>(step.value - 1)};
  char answer = 0;
  if (send(child_fd_, command.data(), command.size(), MSG_NOSIGNAL) != ssize_t{command.size()} ||
      read(child_fd_, &answer, 1) != 1) {
    return Missing(EPIPE);
  }
  return answer == kPulseLetter ? OutcomeOf(0) : Missing(EIO);
}

Outcome ProgramExecutor::Advance(const Step& step) {
  if (port_.get() < 0) return Missing(ENXIO);
  refpmu_advance advance = {};
  advance.size = sizeof(advance);
  advance.cpu = REFPMU_CPU_CURRENT;
  advance.privilege = step.which == 0 ? REFPMU_PRIV_USER : REFPMU_PRIV_KERNEL;
  advance.ticks = step.value * kProgramTicks;
  return OutcomeOf(ioctl(port_.get(), REFPMU_IOC_ADVANCE, &advance));
}

Outcome ProgramExecutor::Signals(const Step& step) {
  if (step.which == 0) {
    const int fd = slots_[step.slot].fd;
    const f_owner_ex owner = {F_OWNER_TID, gettid()};
    if (fcntl(fd, F_SETSIG, SIGRTMIN + static_cast<int>(step.slot)) != 0 ||
        fcntl(fd, F_SETOWN_EX, &owner) != 0) {
      return OutcomeOf(-1);
    }
    return OutcomeOf(fcntl(fd, F_SETFL, O_ASYNC));
  }
  const sigset_t signals = SignalsOf(step.slot, 1);
  const timespec at_once = {};
  siginfo_t info = {};
  long count = 0;
  while (sigtimedwait(&signals, &info, &at_once) > 0) ++count;
  Data().assign(1, static_cast<std::byte>(info.si_code));
  return OutcomeOf(count);
}

Outcome ProgramExecutor::Branch(const Step& step) {
  constexpr std::uint64_t kUser = 0x40'1000, kKernel = 0xffff'ffff'8100'0000, kApart = 0x40;
  constexpr unsigned kKinds = 7;
  const Fd& port = step.which == 0 ? port_ : trace_port_;
  if (port.get() < 0) return Missing(ENXIO);
  std::array<refpmu_branch_entry, kProgramWork> entries = {};
  const std::uint64_t count = std::min<std::uint64_t>(step.value, entries.size());
  for (unsigned i = 0; i < count; ++i) {
    refpmu_branch_entry& entry = entries[i];
    // Uses all kinds and privileges equally often.
    entry.privilege = (step.value + i) % 2 == 0 ? REFPMU_PRIV_USER : REFPMU_PRIV_KERNEL;
    entry.from = (entry.privilege == REFPMU_PRIV_USER ? kUser : kKernel) + i * kApart;
    entry.to = entry.from + kApart;
    entry.kind = i % kKinds;
  }
  refpmu_branches branches = {};
  branches.size = sizeof(branches);
  branches.cpu = REFPMU_CPU_CURRENT;
  branches.entries = reinterpret_cast<std::uint64_t>(entries.data());
  branches.count = static_cast<std::uint32_t>(count);
  return OutcomeOf(ioctl(port.get(), REFPMU_IOC_BRANCHES, &branches));
}

Outcome ProgramExecutor::Attach(unsigned slot) {
  return OutcomeOf(ioctl(slots_[slot].fd, PERF_EVENT_IOC_SET_BPF, Bpf()));
}

Outcome ProgramExecutor::Cpu(bool on) {
  if (!cpus_) return Missing(EPERM);
  const Fd fd(open(kSecondCpu, O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return OutcomeOf(-1);
  const Outcome outcome = OutcomeOf(write(fd.get(), on ? "1" : "0", 1));
  if (outcome.error == 0) cpu_offline_ = !on;
  if (!racing_) events_.AllModified();
  return outcome;
}

Outcome ProgramExecutor::Affinity(unsigned which) const {
  cpu_set_t set;
  CPU_ZERO(&set);
  constexpr unsigned kEach = 0, kFirst = 1;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (which == kEach || cpu == which - kFirst) CPU_SET(cpu, &set);
  }
  return OutcomeOf(sched_setaffinity(0, sizeof(set), &set));
}

}  // namespace pmuconf
