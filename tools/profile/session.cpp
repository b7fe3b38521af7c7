// SPDX-License-Identifier: Apache-2.0
// The main loop: waits, processes samples and records, tracks CPUs, ends.
#include "tools/profile/session.h"

#include <bpf/libbpf.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iostream>
#include <memory>

#include "system/broken.h"
#include "system/cpu.h"
#include "system/sysfs.h"
#include "tools/profile/bpf_side.h"
#include "tools/profile/collector.h"
#include "tools/profile/cpu_events.h"
#include "tools/profile/event_name.h"
#include "tools/profile/report.h"
#include "tools/profile/symbolizer.h"

namespace pmuconf::profile {
namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;
// The maximum wait, and the delay after which items are processed, so that older ones can arrive.
constexpr int kTick_ms = 100;
constexpr std::uint64_t kSettle_ns = 100'000'000;
constexpr int kNotStarted = 127;  // the exit status of shells for a command that did not start

std::uint64_t Now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond_ns +
         static_cast<std::uint64_t>(now.tv_nsec);
}

sigset_t EndingSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

// Blocks SIGINT and similar signals and reads them from a signalfd during its lifetime. After that,
// a second signal kills the program.
class Signals {
 public:
  Signals() {
    const sigset_t set = EndingSignals();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (fd_.get() < 0) throw BrokenErrno("signalfd", errno);
  }
  Signals(const Signals&) = delete;
  ~Signals() { Release(); }

  int fd() const { return fd_.get(); }
  // Discards pending signals and unblocks them.
  void Release() {
    signalfd_siginfo info;
    while (read(fd_.get(), &info, sizeof(info)) > 0) {
    }
    const sigset_t set = EndingSignals();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
  }

 private:
  Fd fd_;
};

// Many CPUs and threads need many file descriptors.
void RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::set<std::uint32_t> ThreadsOf(int pid) {
  std::set<std::uint32_t> tids;
  for (const std::string& name : ListFolder("/proc/" + std::to_string(pid) + "/task")) {
    std::uint32_t tid = 0;
    std::from_chars(name.data(), name.data() + name.size(), tid);
    tids.insert(tid);
  }
  if (tids.empty()) throw UserError("-p " + std::to_string(pid) + ": there is no such process");
  return tids;
}

std::unique_ptr<Child> Start(const std::vector<std::string>& command) {
  return std::make_unique<Child>([&command] {
    const sigset_t set = EndingSignals();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    std::vector<char*> argv;
    for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "profile: cannot start '%s': %s\n", argv[0], std::strerror(errno));
    return kNotStarted;
  });
}

Tasks TasksOf(const Options& options, const Child* child) {
  Tasks tasks;
  tasks.all_tasks = options.SystemWide();
  tasks.children = options.tids.empty();
  tasks.on_exec = child != nullptr;
  if (child != nullptr) tasks.tids.insert(static_cast<std::uint32_t>(child->pid()));
  for (const int pid : options.pids) tasks.tids.merge(ThreadsOf(pid));
  for (const int tid : options.tids) tasks.tids.insert(static_cast<std::uint32_t>(tid));
  return tasks;
}

class Session {
 public:
  Session(const Options& options, std::ostream& out)
      : options_(options),
        out_(out),
        symbolizer_(stacks_, options.inlines),
        collector_(stacks_, symbolizer_, options.format == Format::kStacks ? &out : nullptr) {}

  int Run() {
    RaiseFileLimit();
    Signals signals;
    // Resolve the event name first, so that an invalid one starts no process.
    SampledEvent requested = RequestedEvent();
    if (!options_.command.empty()) child_ = Start(options_.command);
    BpfSide bpf(options_, libbpf_num_possible_cpus(),
                [this](std::span<const std::byte> bytes) { collector_.Add(bytes); });
    CpuEvents events(options_, requested, TasksOf(options_, child_.get()), bpf);
    events.UpdateCpus(OnlineCpus());
    if (events.event().name != options_.event) PrintFallback();
    if (!symbolizer_.KernelReadable() && !options_.user_only) {
      std::cerr << "profile: /proc/kallsyms hides addresses (kernel.kptr_restrict): kernel frames "
                   "have no names\n";
    }
    facts_.event = events.event().name;
    facts_.cpus = events.cpus();
    events.Enable();
    // The kernel reports all mappings from here on.
    if (options_.SystemWide()) symbolizer_.ReadAllMappings();
    const std::uint64_t begin_ns = Now_ns();
    if (child_ != nullptr) child_->Go();
    Loop(signals, bpf, events, begin_ns);
    events.Stop();
    facts_.seconds = static_cast<double>(Now_ns() - begin_ns) / kSecond_ns;
    DrainAll(bpf, events, ~std::uint64_t{0});
    facts_.lost = bpf.Lost() + collector_.broken();
    signals.Release();
    const int status = EndChild();
    Write();
    return status == kNotStarted ? kNotStarted : 0;
  }

