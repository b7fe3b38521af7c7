// SPDX-License-Identifier: Apache-2.0
// The errno of an open with an invalid pid, CPU, group or flag. A failed open must leave nothing
// behind.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "harness/case.h"
#include "perf/ring.h"
#include "rules/ERR.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

constexpr int kNoSuchFd = 999;

CONFORMANCE_CASE(OpenErrno, GroupHasToBeAnEvent, .rules = {rule::ERR_001}) {
  const EventSpec spec = target().AnyEvent();
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const int fd : {kNoSuchFd, null.get()}) {
    EXPECT_THAT(TryOpen(spec, {.group_fd = fd}), FailsWith(EBADF));
    EXPECT_THAT(TryOpen(spec, {.group_fd = fd, .flags = PERF_FLAG_FD_NO_GROUP}), FailsWith(EBADF));
  }
}

CONFORMANCE_CASE(OpenErrno, TaskHasToExist, .rules = {rule::ERR_002}) {
  const EventSpec spec = target().AnyEvent();
  Child child([] { return 0; });
  const pid_t exited = child.pid();
  ASSERT_EQ(child.Run(), 0);
  for (const pid_t pid : {exited, -2, -1'000, 0x3fff'ffff}) {
    EXPECT_THAT(TryOpen(spec, {.pid = pid}), FailsWith(ESRCH)) << pid;
  }
}

CONFORMANCE_CASE(OpenErrno, ExitedTaskIsRefused, .rules = {rule::ERR_029}, .needs = {Cap::kTasks}) {
  Child child([] { return 0; });
  const pid_t zombie = child.pid();
  child.Go();
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(TryOpen(target().AnyEvent(), {.pid = zombie}), FailsWith(ESRCH));
}

CONFORMANCE_CASE(OpenErrno, TaskOrCpuIsNeeded, .rules = {rule::ERR_003, rule::ERR_004}) {
  const EventSpec spec = target().AnyEvent();
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = -1}), FailsWith(EINVAL)) << rule::ERR_003;
  for (const int cpu : {-2, -5, 1 << 20, 0x7fff'ffff}) {
    EXPECT_THAT(TryOpen(spec, {.cpu = cpu}), FailsWith(EINVAL)) << cpu << rule::ERR_004;
    EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = cpu}), FailsWith(EINVAL)) << rule::ERR_004;
  }
}

CONFORMANCE_CASE(OpenErrno, ExhaustedDescriptorsReturnEmfile,
                 .rules = {rule::ERR_006, rule::ERR_028},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const rlimit few = {40, 40};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const std::uint64_t live = port().Stats().live_events;
  std::vector<Event> events;
  OpenResult last = TryOpen(spec);
  for (; last.ok(); last = TryOpen(spec)) events.push_back(std::move(last.event));
  EXPECT_THAT(last, FailsWith(EMFILE)) << rule::ERR_006;
  EXPECT_EQ(port().Stats().live_events, live + events.size()) << rule::ERR_028;
  ASSERT_GT(events.size(), 1u);
  events.pop_back();
  EXPECT_THAT(TryOpen(spec), Succeeds()) << rule::ERR_006;
}

CONFORMANCE_CASE(OpenErrno, SiblingsHaveToMatchTheirLeader,
                 .rules = {rule::ERR_008, rule::ERR_010, rule::ERR_011, rule::ERR_012,
                           rule::ERR_013},
                 .needs = {Cap::kGroups, Cap::kTasks}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event leader = Open(specs[0]);
  const Event sibling = Open(specs[1], {.group_fd = leader.fd()});
  const auto join = [&](OpenOptions options) {
    if (options.group_fd < 0) options.group_fd = leader.fd();
    return TryOpen(specs[1], options);
  };
  EXPECT_THAT(join({.group_fd = sibling.fd()}), FailsWith(EINVAL)) << rule::ERR_008;
  const Child other([] { return 0; });
  EXPECT_THAT(join({.pid = other.pid()}), FailsWith(EINVAL)) << rule::ERR_010;
  EXPECT_THAT(join({.edit =
                        [](perf_event_attr& attr) {
                          attr.use_clockid = 1;
                          attr.clockid = CLOCK_MONOTONIC_RAW;
                        }}),
              FailsWith(EINVAL))
      << rule::ERR_011;
  EXPECT_THAT(join({.inherit = true}), FailsWith(EINVAL)) << rule::ERR_012;
  EXPECT_THAT(join({.pinned = true}), FailsWith(EINVAL)) << rule::ERR_013;
  EXPECT_THAT(join({.exclusive = true}), FailsWith(EINVAL)) << rule::ERR_013;
  EXPECT_THAT(join({}), Succeeds());
}

