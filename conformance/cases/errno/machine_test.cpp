// SPDX-License-Identifier: Apache-2.0
// Errors of an open that depend on the machine: offline CPUs, full tables, cgroups, exited tasks,
// other PMUs.
#include <sys/stat.h>

#include "cases/common.h"
#include "cases/refusal.h"
#include "cases/unprivileged.h"
#include "harness/behaviour.h"
#include "harness/offline.h"
#include "harness/uses.h"
#include "oracle/open_environment.h"
#include "perf/kernel_behaviour.h"
#include "rules/ERR.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

// An event of all tasks on the CPU.
OpenOptions OnCpu(int cpu, int group_fd = -1) {
  return {.pid = -1, .cpu = cpu, .group_fd = group_fd};
}

CONFORMANCE_CASE(OpenErrno, EventOnOfflineCpuIsRefused, .rules = {rule::ERR_005},
                 .needs = {Cap::kHotplug, Cap::kTasks},
                 .timing = "waits until a CPU is offline and online again, within the budget") {
  const int cpu = target().Cpu(1);
  const Event leader = Open(Software(PERF_COUNT_SW_DUMMY), OnCpu(target().Cpu(0)));
  // Where all PMUs of a CPU share a context, the kernel checks the context before the group.
  const int wrong_group = HasSharedContexts() ? ENODEV : EINVAL;
  EXPECT_TRUE(IsBehaviour(rule::ERR_005, "with_a_wrong_group", wrong_group));
  {
    const Offline offline(cpu);
    EXPECT_THAT(TryOpen(target().AnyEvent(), OnCpu(cpu)), FailsWith(ENODEV));
    EXPECT_THAT(TryOpen(target().AnyEvent(), OnCpu(cpu, leader.fd())), FailsWith(wrong_group));
    EXPECT_THAT(TryOpen(target().AnyEvent(), {.pid = -1, .cpu = cpu, .group_fd = 999}),
                FailsWith(EBADF));
    EXPECT_THAT(TryOpen(target().AnyEvent(), {.cpu = cpu}), Succeeds())
        << "an event of a task waits until the CPU is online";
  }
  EXPECT_THAT(TryOpen(target().AnyEvent(), OnCpu(cpu)), Succeeds());
}

// An event of this task, or of the designated CPU if the PMU has no events of tasks.
OpenOptions OnAnyCpu(int group_fd = -1) {
  if (target().Claims(Cap::kSystemWide)) return OnCpu(target().DesignatedCpu(), group_fd);
  return {.group_fd = group_fd};
}

// An unprivileged task opens an event while the machine's table of files is full, and this task
// afterwards.
CONFORMANCE_CASE(OpenErrno, FullFileTableReturnsEnfile, .rules = {rule::ERR_007}) {
  SkipIfEventsNeedPrivileges();
  const Sysctl paranoid("kernel/perf_event_paranoid", "-1");
  const EventSpec spec = target().AnyEvent();
  const OpenOptions anywhere = OnAnyCpu();
  Child child([&] {
    constexpr uid_t kNobody = 65534;
    Sysctl::Set("fs/file-max", "0");  // 0: the kernel counts a few open files inexactly
    if (setresuid(kNobody, kNobody, kNobody) != 0) return 126;
    return TryOpen(spec, anywhere).error;
  });
  const std::string limit = Sysctl::Get("fs/file-max");
  {
    const Sysctl no_more("fs/file-max", limit);  // restores the limit that the child changes
    child.Go();
    EXPECT_EQ(ErrnoName(child.Wait()), "ENFILE");
  }
  EXPECT_THAT(TryOpen(spec), Succeeds());
}

CONFORMANCE_CASE(OpenErrno, DeadLeadersAreRefused, .rules = {rule::ERR_022},
                 .needs = {Cap::kTasks}) {
  Child child([] { return 0; });
  const Event leader = Open(Software(PERF_COUNT_SW_DUMMY), {.pid = child.pid()});
  ASSERT_EQ(child.Run(), 0);
  const int answer = DeadLeaderErrno();
  EXPECT_TRUE(IsBehaviour(rule::ERR_022, "answer", answer));
  EXPECT_THAT(TryOpen(target().AnyEvent(), {.group_fd = leader.fd()}), FailsWith(answer));
  EXPECT_THAT(TryOpen(target().AnyEvent()), Succeeds());
}

