// SPDX-License-Identifier: Apache-2.0
// The environment for calls of the errno model: the tasks, events and descriptors that a call
// names, and the model of this kernel and this target.
#ifndef PMUCONF_ORACLE_OPEN_WORLD_H_
#define PMUCONF_ORACLE_OPEN_WORLD_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oracle/open_machine.h"
#include "oracle/open_model.h"
#include "perf/ring.h"
#include "system/cgroup.h"
#include "system/cpu.h"
#include "system/sysctl.h"
#include "target/target.h"

namespace pmuconf {

// The target's PMU, with the errno of each check of the model that the target file states.
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

// Drops all privileges of this process while the object lives. The saved user id stays root, so
// that the destructor can restore them.
class Unprivileged {
 public:
  Unprivileged() {
    constexpr uid_t kNobody = 65534;
    if (setresuid(kNobody, kNobody, 0) != 0) throw BrokenErrno("setresuid", errno);
  }
  Unprivileged(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (setresuid(0, 0, 0) != 0) std::abort();
  }
};

class OpenWorld {
 public:
  OpenWorld() : OpenWorld(SystemHere()) {}
  explicit OpenWorld(OpenSystem system) : OpenWorld(OpenModel(std::move(system), PmuHere())) {}
  explicit OpenWorld(OpenModel model) : model_(std::move(model)) {
    // A PMU that allows only one event leaves no space for these events, so they are software
    // events.
    spec_ = model_.pmu().Refuses("exclusive") ? Software(PERF_COUNT_SW_DUMMY)
            : target().Claims(Cap::kTrace)    ? target().Trace()
                                              : target().AnyEvent();
    FamilyOf(model_.Good());
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
  const Event& leader() const {
    const OpenCall good = model_.Good();
    return families_.at({good.group_type, good.group_who, good.group_cpu}).leader;
  }

  // Makes the call and closes the event that it opened. Returns the errno, or 0. Without
  // `administrator` the call is made without any privileges.
  int Make(const OpenCall& call, bool administrator = true) {
    const Event other = OpenOtherEvent(call.other);
    const std::byte* const attr = Place(call);
    const int pid = Pid(call.who);
    const int cpu = Cpu(call.cpu);
    const int group_fd = GroupFd(call);
    rlimit before = {};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none = {0, before.rlim_max};
    if (!call.descriptors_left) setrlimit(RLIMIT_NOFILE, &none);
    const SysResult result = [&] {
      std::optional<Unprivileged> without;
      if (!administrator) without.emplace();
      return TryOpenRaw(attr, pid, cpu, group_fd, call.flags);
    }();
    if (!call.descriptors_left) setrlimit(RLIMIT_NOFILE, &before);
    if (result.ok()) {
      close(static_cast<int>(result.value));
      Renew(call);
    }
    return result.error;
  }

  // Calls PERF_EVENT_IOC_MODIFY_ATTRIBUTES on `event`. Returns the errno, or 0.
  int Modify(const Event& event, const OpenCall& call) {
    const auto arg = reinterpret_cast<unsigned long>(Place(call));
    return event.TryIoctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, arg).error;
  }

 private:
  std::size_t Page() const { return model_.system().page_size; }

  // Events of one PMU that count the same task or the same CPU.
  struct Family {
    Event leader, sibling, buffer;
    std::optional<Ring> ring;
  };

  Family& FamilyOf(const OpenCall& call) {
    Family& family = families_[{call.group_type, call.group_who, call.group_cpu}];
    if (family.leader.fd() >= 0) return family;
    const auto open = [&](int group_fd) {
      return Open(SpecOf(call.group_type),
                  {.pid = Pid(call.group_who), .cpu = Cpu(call.group_cpu), .group_fd = group_fd});
    };
    family.leader = open(-1);
    family.sibling = open(family.leader.fd());
    family.buffer = open(-1);
    family.ring.emplace(family.buffer, 1);
    return family;
  }

  EventSpec SpecOf(std::uint32_t type) const {
    EventSpec spec = spec_;
    for (const OpenPmu& pmu : model_.pmus()) {
      if (pmu.type != type || type == model_.pmu().type) continue;
      spec = {};
      spec.type = type;
      spec.config = pmu.config;
    }
    return spec;
  }

