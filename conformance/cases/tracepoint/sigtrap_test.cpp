// SPDX-License-Identifier: Apache-2.0
// Tracepoint events that send SIGTRAP, and hits that another task makes for the monitored one.
#include "cases/kernel_pmus.h"
#include "cases/rendezvous.h"
#include "cases/tracepoint/tracepoint.h"
#include "harness/uses.h"
#include "rules/TPT.h"

namespace pmuconf {
namespace {

CASE_USES(Tracepoint, WakerDoesNotHitSigtrapEvent, Feature::kTracepoints);
CONFORMANCE_CASE(Tracepoint, WakerDoesNotHitSigtrapEvent, .rules = {rule::TPT_011},
                 .needs = {Cap::kTracepoint},
                 .timing = "waits until the child sleeps, at most 5 s") {
  Child child([] { return 0; });
  const std::string pid = std::to_string(child.pid());
  // The hit belongs to the task that is woken. perf looks for its events of this CPU.
  OpenOptions options = {.pid = child.pid(), .cpu = EventCpu(), .sample_period = 1};
  const EventSpec waking = Tracepoint("sched/sched_waking");
  const Event plain = Open(waking, options);
  options.sigtrap = true;
  const Event trapping = Open(waking, options);
  for (const Event* event : {&plain, &trapping}) {
    ASSERT_THAT(TryFilter(*event, ("pid == " + pid).c_str()), Succeeds());
    event->Enable();
  }
  ASSERT_TRUE(AwaitState("/proc/" + pid + "/stat", 'S'));
  child.Go();
  EXPECT_EQ(plain.Read().value, 1u);
  EXPECT_EQ(trapping.Read().value, 0u);
  ASSERT_EQ(child.Wait(), 0);
}

}  // namespace
}  // namespace pmuconf