// Adds members up to the maximum size of a reading, then one more.
CONFORMANCE_CASE(OpenErrno, GroupReadingsAreBounded, .rules = {rule::ERR_015}, .budget_s = 60) {
  // The maximum number of events. Each one has a value, an id and a lost count.
  constexpr std::size_t kMost = (16 * 1024 - 8) / 24;
  constexpr std::uint64_t kFormat = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
  const rlimit limit_value = {2 * kMost, 2 * kMost};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit_value), 0);
  const Event leader = Open(target().AnyEvent(), {.read_format = kFormat});
  const perf_event_attr& attr = leader.attr();
  const OpenOptions member = OnAnyCpu(leader.fd());
  const EventSpec dummy = Software(PERF_COUNT_SW_DUMMY);
  std::vector<Event> members;
  OpenResult last = TryOpen(dummy, member);
  for (; last.ok(); last = TryOpen(dummy, member)) members.push_back(std::move(last.event));
  EXPECT_THAT(last, FailsWith(E2BIG));
  EXPECT_EQ(members.size() + 1, kMost);
  std::vector<std::byte> bytes;
  ASSERT_THAT(leader.TryRead(16 * 1024, &bytes), Succeeds());
  const auto reading = ParseGroupReading(bytes, attr.read_format);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->entries.size(), kMost);
  EXPECT_EQ(reading->entries.back().id, members.back().Id());
  members.pop_back();
  EXPECT_THAT(TryOpen(dummy, member), Succeeds());
}

// The reading of the leader is short. The kernel must bound the readings of members as well.
CONFORMANCE_CASE(OpenErrno, ReadingsOfMembersAreBoundedToo, .rules = {rule::ERR_015},
                 .budget_s = 60) {
  constexpr std::size_t kMost = (16 * 1024 - 24) / 24;  // the header also has both times
  const rlimit limit_value = {2 * kMost, 2 * kMost};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit_value), 0);
  const EventSpec dummy = Software(PERF_COUNT_SW_DUMMY);
  const Event leader = Open(dummy, {.read_format = 0});
  OpenOptions member = {
      .group_fd = leader.fd(),
      .read_format = kReadTimes | PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST};
  const Event greedy = Open(dummy, member);
  member.read_format = 0;
  std::vector<Event> members;
  OpenResult last = TryOpen(dummy, member);
  for (; last.ok(); last = TryOpen(dummy, member)) members.push_back(std::move(last.event));
  EXPECT_THAT(last, FailsWith(E2BIG));
  EXPECT_EQ(members.size() + 2, kMost);
}

