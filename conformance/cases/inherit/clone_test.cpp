// SPDX-License-Identifier: Apache-2.0
// Unusual starts and ends of tasks: clone flags, failed forks, many forks, and leaders that exit
// first.
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "cases/common.h"
#include "cases/pass_fd.h"
#include "cases/rendezvous.h"
#include "rules/INH.h"

namespace pmuconf {
namespace {

// Creates a child with clone3(2), which generates `n` events. Returns its wait status, or -errno if
// clone3() failed.
int CloneThatStimulates(std::uint64_t flags, pid_t wanted_pid, const EventSpec& spec,
                        std::uint64_t n) {
  clone_args args = {};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  args.set_tid_size = wanted_pid == 0 ? 0 : 1;
  args.set_tid = args.set_tid_size == 0 ? 0 : reinterpret_cast<std::uint64_t>(&wanted_pid);
  const long pid = syscall(SYS_clone3, &args, sizeof(args));
  if (pid < 0) return -errno;
  if (pid == 0) {
    target().Stimulate(spec, n);
    _exit(0);
  }
  int status = -1;
  waitpid(static_cast<pid_t>(pid), &status, 0);
  return status;
}

CONFORMANCE_CASE(Inherit, ClearSighandDropsSigtrapEvent, .rules = {rule::INH_017},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const OpenOptions trapping = {
      .sample_period = 1'000'000, .disabled = false, .inherit = true, .sigtrap = true};
  const Event plain = Open(spec, {.sample_period = 1'000'000, .disabled = false, .inherit = true});
  const Event traps = Open(spec, trapping);
  ASSERT_EQ(CloneThatStimulates(0, 0, spec, 100), 0);
  EXPECT_THAT(traps.Read(), Counted(spec, 100));
  ASSERT_EQ(CloneThatStimulates(CLONE_CLEAR_SIGHAND, 0, spec, 7), 0);
  EXPECT_THAT(traps.Read(), Counted(spec, 100));
  EXPECT_THAT(plain.Read(), Counted(spec, 107));
}

// The requested pid is in use. The kernel detects this only after the child has inherited the
// events.
CONFORMANCE_CASE(Inherit, ForkThatFailsLeavesNothing, .rules = {rule::INH_018},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kTasks, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const std::uint64_t idle = port().Stats().live_events;
  Group group(specs, {.inherit = true});
  group.Enable();
  const std::uint64_t inits = port().Stats().calls[REFPMU_CALL_EVENT_INIT];
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(CloneThatStimulates(0, getpid(), specs[0], 1'000), -EEXIST);
    target().Stimulate(specs[0], 3);
  }
  EXPECT_GE(port().Stats().calls[REFPMU_CALL_EVENT_INIT], inits + 40)
      << "the children did not inherit the events";
  EXPECT_EQ(port().Stats().live_events, idle + 2);
  ASSERT_EQ(CloneThatStimulates(0, 0, specs[0], 500), 0);
  EXPECT_THAT(group.Read().entries[0], Counted(specs[0], 560));
  group.events().clear();
  EXPECT_EQ(port().Stats().live_events, idle);
}

// Generates `n` events and creates a chain of `generations` descendants. Each one generates one
// event more than its parent. Every second one ends with an exec.
int Descend(const EventSpec& spec, std::uint64_t n, int generations) {
  target().Stimulate(spec, n);
  if (generations > 0) {
    Child child([&] { return Descend(spec, n + 1, generations - 1); });
    child.Go();
    if (child.Wait() != 0) return 1;
  }
  if (n % 2 == 0) execl("/bin/sh", "sh", "-c", ":", nullptr);
  return 0;
}

CONFORMANCE_CASE(Inherit, StormsOfForksAreCountedExactly,
                 .rules = {rule::INH_022, rule::INH_003, rule::INH_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2, Cap::kTasks}, .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t live = port().Stats().live_events;
  std::vector<Event> events = OpenEach(std::vector(2, spec), {.inherit = true});
  EnableEach(events);
  std::vector<std::unique_ptr<Child>> roots;
  for (std::size_t i = 0; i < 2; ++i) {
    roots.push_back(std::make_unique<Child>([&spec, i] {
      PinTo(target().Cpu(i % 2));
      int bad = 0;
      for (int tree = 0; tree < 3; ++tree) bad += Descend(spec, 11, 2);
      return bad;
    }));
  }
  for (const auto& root : roots) root->Go();
  for (const auto& root : roots) EXPECT_EQ(root->Wait(), 0);
  for (const Event& event : events) {
    EXPECT_THAT(event.Read(), Counted(spec, 2 * 3 * (11 + 12 + 13))) << rule::INH_022;
  }
  events.clear();  // after a context swap a copy can be the parent's event and live as long
  EXPECT_EQ(port().Stats().live_events, live) << rule::INH_022;
}

CONFORMANCE_CASE(Inherit, ThreadsEventOutlivesTheLeader, .rules = {rule::INH_023},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  FdPipe pipe;
  Child child([&] {
    const std::string leader = "/proc/self/task/" + std::to_string(gettid()) + "/stat";
    std::thread([&spec, &pipe, leader] {
      const Event own = Open(spec, {.disabled = false});
      pipe.Send(own.fd());
      target().Stimulate(spec, 10);
      std::thread([&spec] { target().Stimulate(spec, 300); }).join();
      target().Stimulate(spec, 20);
      if (!AwaitState(leader, 'Z')) _exit(1);
      target().Stimulate(spec, 7'000);
      _exit(0);
    }).detach();
    syscall(SYS_exit, 0);  // ends this thread only
    return 1;
  });
  child.Go();
  const Event event(pipe.Receive(), MakeAttr(spec));
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 7'030));
}

}  // namespace
}  // namespace pmuconf
