// SPDX-License-Identifier: Apache-2.0
// A machine on which the calls of the errno model can be made: the tasks, events and descriptors
// that they name, and the model of this kernel and this target.
#ifndef PMUCONF_CASES_ERRNO_OPEN_WORLD_H_
#define PMUCONF_CASES_ERRNO_OPEN_WORLD_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "cases/cgroup.h"
#include "cases/common.h"
#include "pmuconf/open_model.h"
#include "pmuconf/ring.h"
#include "pmuconf/sysctl.h"

namespace pmuconf {

// The kernel that runs here, for root.
inline OpenSystem SystemHere() {
  struct Registers {
    std::uint64_t known = ~0ull;
    std::uint64_t extended = 0;
  };
  static const std::map<std::string, Registers> kRegisters = {
      {"x86_64", {0xffff'ffff'00ff'0fff, 0xffff'ffff'0000'0000}},
      {"aarch64", {0x1'ffff'ffff, 0}},
      {"riscv64", {0xffff'ffff, 0}},
  };
  utsname names = {};
  uname(&names);
  const auto registers = kRegisters.find(names.machine);
  OpenSystem system;
  system.release = names.release;
  system.page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (registers != kRegisters.end()) {
    system.known_registers = registers->second.known;
    system.extended_registers = registers->second.extended;
  }
  system.max_sample_rate = std::stoull(Sysctl::Get("kernel/perf_event_max_sample_rate"));
  system.max_stack = std::stoi(Sysctl::Get("kernel/perf_event_max_stack"));
  system.paranoid = std::stoi(Sysctl::Get("kernel/perf_event_paranoid"));
  return system;
}

// The target, with all that its file says of the checks of the model.
inline OpenPmu PmuHere() {
  const EventSpec spec = target().Claims(Cap::kTrace) ? target().Trace() : target().AnyEvent();
  OpenPmu pmu;
  pmu.type = spec.type;
  pmu.config = spec.config;
  pmu.config1 = spec.config1;
  pmu.config2 = spec.config2;
  pmu.tasks = target().Claims(Cap::kTasks);
  pmu.cpu_local = target().Claims(Cap::kCpuLocal);
  pmu.cpus = target().Cpus().size();
  for (const OpenCheck& check : OpenChecks()) {
    const std::string choice(check.choice);
    if (const auto error = target().refusal(choice)) pmu.refusals[choice] = *error;
  }
  return pmu;
}

inline Fd OpenFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw BrokenErrno("opening " + path, errno);
  return Fd(fd);
}

class OpenWorld {
 public:
  OpenWorld() : OpenWorld(SystemHere()) {}
  explicit OpenWorld(OpenSystem system) : model_(std::move(system), PmuHere()) {
    // Where only one event of the PMU can be there, the others are of software.
    spec_ = model_.pmu().Refuses("exclusive") ? Software(PERF_COUNT_SW_DUMMY)
            : target().Claims(Cap::kTrace)    ? target().Trace()
                                              : target().AnyEvent();
    leader_ = OpenHere(-1);
    sibling_ = OpenHere(leader_.fd());
    buffer_ = OpenHere(-1);
    ring_.emplace(buffer_, 1);
    file_.Reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (model_.pmu().tasks) {
      Child passing([] { return 0; });
      dead_ = Open(spec_, {.pid = passing.pid()});
      passing.Go();
      passing.Wait();
    }
    exited_.Go();
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(exited_.pid()), &info, WEXITED | WNOWAIT) != 0)
      throw BrokenErrno("waitid", errno);
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, 2 * Page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (static_cast<void*>(memory_) == MAP_FAILED) throw BrokenErrno("mmap", errno);
    if (mprotect(memory_ + Page(), Page(), PROT_NONE) != 0) throw BrokenErrno("mprotect", errno);
  }
  OpenWorld(const OpenWorld&) = delete;
  ~OpenWorld() { munmap(memory_, 2 * Page()); }

  const OpenModel& model() const { return model_; }
  const Event& leader() const { return leader_; }