SysResult TryCgroup(int fd, int cpu, int group_fd = -1, unsigned long flags = 0) {
  const perf_event_attr attr = MakeAttr(target().AnyEvent());
  const SysResult result =
      TryOpenRaw(&attr, fd, cpu, group_fd, flags | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
  const Fd opened(result.ok() ? static_cast<int>(result.value) : -1);
  return result;
}

CASE_USES(OpenErrno, CgroupNeedsDirectoryDescriptor, Feature::kPerfCgroups);
CONFORMANCE_CASE(OpenErrno, CgroupNeedsDirectoryDescriptor, .rules = {rule::ERR_016},
                 .needs = {Cap::kTasks}) {
  const CgroupRoot cgroups;
  const Fd root = OpenFolder(cgroups.path());
  const Fd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd folder = OpenFolder("/tmp");
  const Event event = Open(Software(PERF_COUNT_SW_DUMMY));
  const int cpu = target().Cpu(0);
  EXPECT_THAT(TryCgroup(root.get(), cpu), Succeeds());
  EXPECT_THAT(TryCgroup(-1, cpu), FailsWith(EINVAL));
  EXPECT_THAT(TryCgroup(root.get(), -1), FailsWith(EINVAL));
  EXPECT_THAT(TryCgroup(-1, -1), FailsWith(EINVAL));
  for (const int fd : {999, -2, file.get(), folder.get(), event.fd()}) {
    EXPECT_THAT(TryCgroup(fd, cpu), FailsWith(EBADF)) << fd;
  }
}

CASE_USES(OpenErrno, GroupsAreOfOneCgroup, Feature::kPerfCgroups);
CONFORMANCE_CASE(OpenErrno, GroupsAreOfOneCgroup, .rules = {rule::ERR_017},
                 .needs = {Cap::kTasks}) {
  const CgroupRoot cgroups;
  const Fd root = OpenFolder(cgroups.path());
  const std::string name = "pmuconf-" + std::to_string(getpid());
  ASSERT_EQ(mkdirat(root.get(), name.c_str(), 0755), 0);
  {
    const Fd inner = OpenFolder(cgroups.path() + "/" + name);
    const EventSpec dummy = Software(PERF_COUNT_SW_DUMMY);
    const int cpu = target().Cpu(0);
    const Event of_root = Open(MakeAttr(dummy), root.get(), cpu, -1, PERF_FLAG_PID_CGROUP);
    const Event of_none = Open(dummy, OnCpu(cpu));
    for (const Event* leader : {&of_root, &of_none}) {
      EXPECT_THAT(TryCgroup(inner.get(), cpu, leader->fd()), FailsWith(EINVAL));
    }
    EXPECT_THAT(TryCgroup(root.get(), cpu, of_root.fd()), Succeeds());
    EXPECT_THAT(TryCgroup(inner.get(), cpu, of_root.fd(), PERF_FLAG_FD_NO_GROUP), Succeeds());
  }
  EXPECT_EQ(unlinkat(root.get(), name.c_str(), AT_REMOVEDIR), 0)
      << "an event still has a reference to the cgroup";
}

CASE_USES(OpenErrno, SystemWidePmuRefusesTasksAndCgroups, Feature::kPerfCgroups);
CONFORMANCE_CASE(OpenErrno, SystemWidePmuRefusesTasksAndCgroups,
                 .rules = {rule::ERR_025, rule::ERR_026}, .needs = {Cap::kSystemWide}) {
  const CgroupRoot cgroups;
  const Fd root = OpenFolder(cgroups.path());
  const int cpu = target().DesignatedCpu();
  const perf_event_attr attr = MakeAttr(target().AnyEvent());
  for (const int where : {-1, cpu}) {
    const SysResult task = TryOpenRaw(&attr, 0, where, -1, PERF_FLAG_FD_CLOEXEC);
    EXPECT_TRUE(IsTaskRefusal(task.error, where)) << rule::ERR_025 << task.error;
  }
  EXPECT_THAT(TryCgroup(root.get(), cpu), FailsWith(EINVAL)) << rule::ERR_026;
}

// A driver may return an errno of its own. The target file states it.
CONFORMANCE_CASE(OpenErrno, SamplingWithoutAnInterruptIsRefused, .rules = {rule::ERR_024},
                 .needs = {Cap::kCounting}) {
  const int error = target().refusal("sampling").value_or(EOPNOTSUPP);
  for (const std::uint64_t period : {1ull, 1'000ull, (1ull << 63) - 1}) {
    EXPECT_THAT(TryOpen(target().AnyEvent(), {.sample_period = period}), FailsWith(error));
  }
  EXPECT_THAT(TryOpen(target().AnyEvent(), {.sample_freq = 100}), FailsWith(error));
}

CONFORMANCE_CASE(OpenErrno, ExclusivePmuRefusesSecondEvent, .rules = {rule::ERR_021},
                 .needs = {Cap::kTrace, Cap::kTasks}) {
  const OpenOptions task = {}, cpu = OnCpu(target().Cpu(0));
  for (const auto& [first, second] :
       {std::pair{task, cpu}, {cpu, task}, {task, task}, {cpu, cpu}}) {
    Event event = Open(target().Trace(), first);
    EXPECT_THAT(TryOpen(target().Trace(), second), FailsWith(EBUSY));
    event.Close();
    EXPECT_THAT(TryOpen(target().Trace(), second), Succeeds());
  }
}

// Each attr is opened without a leader, and with a leader that has no AUX area.
CONFORMANCE_CASE(OpenErrno, AuxFieldsNeedAuxLeader, .rules = {rule::ERR_031},
                 .needs = {Cap::kCounters}) {
  const Event leader = Open(Software(PERF_COUNT_SW_DUMMY), OnAnyCpu());
  const std::uint32_t kPause = 2, kResume = 4;
  for (const int group_fd : {-1, leader.fd()}) {
    const auto with = [&](const std::function<void(perf_event_attr&)>& edit) {
      OpenOptions options = OnAnyCpu(group_fd);
      options.edit = edit;
      return TryOpen(target().AnyEvent(), options);
    };
    EXPECT_THAT(with([](perf_event_attr& attr) { attr.aux_sample_size = 4'096; }),
                FailsWith(EINVAL));
    for (const std::uint32_t action : {kPause, kResume, kPause | kResume}) {
      EXPECT_THAT(with([action](perf_event_attr& attr) { attr.aux_action = action; }),
                  FailsWith(EINVAL));
    }
    EXPECT_THAT(with([](perf_event_attr& attr) { attr.aux_output = 1; }),
                FailsWith(target().refusal("aux_output").value_or(EINVAL)));
    EXPECT_THAT(with([](perf_event_attr&) {}), Succeeds());
  }
}

// The first event in sysfs that can be opened alone on `cpu`.
std::optional<EventSpec> EventOf(const std::string& device, int cpu) {
  const std::string path = std::string(kEventSource) + "/" + device;
  for (const std::string& name : ListFolder(path + "/events")) {
    const auto configs = ReadTerms(path, ReadFile(path + "/events/" + name).value_or(""));
    if (!configs) continue;
    EventSpec spec;
    spec.name = std::string(device).append("/").append(name);
    spec.type = static_cast<std::uint32_t>(std::stoul(ReadFile(path + "/type").value_or("0")));
    spec.config = configs->config;
    spec.config1 = configs->config1;
    spec.config2 = configs->config2;
    if (TryOpen(spec, OnCpu(cpu)).ok()) return spec;
  }
  return std::nullopt;
}

// One event of each other hardware PMU, and a CPU on which that PMU has events.
std::vector<std::pair<EventSpec, int>> EventsOfOtherPmus() {
  std::vector<std::pair<EventSpec, int>> specs;
  const std::string folder = kEventSource;
  for (const std::string& device : ListFolder(folder)) {
    if (device == target().device()) continue;
    for (const std::string& file : {std::string("/cpumask"), std::string("/cpus")}) {
      const auto cpus = ParseCpuList(ReadFile(folder + "/" + device + file).value_or(""));
      if (!cpus || cpus->empty()) continue;
      const auto spec = EventOf(device, cpus->front());
      if (spec) specs.emplace_back(*spec, cpus->front());
    }
  }
  return specs;
}

CONFORMANCE_CASE(OpenErrno, GroupsAreOfOnePmu, .rules = {rule::ERR_014},
                 .needs = {Cap::kCounting}) {
  const std::vector<int> cpus = target().Cpus();
  const auto others = EventsOfOtherPmus();
  if (others.empty()) SkipCase(Cap::kSystemWide, "no other hardware PMU is here");
  for (const auto& [other, there] : others) {
    const bool shared = std::find(cpus.begin(), cpus.end(), there) != cpus.end();
    const int here = shared ? there : cpus.front();
    const Event own_leader = Open(target().AnyEvent(), OnCpu(here));
    EXPECT_THAT(TryOpen(other, OnCpu(there, own_leader.fd())), FailsWith(EINVAL)) << other.name;
    const Event their_leader = Open(other, OnCpu(there));
    EXPECT_THAT(TryOpen(target().AnyEvent(), OnCpu(here, their_leader.fd())), FailsWith(EINVAL))
        << other.name;
    // A software leader must not hide that the group has events of two hardware PMUs.
    const Event dummy = Open(Software(PERF_COUNT_SW_DUMMY), OnCpu(there));
    const Event first = Open(other, OnCpu(there, dummy.fd()));
    EXPECT_THAT(TryOpen(target().AnyEvent(), OnCpu(here, dummy.fd())), FailsWith(EINVAL))
        << other.name;
  }
}

}  // namespace
}  // namespace pmuconf
