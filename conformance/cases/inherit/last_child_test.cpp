// SPDX-License-Identifier: Apache-2.0
// The times, hang-ups and signals that the event of a child passes to its parent. A child needs no
// privileges for it.
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cases/kernel_pmus.h"
#include "cases/rendezvous.h"
#include "cases/signal/overflow_signals.h"
#include "cases/subject.h"
#include "cases/unprivileged.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/INH.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

// One event of the child always runs, the other one always waits for a counter. Both are enabled
// all the time, so their enabled times are equal.
CONFORMANCE_CASE(Inherit, TimeOfWaitingChildIsComplete, .rules = {rule::INH_025},
                 .needs = {Cap::kMultiplexing, Cap::kTasks, Cap::kAnyTask},
                 .timing = "waits until a child sleeps, at most 5 s", .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> others =
      OpenEach(std::vector(CounterCount(spec) - 1, spec),
               {.pid = -1, .cpu = EventCpu(), .disabled = false, .pinned = true});
  Child parent([] {
    Child child([] {
      BusyWait(0.001);
      return 0;
    });
    return child.Run();
  });
  // No time of the task may pass between the two calls.
  ASSERT_TRUE(AwaitState("/proc/" + std::to_string(parent.pid()) + "/stat", 'S'));
  const Event running =
      Open(spec, {.pid = parent.pid(), .disabled = false, .inherit = true, .pinned = true});
  const Event waiting = Open(spec, {.pid = parent.pid(), .disabled = false, .inherit = true});
  ASSERT_EQ(parent.Run(), 0);
  const Reading whole = running.Read(), none = waiting.Read();
  EXPECT_GE(whole.time_enabled, 1'000'000u);
  EXPECT_EQ(whole.time_running, whole.time_enabled);
  EXPECT_EQ(none.time_running, 0u);
  EXPECT_EQ(none.time_enabled, whole.time_enabled);
}

// epoll(7) learns of a change only when the event wakes it.
CONFORMANCE_CASE(Inherit, LastExitWakesPoll, .rules = {rule::INH_026}, .needs = {Cap::kTasks}) {
  // This process becomes the parent of the grandchild when the child has exited.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const Rendezvous rendezvous;
  Child child([&] {
    if (fork() == 0) {
      rendezvous.ReportAndWait();
      _exit(0);
    }
    return 0;
  });
  // Makes the contexts of child and grandchild differ. Otherwise the kernel could swap them at a
  // context switch, and the grandchild would end with the event itself.
  const Event not_inherited = Open(Software(PERF_COUNT_SW_DUMMY), {.pid = child.pid()});
  const Event event =
      Open(target().AnyEvent(),
           {.pid = child.pid(), .cpu = target().Cpu(0), .disabled = false, .inherit = true});
  const Ring ring(event, 1);  // without a buffer, poll(2) reports a hang-up
  const Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event what = {.events = EPOLLIN, .data = {.u64 = 0}};
  ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, event.fd(), &what), 0);
  ASSERT_EQ(child.Run(), 0);
  rendezvous.WaitUntilReached();
  EXPECT_EQ(epoll_wait(epoll.get(), &what, 1, 0), 0);
  rendezvous.Continue();
  ASSERT_GT(waitpid(-1, nullptr, 0), 0);  // the grandchild
  ASSERT_EQ(epoll_wait(epoll.get(), &what, 1, 0), 1);
  EXPECT_EQ(what.events & EPOLLHUP, std::uint32_t{EPOLLHUP});
}

CONFORMANCE_CASE(Inherit, OverflowOfChildSignalsTheOwner, .rules = {rule::INH_027},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  // Makes the contexts of parent and child differ. Otherwise the kernel could swap them at a
  // context switch, and the child would overflow the parent's own event.
  const Event not_inherited = Open(spec);
  const Event event = Open(spec, {.sample_period = 10, .inherit = true});
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  event.Enable();
  Child child([&spec] {
    for (int i = 0; i < 3; ++i) target().Stimulate(spec, 10);
    return 0;
  });
  ASSERT_EQ(child.Run(), 0);
  const std::vector<siginfo_t> got = signals.Drain();
  ASSERT_EQ(got.size(), 3u);
  for (const siginfo_t& signal : got) EXPECT_EQ(signal.si_fd, event.fd());
}

CASE_USES(Inherit, ForkNeedsNoPrivilegeOfTheTracer, Feature::kTracepoints);
CONFORMANCE_CASE(Inherit, ForkNeedsNoPrivilegeOfTheTracer, .rules = {rule::INH_028},
                 .needs = {Cap::kTracepoint}) {
  const Sysctl paranoid(kParanoid, "2");
  Child child([] {
    if (!DropPrivileges()) return 126;
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    return pid < 0 ? errno : waitpid(pid, nullptr, 0) == pid ? 0 : 125;
  });
  const Event event = Open(
      Tracepoint("sched/sched_switch"),
      {.pid = child.pid(), .sample_period = 1, .sample_type = PERF_SAMPLE_RAW, .inherit = true});
  EXPECT_EQ(child.Run(), 0);
}

}  // namespace
}  // namespace pmuconf