  // Makes the call and closes what it opened: the errno, or 0.
  int Make(const OpenCall& call) {
    const Event other = OpenOtherEvent(call.other);
    const std::byte* const attr = Place(call);
    const int pid = Pid(call.who);
    const int cpu = Cpu(call.cpu);
    const int group_fd = GroupFd(call.group);
    rlimit before = {};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none = {0, before.rlim_max};
    if (!call.descriptors_left) setrlimit(RLIMIT_NOFILE, &none);
    const SysResult result = TryOpenRaw(attr, pid, cpu, group_fd, call.flags);
    if (!call.descriptors_left) setrlimit(RLIMIT_NOFILE, &before);
    const Fd opened(result.ok() ? static_cast<int>(result.value) : -1);
    return result.error;
  }

  // PERF_EVENT_IOC_MODIFY_ATTRIBUTES on `event`: the errno, or 0.
  int Modify(const Event& event, const OpenCall& call) {
    const auto arg = reinterpret_cast<unsigned long>(Place(call));
    return event.TryIoctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, arg).error;
  }

 private:
  std::size_t Page() const { return model_.system().page_size; }

  Event OpenHere(int group_fd) const {
    const OpenCall good = model_.Good();
    return Open(spec_,
                {.pid = Pid(good.group_who), .cpu = Cpu(good.group_cpu), .group_fd = group_fd});
  }

  Event OpenOtherEvent(OpenOther other) const {
    if (other == OpenOther::kNone) return {};
    perf_event_attr attr = model_.Good().Attr();
    const bool task = other == OpenOther::kOnTask;
    return Open(attr, task ? 0 : -1, task ? -1 : target().Cpu(0));
  }

  // The attr, so that only its first `readable` bytes can be read.
  std::byte* Place(const OpenCall& call) {
    std::byte* const attr = memory_ + Page() - call.readable;
    std::memcpy(attr, call.attr.data(), call.readable);
    return attr;
  }

  int Pid(OpenWho who) const {
    constexpr int kNoSuchPid = 0x3fff'ffff;
    switch (who) {
      case OpenWho::kThisTask:
        return 0;
      case OpenWho::kOtherTask:
        return alive_.pid();
      case OpenWho::kEveryone:
        return -1;
      case OpenWho::kNobody:
        return kNoSuchPid;
      case OpenWho::kExited:
        return exited_.pid();
      case OpenWho::kCgroup:
        return cgroup_.get();
      case OpenWho::kFile:
        return file_.get();
    }
    return kNoSuchPid;
  }

  static int Cpu(OpenCpu cpu) {
    constexpr int kBeyond = 1 << 20;
    switch (cpu) {
      case OpenCpu::kAny:
        return -1;
      case OpenCpu::kFirst:
        return target().Cpu(0);
      case OpenCpu::kSecond:
        return target().Cpu(1);
      case OpenCpu::kOffline:
      case OpenCpu::kBeyond:
        break;
    }
    return kBeyond;
  }

  int GroupFd(OpenGroup group) const {
    constexpr int kClosedFd = 999;
    switch (group) {
      case OpenGroup::kNone:
        return -1;
      case OpenGroup::kFile:
        return file_.get();
      case OpenGroup::kLeader:
        return leader_.fd();
      case OpenGroup::kSibling:
        return sibling_.fd();
      case OpenGroup::kBuffer:
        return buffer_.fd();
      case OpenGroup::kDead:
        return dead_.fd();
      case OpenGroup::kClosed:
      case OpenGroup::kFull:
        break;
    }
    return kClosedFd;
  }

  OpenModel model_;
  EventSpec spec_;
  Event leader_, sibling_, buffer_, dead_;
  std::optional<Ring> ring_;
  Child alive_{[] { return 0; }};
  Child exited_{[] { return 0; }};
  CgroupRoot cgroups_;
  Fd cgroup_ = OpenFolder(cgroups_.path());
  Fd file_;
  std::byte* memory_ = nullptr;
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_ERRNO_OPEN_WORLD_H_