  // A software group with a hardware member stays in the context of that PMU. So this group is
  // replaced.
  void Renew(const OpenCall& call) {
    const bool grouped =
        call.group != OpenGroup::kNone && (call.flags & PERF_FLAG_FD_NO_GROUP) == 0;
    if (grouped && call.group_software && call.Attr().type != call.group_type) {
      families_.erase({call.group_type, call.group_who, call.group_cpu});
      full_.clear();
      crowded_.clear();
    }
  }

  // The leader of a group whose reading has no space for another member. The first call opens the
  // group.
  int FullLeader() {
    constexpr std::uint64_t kLong = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
    constexpr rlim_t kDescriptors = 4'096;
    if (full_.empty()) {
      rlimit limit = {};
      getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
      setrlimit(RLIMIT_NOFILE, &limit);
      const OpenCall good = model_.Good();
      OpenOptions options = {
          .pid = Pid(good.group_who), .cpu = Cpu(good.group_cpu), .read_format = kLong};
      full_.push_back(Open(spec_, options));
      options.group_fd = full_.front().fd();
      const EventSpec dummy = Software(PERF_COUNT_SW_DUMMY);
      perf_event_attr attr = MakeAttr(dummy, options);
      while (true) {
        OpenResult next = TryOpen(attr, options.pid, options.cpu, options.group_fd, options.flags);
        if (next.error == E2BIG) break;
        if (next.error != 0) throw BrokenErrno("opening a member of a group", next.error);
        full_.push_back(std::move(next.event));
      }
    }
    return full_.front().fd();
  }

  // The leader of a group that takes all general counters, if its PMU has counters.
  int CrowdedLeader() {
    if (crowded_.empty()) {
      const OpenCall good = model_.Good();
      OpenOptions options = {.pid = Pid(good.group_who), .cpu = Cpu(good.group_cpu)};
      crowded_.push_back(Open(spec_, options));
      options.group_fd = crowded_.front().fd();
      options.disabled = false;
      while (crowded_.size() < std::max(target().general(), 2u)) {
        crowded_.push_back(Open(spec_, options));
      }
    }
    return crowded_.front().fd();
  }

  Event OpenOtherEvent(OpenOther other) const {
    if (other == OpenOther::kNone) return {};
    perf_event_attr attr = model_.Good().Attr();
    const bool task = other == OpenOther::kOnTask;
    return Open(attr, task ? 0 : -1, task ? -1 : target().Cpu(0));
  }

  // Copies the attr so that only its first `readable` bytes are in readable memory.
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

  int Cpu(OpenCpu cpu) const {
    constexpr int kBeyond = 1 << 20;
    switch (cpu) {
      case OpenCpu::kAny:
        return -1;
      case OpenCpu::kFirst:
        return target().Cpu(0);
      case OpenCpu::kSecond:
        return target().Cpu(1);
      case OpenCpu::kOffline:
        return model_.system().offline_cpu < 0 ? kBeyond : model_.system().offline_cpu;
      case OpenCpu::kBeyond:
        break;
    }
    return kBeyond;
  }

  int GroupFd(const OpenCall& call) {
    constexpr int kClosedFd = 99'999;
    switch (call.group) {
      case OpenGroup::kNone:
        return -1;
      case OpenGroup::kFile:
        return file_.get();
      case OpenGroup::kLeader:
        return FamilyOf(call).leader.fd();
      case OpenGroup::kSibling:
        return FamilyOf(call).sibling.fd();
      case OpenGroup::kBuffer:
        return FamilyOf(call).buffer.fd();
      case OpenGroup::kDead:
        return dead_.fd();
      case OpenGroup::kFull:
        return FullLeader();
      case OpenGroup::kCrowded:
        return CrowdedLeader();
      case OpenGroup::kClosed:
        break;
    }
    return kClosedFd;
  }

  OpenModel model_;
  EventSpec spec_;
  std::map<std::tuple<std::uint32_t, OpenWho, OpenCpu>, Family> families_;
  std::vector<Event> full_, crowded_;  // a leader and its members
  Event dead_;
  Child alive_{[] { return 0; }};
  Child exited_{[] { return 0; }};
  CgroupRoot cgroups_;
  Fd cgroup_ = OpenFolder(cgroups_.path());
  Fd file_;
  std::byte* memory_ = nullptr;
};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_WORLD_H_
