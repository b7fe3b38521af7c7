// SPDX-License-Identifier: Apache-2.0
// CPUs that go offline and online again: events keep their counts, and counting continues.
#include "cases/common.h"
#include "harness/offline.h"
#include "perf/ring.h"
#include "rules/DRV.h"
#include "rules/HOT.h"

namespace pmuconf {
namespace {

constexpr std::uint32_t kCounter0 = 0x4c1;
constexpr std::uint32_t kSelector0 = 0x186;
constexpr std::uint32_t kGlobalStatus = 0x38e;
constexpr std::uint32_t kGlobalControl = 0x38f;
constexpr std::uint32_t kRecordsEnabled = 0x3f1;
constexpr std::uint32_t kDebugControl = 0x1d9;
constexpr std::uint64_t kRecordBranches = 1;
constexpr std::uint64_t kCountsAndInterrupts = 0x53'0000;  // bits USR, OS, INT and EN of a selector

CONFORMANCE_CASE(Hotplug, EventOnOfflineCpuIsRefused, .rules = {rule::HOT_001},
                 .needs = {Cap::kHotplug, Cap::kTasks}, .budget_s = 20) {
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  Offline offline(there);
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = there}), FailsWith(ENODEV));
  offline.Return();
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = there}), Succeeds());
}

CONFORMANCE_CASE(Hotplug, OfflineCpuEventKeepsCount,
                 .rules = {rule::HOT_002, rule::HOT_003, rule::DRV_035},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kTasks},
                 .budget_s = 20) {
  const int here = target().Cpu(0);
  const int there = target().Cpu(1);
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> stay = OpenEach(specs, {.pid = -1, .cpu = here, .disabled = false});
  const std::vector<Event> leave = OpenEach(specs, {.pid = -1, .cpu = there, .disabled = false});
  for (const EventSpec& spec : specs) Pulse(spec, 500, {.cpu = there});
  std::vector<std::uint64_t> last;
  for (const Event& event : leave) last.push_back(event.Read().value);
  Offline offline(there);
  const std::vector<std::uint64_t> want = PulseEach(specs, 30);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(leave[i].Read().value, last[i]) << rule::HOT_002;
    EXPECT_GT(last[i], 0u) << rule::HOT_002;
    EXPECT_THAT(stay[i].Read(), Counted(specs[i], want[i])) << rule::DRV_035;
  }
  offline.Return();
  for (const EventSpec& spec : specs) {
    const Event fresh = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
    Pulse(spec, 41, {.cpu = there});
    EXPECT_THAT(fresh.Read(), Counted(spec, 41)) << rule::HOT_003;
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(leave[i].Read().value, last[i]) << rule::HOT_003;
  }
}

// The CPU goes offline with stale registers: a counter that counts and interrupts.
CONFORMANCE_CASE(Hotplug, ReturningCpuClearsStaleCounter, .rules = {rule::HOT_003},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kHotplug}, .budget_s = 20) {
  const int there = std::max(target().Cpu(0), target().Cpu(1));
  const EventSpec spec = target().AnyEvent();
  port().WriteRegister(kCounter0, target().counter_mask() - 2, there);
  port().WriteRegister(kSelector0, spec.code | kCountsAndInterrupts, there);
  port().WriteRegister(kGlobalControl, 1, there);
  Offline offline(there);
  offline.Return();
  const refpmu_stats before = port().Stats(there);
  Pulse(spec, 10, {.cpu = there});
  EXPECT_EQ(port().Stats(there).pmi, before.pmi);
  const Event fresh = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
  Pulse(spec, 41, {.cpu = there});
  EXPECT_THAT(fresh.Read(), Counted(spec, 41));
}

CONFORMANCE_CASE(Hotplug, ReturningCpuIsIdle, .rules = {rule::HOT_003, rule::DRV_039},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kHotplug, Cap::kTasks},
                 .budget_s = 20) {
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  HoldLine hold(there);
  port().WriteRegister(kCounter0, target().counter_mask() - 2, there);
  port().WriteRegister(kSelector0, spec.code | kCountsAndInterrupts, there);
  port().WriteRegister(kGlobalControl, 1, there);
  Pulse(spec, 10, {.cpu = there});
  ASSERT_EQ(port().ReadRegister(kGlobalStatus, there), 1u);
  Offline offline(there);
  offline.Return();
  EXPECT_EQ(port().ReadRegister(kGlobalControl, there), 0u) << rule::DRV_039;
  EXPECT_EQ(port().ReadRegister(kGlobalStatus, there), 0u) << rule::HOT_003;
  const refpmu_stats before = port().Stats(there);
  hold.Release();
  EXPECT_EQ(port().Stats(there).pmi, before.pmi) << rule::HOT_003;
}

// A counter that is set to write records raises no interrupt. A stale bit would suppress samples.
CONFORMANCE_CASE(Hotplug, ReturningCpuSamples, .rules = {rule::HOT_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kSampling,
                           Cap::kPrecise},
                 .budget_s = 20) {
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  port().WriteRegister(kRecordsEnabled, spec.counters, there);
  Offline offline(there);
  offline.Return();
  EXPECT_EQ(port().ReadRegister(kRecordsEnabled, there), 0u);
  const Event event = Open(spec, {.pid = -1, .cpu = there, .sample_period = 10, .disabled = false});
  Ring ring(event, 4);
  Pulse(spec, 45, {.cpu = there});
  EXPECT_EQ(ring.Drain().samples.size(), 4u);
  EXPECT_THAT(event.Read(), Counted(spec, 45));
  // If the driver did not clear the register, the next case must not find it set.
  port().WriteRegister(kRecordsEnabled, 0, there);
}

CONFORMANCE_CASE(Hotplug, ReturningCpuRecordsNoBranches, .rules = {rule::HOT_013},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kTasks, Cap::kBranches},
                 .budget_s = 20) {
  const int there = target().Cpu(1);
  const std::uint64_t before = port().ReadRegister(kDebugControl, there);
  ASSERT_EQ(before & kRecordBranches, 0u) << "no event uses branch records";
  port().WriteRegister(kDebugControl, before | kRecordBranches, there);
  Offline offline(there);
  offline.Return();
  EXPECT_EQ(port().ReadRegister(kDebugControl, there) & kRecordBranches, 0u);
  // If the driver did not clear the bit, the next case must not find it set.
  port().WriteRegister(kDebugControl, before, there);
}

CONFORMANCE_CASE(Hotplug, TaskEventsCountAcrossHotplug, .rules = {rule::HOT_006},
                 .needs = {Cap::kStimulus, Cap::kHotplug, Cap::kTasks}, .budget_s = 20, .cpu = -1) {
  const int here = target().Cpu(0);
  const int there = target().Cpu(1);
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  std::vector<std::uint64_t> want(specs.size());
  const auto count = [&](int cpu) {
    PinTo(cpu);
    const std::vector<std::uint64_t> more = PulseEach(specs, 25);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      want[i] += more[i];
      EXPECT_THAT(events[i].Read(), Counted(specs[i], want[i]));
    }
  };
  count(here);
  count(there);
  Offline offline(there);
  count(here);
  offline.Return();
  count(there);
  count(here);
}

}  // namespace
}  // namespace pmuconf
