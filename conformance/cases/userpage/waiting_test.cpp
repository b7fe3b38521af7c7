// SPDX-License-Identifier: Apache-2.0
// The times in the control page of an event that does not run: it waits for a counter, or its task
// sleeps.
#include "cases/rendezvous.h"
#include "perf/ring.h"
#include "perf/user_page.h"
#include "rules/RDP.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(UserPage, PageOfWaitingEventIsUpdated, .rules = {rule::RDP_017},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> pinned = OpenEach(FullSet(), {.disabled = false, .pinned = true});
  const Event waiting = Open(spec, {.disabled = false});
  const Ring ring(waiting, 0);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = waiting.Read().time_enabled;
    const Event another = Open(spec, {.disabled = false});  // schedules the task's events again
    const UserPage page = ReadUserPage(ring.page());
    EXPECT_GE(page.time_enabled, before);
    EXPECT_EQ(page.time_running, 0u);
    EXPECT_LE(page.time_enabled, waiting.Read().time_enabled);
  }
}

// mmap(2) of the page updates it.
CONFORMANCE_CASE(UserPage, TimesOfSleepingTaskStandStill, .rules = {rule::RDP_005},
                 .needs = {Cap::kTasks},
                 .timing = "waits until the child sleeps, at most 5 s for each time") {
  const Rendezvous rendezvous;
  Child child([&] {
    rendezvous.ReportAndWait();
    return 0;
  });
  const std::string stat = "/proc/" + std::to_string(child.pid()) + "/stat";
  const auto compare = [&](const Event& event) {
    ASSERT_TRUE(AwaitState(stat, 'S'));
    const Ring ring(event, 0);
    const UserPage page = ReadUserPage(ring.page());
    const Reading reading = event.Read();
    EXPECT_EQ(page.time_enabled, reading.time_enabled);
    EXPECT_EQ(page.time_running, reading.time_running);
  };
  ASSERT_TRUE(AwaitState(stat, 'S'));
  const Event event =
      Open(Software(PERF_COUNT_SW_TASK_CLOCK), {.pid = child.pid(), .disabled = false});
  const Event of_target = Open(target().AnyEvent(), {.pid = child.pid(), .disabled = false});
  compare(event);
  compare(of_target);
  child.Go();
  rendezvous.WaitUntilReached();
  compare(event);
  compare(of_target);
  EXPECT_GT(event.Read().time_enabled, 0u);
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
}

}  // namespace
}  // namespace pmuconf