 private:
  SampledEvent RequestedEvent() {
    try {
      return FindEvent(options_.event, kEventSource);
    } catch (const UserError& error) {
      if (!options_.fallback) throw;
      return CpuClock();
    }
  }

  void PrintFallback() const {
    std::cerr << "profile: event '" << options_.event
              << "' is not supported: sampling cpu-clock instead (--fallback)\n";
  }

  void DrainAll(BpfSide& bpf, CpuEvents& events, std::uint64_t upto_ns) {
    bpf.Drain();
    events.Drain([this](const SideRecord& record) { collector_.Add(record); });
    collector_.ProcessUntil(upto_ns, [&](const SideRecord& record) { events.UpdateTasks(record); });
  }

  void Loop(const Signals& signals, BpfSide& bpf, CpuEvents& events, std::uint64_t begin_ns) {
    const std::uint64_t end_ns =
        options_.seconds == 0
            ? ~std::uint64_t{0}
            : begin_ns + static_cast<std::uint64_t>(std::llround(options_.seconds * kSecond_ns));
    // Readable when the child has exited.
    const Fd ended(child_ == nullptr ? -1
                                     : static_cast<int>(syscall(SYS_pidfd_open, child_->pid(), 0)));
    while (!events.AllTasksExited()) {
      const std::uint64_t now_ns = Now_ns();
      if (now_ns >= end_ns) return;
      std::vector<pollfd> fds = {{signals.fd(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
      fds.push_back({bpf.wait_fd(), POLLIN, 0});
      for (const int fd : events.wait_fds()) fds.push_back({fd, POLLIN, 0});
      const auto left_ms = static_cast<int>(
          std::min<std::uint64_t>(kTick_ms, (end_ns - now_ns + 999'999) / 1'000'000));
      if (poll(fds.data(), fds.size(), left_ms) < 0 && errno != EINTR) {
        throw BrokenErrno("poll", errno);
      }
      DrainAll(bpf, events, Now_ns() - kSettle_ns);
      if (fds[0].revents != 0 || fds[1].revents != 0) return;
      FollowCpus(events);
    }
  }

  void FollowCpus(CpuEvents& events) {
    const auto online = OnlineCpus();
    if (online == online_) return;
    events.UpdateCpus(online);
    online_ = online;
    for (const int cpu : events.cpus()) {
      if (std::find(facts_.cpus.begin(), facts_.cpus.end(), cpu) == facts_.cpus.end()) {
        facts_.cpus.push_back(cpu);
      }
    }
  }

  // Asks a command that is still running to end.
  int EndChild() {
    if (child_ == nullptr) return 0;
    kill(child_->pid(), SIGTERM);
    return child_->Wait();
  }

  void Write() {
    facts_.frequency = options_.frequency;
    facts_.period = options_.period;
    facts_.throttled = collector_.throttled();
    facts_.records_lost = collector_.records_lost();
    const Report report = {.facts = facts_, .stacks = stacks_, .modules = symbolizer_.Modules()};
    switch (options_.format) {
      case Format::kStacks:
        break;
      case Format::kFolded:
        WriteFolded(report, out_);
        break;
      case Format::kJson:
        WriteJson(report, out_);
        break;
      case Format::kSvg:
        WriteSvg(report, out_);
        break;
      case Format::kTop:
        WriteTop(report, out_);
        break;
    }
    out_.flush();
    if (!out_) throw UserError("the profile cannot be written to " + options_.out);
    std::cerr << "profile: " << Summary(facts_, stacks_.Total()) << '\n';
  }

  const Options& options_;
  std::ostream& out_;
  StackStore stacks_;
  Symbolizer symbolizer_;
  Collector collector_;
  std::unique_ptr<Child> child_;
  std::vector<int> online_;
  Facts facts_;
};

}  // namespace

int RunSession(const Options& options, std::ostream& out) { return Session(options, out).Run(); }

}  // namespace pmuconf::profile
