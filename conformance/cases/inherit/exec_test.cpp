// SPDX-License-Identifier: Apache-2.0
// Effects of execve(2) on events: it enables them, removes them, keeps them, or ends them if the
// task gains privileges.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cases/common.h"
#include "cases/pass_fd.h"
#include "cases/rendezvous.h"
#include "perf/ring.h"
#include "rules/CTL.h"
#include "rules/INH.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

EventSpec Clock() { return target().Events({.stimulus = StimulusKind::kClock}).front(); }

CONFORMANCE_CASE(Inherit, EventsSurviveExecUnlessTheyAreToBeRemoved,
                 .rules = {rule::INH_014, rule::INH_015},
                 .needs = {Cap::kCounters3, Cap::kPort, Cap::kStimulus, Cap::kManualClock,
                           Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const EventSpec clock = Clock();
  const Rendezvous rendezvous;
  Child child([&] {
    target().Stimulate(spec, 123);
    return rendezvous.ExecShell(Rendezvous::kReportAndWait, "sh");
  });
  const auto remove_on_exec = [](perf_event_attr& attr) { attr.remove_on_exec = 1; };
  const Event counts = Open(spec, {.pid = child.pid(), .disabled = false});
  const Event survives = Open(clock, {.pid = child.pid(), .disabled = false});
  const Event removed =
      Open(clock, {.pid = child.pid(), .disabled = false, .edit = remove_on_exec});
  const AutoClock running;
  child.Go();
  rendezvous.WaitUntilReached();  // after the exec
  const std::uint64_t before = survives.Read().value, last = removed.Read().value;
  EXPECT_GT(last, 0u) << rule::INH_014;
  rendezvous.ContinueShell();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(counts.Read(), Counted(spec, 123)) << rule::INH_015;
  EXPECT_GT(survives.Read().value, before) << rule::INH_015;
  EXPECT_EQ(removed.Read().value, last) << rule::INH_014;
}

CONFORMANCE_CASE(Inherit, RemovalByExecLeavesTheOtherCopies, .rules = {rule::INH_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t live = port().Stats().live_events;
  const auto remove_on_exec = [](perf_event_attr& attr) { attr.remove_on_exec = 1; };
  Event event = Open(spec, {.disabled = false, .inherit = true, .edit = remove_on_exec});
  const Rendezvous stays, execs;
  Child sibling([&] {
    stays.ReportAndWait();
    target().Stimulate(spec, 7);
    return 0;
  });
  Child child([&] {
    target().Stimulate(spec, 100);
    return execs.ExecShell(Rendezvous::kReportAndWait, "sh");
  });
  sibling.Go();
  stays.WaitUntilReached();
  child.Go();
  execs.WaitUntilReached();
  target().Stimulate(spec, 5'000);
  stays.Continue();
  ASSERT_EQ(sibling.Wait(), 0);
  execs.ContinueShell();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_THAT(event.Read(), Counted(spec, 5'107));
  event.Close();
  EXPECT_EQ(port().Stats().live_events, live);
}

CONFORMANCE_CASE(Control, NewNameIsNoExec, .rules = {rule::CTL_025},
                 .needs = {Cap::kStimulus, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.enable_on_exec = true});
  ASSERT_EQ(prctl(PR_SET_NAME, "renamed"), 0);
  target().Stimulate(spec, 100);
  const Reading reading = event.Read();
  EXPECT_THAT(reading, Counted(spec, 0));
  EXPECT_EQ(reading.time_enabled, 0u);
}

CONFORMANCE_CASE(Control, ExecEnablesOnce, .rules = {rule::CTL_025},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kManualClock, Cap::kGroups,
                           Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Rendezvous rendezvous;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  Child child([&] {
    target().Stimulate(spec, 1'000);
    return rendezvous.ExecShell("echo; read go; exec \"$0\" --help", program.c_str());
  });
  const OpenOptions at_exec = {.pid = child.pid(), .enable_on_exec = true};
  const Event pulses = Open(spec, at_exec);
  const Event cycles = Open(Clock(), at_exec);
  const AutoClock running;
  child.Go();
  rendezvous.WaitUntilReached();
  cycles.Disable();
  const Reading once = cycles.Read();
  EXPECT_GT(once.value, 0u);
  EXPECT_EQ(once.time_running, once.time_enabled) << "started later";
  EXPECT_GT(pulses.Read().time_enabled, 0u);
  rendezvous.ContinueShell();
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_EQ(cycles.Read().value, once.value);
  EXPECT_THAT(pulses.Read(), Counted(spec, 0));
}

CONFORMANCE_CASE(Inherit, ExecOfTheParentLeavesItsChildDisabled, .rules = {rule::INH_013},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kManualClock, Cap::kGroups,
                           Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Rendezvous inner, outer;
  Child child([&] {
    Child grandchild([&] {
      for (const std::uint64_t n : {0, 1'000}) {
        target().Stimulate(spec, n);
        inner.ReportAndWait();
      }
      return 0;
    });
    grandchild.Go();
    return outer.ExecShell(Rendezvous::kReportAndWait, "sh");
  });
  const OpenOptions at_exec = {.pid = child.pid(), .inherit = true, .enable_on_exec = true};
  const Event pulses = Open(spec, at_exec);
  const Event cycles = Open(Clock(), at_exec);
  const AutoClock running;
  child.Go();
  inner.WaitUntilReached();
  outer.WaitUntilReached();
  inner.Continue();
  inner.WaitUntilReached();
  EXPECT_GT(cycles.Read().value, 0u);
  EXPECT_THAT(pulses.Read(), Counted(spec, 0));
  inner.Continue();
  outer.ContinueShell();
  ASSERT_EQ(child.Wait(), 0);
}

CONFORMANCE_CASE(Inherit, ExecOfTheChildLeavesItsParentDisabled, .rules = {rule::INH_013},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kManualClock, Cap::kGroups,
                           Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Rendezvous inner, outer;
  Child child([&] {
    Child grandchild([&] { return inner.ExecShell(Rendezvous::kReportAndWait, "sh"); });
    grandchild.Go();
    outer.ReportAndWait();
    target().Stimulate(spec, 1'000);
    outer.ReportAndWait();
    return grandchild.Wait();
  });
  const OpenOptions at_exec = {.pid = child.pid(), .inherit = true, .enable_on_exec = true};
  const Event pulses = Open(spec, at_exec);
  const Event cycles = Open(Clock(), at_exec);
  const AutoClock running;
  child.Go();
  outer.WaitUntilReached();
  inner.WaitUntilReached();
  outer.Continue();
  outer.WaitUntilReached();
  EXPECT_GT(cycles.Read().value, 0u);
  EXPECT_THAT(pulses.Read(), Counted(spec, 0));
  inner.ContinueShell();
  outer.Continue();
  ASSERT_EQ(child.Wait(), 0);
}

// A copy of the shell with the given mode, in a temporary folder. The destructor removes both.
class ShellWithMode {
 public:
  explicit ShellWithMode(mode_t mode) {
    if (mkdtemp(folder_.data()) == nullptr || chmod(folder_.c_str(), 0755) != 0) {
      throw Broken("no folder " + folder_);
    }
    std::filesystem::copy_file("/bin/sh", path());
    if (chmod(path().c_str(), mode) != 0) throw Broken("chmod " + path());
  }
  ShellWithMode(const ShellWithMode&) = delete;
  ~ShellWithMode() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/sh"; }

 private:
  std::string folder_ = "/tmp/pmuconf-XXXXXX";
};

// Whether the event of an unprivileged task ends when the task executes the shell and lives on.
bool IsRemovedByExecOf(const ShellWithMode& shell) {
  const Rendezvous rendezvous;
  const std::string program = shell.path();
  FdPipe pipe;
  Child child([&] {
    constexpr unsigned kNobody = 65'534;
    if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) {
      return 124;
    }
    const Event own = Open(target().AnyEvent(), {.disabled = false, .exclude_kernel = true});
    pipe.Send(own.fd());
    rendezvous.ReportAndWait();
    return rendezvous.ExecShell("exec \"$0\" -c 'echo; read go'", program.c_str());
  });
  child.Go();
  const Event event(pipe.Receive(), MakeAttr(target().AnyEvent()));
  const Ring mapped(event, 1);  // without a buffer, poll(2) reports a hang-up
  pollfd over = {event.fd(), POLLIN, 0};
  rendezvous.WaitUntilReached();
  EXPECT_EQ(poll(&over, 1, 0), 0);
  rendezvous.Continue();
  rendezvous.WaitUntilReached();
  poll(&over, 1, 0);
  rendezvous.ContinueShell();
  EXPECT_EQ(child.Wait(), 0);
  return (over.revents & POLLHUP) != 0;
}

CONFORMANCE_CASE(Inherit, NonDumpableExecRemovesEvents, .rules = {rule::INH_016},
                 .needs = {Cap::kTasks, Cap::kExcludes}, .budget_s = 30) {
  const Sysctl paranoid("kernel/perf_event_paranoid", "1");
  EXPECT_FALSE(IsRemovedByExecOf(ShellWithMode(0755))) << "no privilege was gained";
  EXPECT_TRUE(IsRemovedByExecOf(ShellWithMode(04755)));
  EXPECT_TRUE(IsRemovedByExecOf(ShellWithMode(0711)));
}

}  // namespace
}  // namespace pmuconf