CONFORMANCE_CASE(OpenErrno, SiblingsStayOnTheLeadersCpu, .rules = {rule::ERR_009},
                 .needs = {Cap::kGroups, Cap::kCpus2, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Event on_0 = Open(spec, {.pid = -1, .cpu = target().Cpu(0)});
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = target().Cpu(1), .group_fd = on_0.fd()}),
              FailsWith(EINVAL));
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = target().Cpu(0), .group_fd = on_0.fd()}),
              Succeeds());
  const Event task_on_0 = Open(spec, {.cpu = target().Cpu(0)});
  EXPECT_THAT(TryOpen(spec, {.cpu = -1, .group_fd = task_on_0.fd()}), FailsWith(EINVAL));
}

CONFORMANCE_CASE(OpenErrno, MismatchedOutputIsRefused, .rules = {rule::ERR_018},
                 .needs = {Cap::kSampling, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const OpenOptions sampling = {.sample_period = 1'000};
  const Event buffer = Open(spec, sampling);
  const Ring ring(buffer, 1);
  const auto redirect = [](const Event& from, const Event& to) {
    return from.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(to.fd()));
  };
  EXPECT_THAT(redirect(buffer, buffer), FailsWith(EINVAL));
  const Event other_cpu = Open(spec, {.pid = -1, .cpu = target().Cpu(1), .sample_period = 1'000});
  EXPECT_THAT(redirect(other_cpu, buffer), FailsWith(EINVAL));
  const Child child([] { return 0; });
  const Event other_task = Open(spec, {.pid = child.pid(), .sample_period = 1'000});
  EXPECT_THAT(redirect(other_task, buffer), FailsWith(EINVAL));
  const Event other_clock = Open(spec, {.sample_period = 1'000, .edit = [](perf_event_attr& attr) {
                                          attr.use_clockid = 1;
                                          attr.clockid = CLOCK_MONOTONIC_RAW;
                                        }});
  EXPECT_THAT(redirect(other_clock, buffer), FailsWith(EINVAL));
  const Event backwards = Open(spec, {.sample_period = 1'000, .write_backward = true});
  EXPECT_THAT(redirect(backwards, buffer), FailsWith(EINVAL));
  const Event without_buffer = Open(spec, sampling);
  const Event with_its_own = Open(spec, sampling);
  const Ring own(with_its_own, 1);
  EXPECT_THAT(redirect(with_its_own, buffer), FailsWith(EINVAL));
  const Event fits = Open(spec, sampling);
  EXPECT_THAT(redirect(fits, without_buffer), FailsWith(EINVAL));
  EXPECT_THAT(redirect(fits, buffer), Succeeds());
}

// Whether a program that this process executes has the descriptor.
bool SurvivesExec(int fd) {
  Child child([fd] {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    execl("/bin/sh", "sh", "-c", "test -e \"$0\"", path.c_str(), nullptr);
    return 125;
  });
  child.Go();
  const int status = child.Wait();
  EXPECT_THAT(status, testing::AnyOf(0, 1)) << "the program did not run";
  return status == 0;
}

CONFORMANCE_CASE(OpenErrno, CloexecSetsDescriptorFlag, .rules = {rule::ERR_019},
                 .needs = {Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec);
  const Ring ring(leader, 1);  // the target of PERF_FLAG_FD_OUTPUT
  for (const unsigned long other :
       {0UL, PERF_FLAG_FD_NO_GROUP, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT}) {
    SCOPED_TRACE(other);
    for (const int group : {-1, leader.fd()}) {
      if (group < 0 && other != 0) continue;
      const auto closed = TryOpen(spec, {.group_fd = group, .flags = other | PERF_FLAG_FD_CLOEXEC});
      const auto inherited = TryOpen(spec, {.group_fd = group, .flags = other});
      ASSERT_TRUE(closed.ok() && inherited.ok());
      EXPECT_EQ(fcntl(closed.event.fd(), F_GETFD), FD_CLOEXEC);
      EXPECT_EQ(fcntl(inherited.event.fd(), F_GETFD), 0);
      EXPECT_FALSE(SurvivesExec(closed.event.fd()));
      EXPECT_TRUE(SurvivesExec(inherited.event.fd()));
    }
  }
}

CONFORMANCE_CASE(OpenErrno, NoGroupFlagIgnoresLeader, .rules = {rule::ERR_020},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event first = Open(specs[0]);
  const Event second = Open(specs[1], {.group_fd = first.fd(),
                                       .flags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_CLOEXEC,
                                       .disabled = false});
  target().Stimulate(specs[1], 12);
  EXPECT_THAT(second.Read(), Counted(specs[1], 12));
  first.EnableGroup();
  first.DisableGroup();
  target().Stimulate(specs[1], 30);
  EXPECT_THAT(second.Read(), Counted(specs[1], 42));
}

CONFORMANCE_CASE(OpenErrno, OnlyNmiSafeClocksAreAccepted, .rules = {rule::ERR_023},
                 .needs = {Cap::kSampling}) {
  const auto open_with = [](int clock) {
    return TryOpen(target().AnyEvent(),
                   {.sample_period = 1'000, .edit = [clock](perf_event_attr& attr) {
                      attr.use_clockid = 1;
                      attr.clockid = clock;
                    }});
  };
  EXPECT_THAT(open_with(CLOCK_MONOTONIC), Succeeds());
  EXPECT_THAT(open_with(CLOCK_MONOTONIC_RAW), Succeeds());
  for (const int clock : {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, 100, -1}) {
    EXPECT_THAT(open_with(clock), FailsWith(EINVAL)) << clock;
  }
}

CONFORMANCE_CASE(OpenErrno, FailedOpensLeaveNothingBehind, .rules = {rule::ERR_028},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  const Event leader = Open(specs[0]);
  const refpmu_stats before = port().Stats();
  const int next_fd = dup(leader.fd());
  close(next_fd);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(TryOpen(specs[0], {.pid = -2}).ok());
    EXPECT_FALSE(TryOpen(specs[0], {.pid = -1, .cpu = -1}).ok());
    EXPECT_FALSE(TryOpen(specs[0], {.group_fd = kNoSuchFd}).ok());
    EXPECT_FALSE(TryOpen(specs[0], {.group_fd = leader.fd(), .pinned = true}).ok());
    EXPECT_FALSE(TryOpen(specs[0], {.group_fd = leader.fd(), .inherit = true}).ok());
    EXPECT_FALSE(TryOpen(specs[0], {.sample_period = 1ull << 63}).ok());
  }
  EXPECT_EQ(port().Stats().live_events, before.live_events);
  EXPECT_EQ(port().Stats().used, before.used);
  std::vector<Event> events;
  for (const EventSpec& spec : specs) {
    events.push_back(Open(spec, {.pinned = true}));
    EXPECT_EQ(events.back().fd(), next_fd + static_cast<int>(events.size()) - 1);
    events.back().Enable();
    target().Stimulate(spec, 5);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(events[i].Read(), Counted(specs[i], 5));
  }
}

}  // namespace
}  // namespace pmuconf
