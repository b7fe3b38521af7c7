// SPDX-License-Identifier: Apache-2.0
// The times, hang-ups and signals that the event of a child passes to its parent. A child needs no
// privileges for it.
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cases/kernel_pmus.h"
#include "cases/rendezvous.h"
#include "cases/signal/overflow_signals.h"
#include "cases/subject.h"
#include "cases/unprivileged.h"
#include "perf/ring.h"
#include "rules/INH.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

// The enabled time of an event of this task that waits for a counter, until now.
std::uint64_t TimeOf(const Event& waiting) { return waiting.Read().time_enabled; }

// All counters are taken, so each event of a task only waits. The child and its parent measure a
// part of their own times. Together they are a part of the time of the inherited event.
CONFORMANCE_CASE(Inherit, TimeOfWaitingChildIsComplete, .rules = {rule::INH_025},
                 .needs = {Cap::kMultiplexing, Cap::kTasks, Cap::kAnyTask}, .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> others =
      OpenEach(std::vector(CounterCount(spec), spec),
               {.pid = -1, .cpu = EventCpu(), .disabled = false, .pinned = true});
  void* const shared = mmap(nullptr, sizeof(std::uint64_t) * 2, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const part = static_cast<std::uint64_t*>(shared);
  Child parent([&spec, part] {
    const Event own = Open(spec, {.disabled = false});
    Child child([&spec, part] {
      const Event of_child = Open(spec, {.disabled = false});
      BusyWait(0.1);
      part[1] = TimeOf(of_child);
      return 0;
    });
    child.Go();
    const int status = child.Wait();
    part[0] = TimeOf(own);
    return status;
  });
  const Event event = Open(spec, {.pid = parent.pid(), .disabled = false, .inherit = true});
  parent.Go();
  ASSERT_EQ(parent.Wait(), 0);
  const Reading reading = event.Read();
  EXPECT_GT(part[1], 0u);
  EXPECT_EQ(reading.time_running, 0u) << rule::INH_025.text;
  EXPECT_GE(reading.time_enabled, part[0] + part[1]) << rule::INH_025.text;
  munmap(shared, sizeof(std::uint64_t) * 2);
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
  const Event event =
      Open(target().AnyEvent(),
           {.pid = child.pid(), .cpu = target().Cpu(0), .disabled = false, .inherit = true});
  const Ring ring(event, 1);  // without a buffer, poll(2) reports a hang-up
  const Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event what = {.events = EPOLLIN, .data = {.u64 = 0}};
  ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, event.fd(), &what), 0);
  child.Go();
  ASSERT_EQ(child.Wait(), 0);
  rendezvous.WaitUntilReached();
  EXPECT_EQ(epoll_wait(epoll.get(), &what, 1, 0), 0) << rule::INH_026.text;
  rendezvous.Continue();
  ASSERT_GT(waitpid(-1, nullptr, 0), 0);  // the grandchild
  ASSERT_EQ(epoll_wait(epoll.get(), &what, 1, 0), 1) << rule::INH_026.text;
  EXPECT_EQ(what.events & EPOLLHUP, std::uint32_t{EPOLLHUP}) << rule::INH_026.text;
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
  child.Go();
  ASSERT_EQ(child.Wait(), 0);
  const std::vector<siginfo_t> got = signals.Drain();
  ASSERT_EQ(got.size(), 3u) << rule::INH_027.text;
  for (const siginfo_t& signal : got) EXPECT_EQ(signal.si_fd, event.fd()) << rule::INH_027.text;
}

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
  child.Go();
  EXPECT_EQ(child.Wait(), 0) << rule::INH_028.text;
}

}  // namespace
}  // namespace pmuconf
