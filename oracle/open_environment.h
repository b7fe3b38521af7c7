// SPDX-License-Identifier: Apache-2.0
// The environment for calls of the errno model: the tasks, events and descriptors that a call
// names, and the model of this kernel and this target.
#ifndef PMUCONF_ORACLE_OPEN_ENVIRONMENT_H_
#define PMUCONF_ORACLE_OPEN_ENVIRONMENT_H_

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
inline OpenPmu TargetPmu() {
  const EventSpec spec = target().Claims(Cap::kTrace) ? target().Trace() : target().AnyEvent();
  OpenPmu pmu;
  pmu.type = spec.type;
  pmu.config = spec.config;
  pmu.config1 = spec.config1;
  pmu.config2 = spec.config2;
  pmu.bp_type = spec.bp_type;
  pmu.tasks = target().Claims(Cap::kTasks);
  pmu.cpu_local = target().Claims(Cap::kTasks);
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
    constexpr uid_t kOtherUser = 65534;
    if (setresuid(kOtherUser, kOtherUser, 0) != 0) throw BrokenErrno("setresuid", errno);
  }
  Unprivileged(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (setresuid(0, 0, 0) != 0) std::abort();
  }
};

class OpenEnvironment {
 public:
  OpenEnvironment() : OpenEnvironment(LocalSystem()) {}
  explicit OpenEnvironment(OpenSystem system)
      : OpenEnvironment(OpenModel(std::move(system), TargetPmu())) {}
  explicit OpenEnvironment(OpenModel model) : model_(std::move(model)) {
    // A PMU that allows only one event, or one in a group, leaves no space for these events, so
    // they are software events.
    const bool single = !target().Claims(Cap::kTrace) && !target().Claims(Cap::kGroups);
    spec_ = single || model_.pmu().Refuses("exclusive") ? Software(PERF_COUNT_SW_DUMMY)
            : target().Claims(Cap::kTrace)              ? target().Trace()
                                                        : target().AnyEvent();
    EventsFor(model_.ValidCall());
    file_.Reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (model_.pmu().tasks) {
      Child exiting([] { return 0; });
      exited_task_event_ = Open(spec_, {.pid = exiting.pid()});
      exiting.Go();
      exiting.Wait();
    }
    exited_task_.Go();
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(exited_task_.pid()), &info, WEXITED | WNOWAIT) != 0)
      throw BrokenErrno("waitid", errno);
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, 2 * Page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (static_cast<void*>(memory_) == MAP_FAILED) throw BrokenErrno("mmap", errno);
    if (mprotect(memory_ + Page(), Page(), PROT_NONE) != 0) throw BrokenErrno("mprotect", errno);
  }
  OpenEnvironment(const OpenEnvironment&) = delete;
  ~OpenEnvironment() { munmap(memory_, 2 * Page()); }

  const OpenModel& model() const { return model_; }
  const Event& leader() const {
    const OpenCall valid = model_.ValidCall();
    return event_sets_.at({valid.group_type, valid.group_who, valid.group_cpu}).leader;
  }

  // Makes the call and closes the event that it opened. Returns the errno, or 0. Without
  // `administrator` the call is made without any privileges.
  int Execute(const OpenCall& call, bool administrator = true) {
    const Event other = OpenOtherEvent(call.other);
    const std::byte* const attr = CopyAttr(call);
    const int pid = Pid(call.who);
    const int cpu = Cpu(call.cpu);
    const int group_fd = GroupFd(call);
    rlimit before = {};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none = {0, before.rlim_max};
    if (!call.descriptors_available) setrlimit(RLIMIT_NOFILE, &none);
    const SysResult result = [&] {
      std::optional<Unprivileged> without;
      if (!administrator) without.emplace();
      return TryOpenRaw(attr, pid, cpu, group_fd, call.flags);
    }();
    if (!call.descriptors_available) setrlimit(RLIMIT_NOFILE, &before);
    if (result.ok()) {
      close(static_cast<int>(result.value));
      ReplaceGroup(call);
    }
    return result.error;
  }

  // Calls PERF_EVENT_IOC_MODIFY_ATTRIBUTES on `event`. Returns the errno, or 0.
  int Modify(const Event& event, const OpenCall& call) {
    const auto arg = reinterpret_cast<unsigned long>(CopyAttr(call));
    return event.TryIoctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, arg).error;
  }

 private:
  std::size_t Page() const { return model_.system().page_size; }

  // Events of one PMU that count the same task or the same CPU.
  struct EventSet {
    Event leader, sibling, buffer;
    std::optional<Ring> ring;
  };

  EventSet& EventsFor(const OpenCall& call) {
    EventSet& events = event_sets_[{call.group_type, call.group_who, call.group_cpu}];
    if (events.leader.fd() >= 0) return events;
    const auto open = [&](int group_fd) {
      return Open(SpecOf(call.group_type),
                  {.pid = Pid(call.group_who), .cpu = Cpu(call.group_cpu), .group_fd = group_fd});
    };
    events.leader = open(-1);
    events.sibling = open(events.leader.fd());
    events.buffer = open(-1);
    events.ring.emplace(events.buffer, 1);
    return events;
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
  void ReplaceGroup(const OpenCall& call) {
    const bool grouped =
        call.group != OpenGroup::kNone && (call.flags & PERF_FLAG_FD_NO_GROUP) == 0;
    if (grouped && call.group_software && call.Attr().type != call.group_type) {
      event_sets_.erase({call.group_type, call.group_who, call.group_cpu});
      read_size_limit_.clear();
      all_counters_.clear();
    }
  }

  // The leader of a group whose reading has no space for another member. The first call opens the
  // group.
  int ReadSizeLimitLeader() {
    constexpr std::uint64_t kLong = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
    constexpr rlim_t kDescriptors = 4'096;
    if (read_size_limit_.empty()) {
      rlimit limit = {};
      getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
      setrlimit(RLIMIT_NOFILE, &limit);
      const OpenCall valid = model_.ValidCall();
      OpenOptions options = {
          .pid = Pid(valid.group_who), .cpu = Cpu(valid.group_cpu), .read_format = kLong};
      read_size_limit_.push_back(Open(spec_, options));
      options.group_fd = read_size_limit_.front().fd();
      const EventSpec dummy = Software(PERF_COUNT_SW_DUMMY);
      perf_event_attr attr = MakeAttr(dummy, options);
      while (true) {
        OpenResult next = TryOpen(attr, options.pid, options.cpu, options.group_fd, options.flags);
        if (next.error == E2BIG) break;
        if (next.error != 0) throw BrokenErrno("opening a member of a group", next.error);
        read_size_limit_.push_back(std::move(next.event));
      }
    }
    return read_size_limit_.front().fd();
  }

  // The leader of a group that takes all general counters, if its PMU has counters.
  int AllCountersLeader() {
    if (all_counters_.empty()) {
      const OpenCall valid = model_.ValidCall();
      OpenOptions options = {.pid = Pid(valid.group_who), .cpu = Cpu(valid.group_cpu)};
      all_counters_.push_back(Open(spec_, options));
      options.group_fd = all_counters_.front().fd();
      options.disabled = false;
      while (all_counters_.size() < std::max(target().general(), 2u)) {
        all_counters_.push_back(Open(spec_, options));
      }
    }
    return all_counters_.front().fd();
  }

  Event OpenOtherEvent(OpenOther other) const {
    if (other == OpenOther::kNone) return {};
    perf_event_attr attr = model_.ValidCall().Attr();
    const bool task = other == OpenOther::kOnTask;
    return Open(attr, task ? 0 : -1, task ? -1 : target().Cpu(0));
  }

  // Copies the attr so that only its first `readable` bytes are in readable memory.
  std::byte* CopyAttr(const OpenCall& call) {
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
        return other_task_.pid();
      case OpenWho::kAllTasks:
        return -1;
      case OpenWho::kNoTask:
        return kNoSuchPid;
      case OpenWho::kExited:
        return exited_task_.pid();
      case OpenWho::kCgroup:
        return cgroup_.get();
      case OpenWho::kFile:
        return file_.get();
    }
    return kNoSuchPid;
  }

  int Cpu(OpenCpu cpu) const {
    constexpr int kInvalidCpu = 1 << 20;
    switch (cpu) {
      case OpenCpu::kAny:
        return -1;
      case OpenCpu::kFirst:
        return target().Cpu(0);
      case OpenCpu::kSecond:
        return target().Cpu(1);
      case OpenCpu::kOffline:
        return model_.system().offline_cpu < 0 ? kInvalidCpu : model_.system().offline_cpu;
      case OpenCpu::kInvalid:
        break;
    }
    return kInvalidCpu;
  }

  int GroupFd(const OpenCall& call) {
    constexpr int kClosedFd = 99'999;
    switch (call.group) {
      case OpenGroup::kNone:
        return -1;
      case OpenGroup::kFile:
        return file_.get();
      case OpenGroup::kLeader:
        return EventsFor(call).leader.fd();
      case OpenGroup::kSibling:
        return EventsFor(call).sibling.fd();
      case OpenGroup::kBuffer:
        return EventsFor(call).buffer.fd();
      case OpenGroup::kExitedTask:
        return exited_task_event_.fd();
      case OpenGroup::kReadSizeLimit:
        return ReadSizeLimitLeader();
      case OpenGroup::kAllCounters:
        return AllCountersLeader();
      case OpenGroup::kClosed:
        break;
    }
    return kClosedFd;
  }

  OpenModel model_;
  EventSpec spec_;
  std::map<std::tuple<std::uint32_t, OpenWho, OpenCpu>, EventSet> event_sets_;
  std::vector<Event> read_size_limit_, all_counters_;  // a leader and its members
  Event exited_task_event_;
  Child other_task_{[] { return 0; }};
  Child exited_task_{[] { return 0; }};
  CgroupRoot cgroups_;
  Fd cgroup_ = OpenFolder(cgroups_.path());
  Fd file_;
  std::byte* memory_ = nullptr;
};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_ENVIRONMENT_H_
