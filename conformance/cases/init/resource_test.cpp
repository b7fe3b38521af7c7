// SPDX-License-Identifier: Apache-2.0
// A close and a failed open must release everything that an open acquires.
#include "cases/common.h"
#include "perf/ring.h"
#include "rules/DRV.h"
#include "rules/ERR.h"
#include "rules/INI.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Init, MoreEventsThanCountersOpen, .rules = {rule::INI_027},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  const std::uint64_t before = port().Stats().live_events;
  for (const EventSpec& spec : target().Events()) {
    std::vector<Event> events;
    for (int n = 0; n < 80; ++n) {
      OpenResult result = TryOpen(spec);
      ASSERT_THAT(result, Succeeds());
      events.push_back(std::move(result.event));
    }
    EXPECT_EQ(port().Stats().live_events, before + 80);
    events.back().Enable();
    Pulse(spec, 44);
    EXPECT_THAT(events.back().Read(), Counted(spec, 44));
  }
  EXPECT_EQ(port().Stats().live_events, before) << rule::DRV_015;
}

CONFORMANCE_CASE(Init, RefusedGroupsTakeNothing,
                 .rules = {rule::INI_021, rule::INI_023, rule::INI_026, rule::DRV_015},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kGroups}) {
  for (const EventSpec& spec : target().Events()) {
    const Event running = Open(spec, {.disabled = false});
    Pulse(spec, 10);
    const refpmu_stats before = port().Stats();
    for (int round = 0; round < 5; ++round) {
      const GroupOpenResult result = TryOpenGroup(std::vector(CounterCount(spec) + 1, spec));
      EXPECT_THAT(result, FailsWith(EINVAL)) << rule::INI_021 << spec.name;
      EXPECT_EQ(result.events.size(), CounterCount(spec)) << rule::INI_021 << spec.name;
    }
    const refpmu_stats after = port().Stats();
    EXPECT_EQ(after.live_events, before.live_events) << rule::DRV_015;
    EXPECT_EQ(after.used, before.used) << rule::INI_023;
    EXPECT_EQ(after.calls[REFPMU_CALL_DESTROY] - before.calls[REFPMU_CALL_DESTROY],
              5 * CounterCount(spec))
        << rule::INI_026;
    Pulse(spec, 7);
    EXPECT_THAT(running.Read(), Counted(spec, 17)) << rule::INI_023;
  }
}

// A refused open that is undone twice takes the interrupts from the events of others, once their
// number is used up: the kernel may have events of its own.
CONFORMANCE_CASE(Init, RefusedOpenLeavesOverflowsAlone, .rules = {rule::INI_023, rule::ERR_028},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kGroups, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event running = Open(spec, {.sample_period = 10, .disabled = false});
  Ring ring(running, 1);
  for (int round = 1; round <= 16; ++round) {
    {
      // Some drivers expect no counter for a disabled leader, unless it is enabled on exec.
      const GroupOpenResult result =
          TryOpenGroup(std::vector(CounterCount(spec) + 1, spec), {.enable_on_exec = true});
      EXPECT_THAT(result, FailsWith(EINVAL));
    }
    Pulse(spec, 50);
    ASSERT_EQ(ring.Drain().samples.size(), 5u) << round << ": " << rule::INI_023;
  }
  EXPECT_THAT(running.Read(), Counted(spec, 16 * 50)) << rule::INI_023;
}

CONFORMANCE_CASE(Init, OpenOnFullPmuSucceeds, .rules = {rule::INI_021, rule::INI_023},
                 .needs = {Cap::kStimulus, Cap::kGroups, Cap::kCounters}) {
  const std::vector<EventSpec> specs = FullSet();
  Group first(specs);
  first.Enable();
  const std::vector<std::uint64_t> before = PulseEach(specs, 60);
  const GroupOpenResult second = TryOpenGroup(specs);
  EXPECT_THAT(second, Succeeds()) << rule::INI_021;
  const std::vector<std::uint64_t> after = PulseEach(specs, 9);
  const GroupReading reading = first.Read();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], before[i] + after[i])) << rule::INI_023;
  }
}

// perf itself rejects these events, after the driver has accepted them.
CONFORMANCE_CASE(Init, LateOpenFailureRunsDestroyOnce, .rules = {rule::DRV_015},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kGroups, Cap::kSampling, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec);
  const Event member = Open(spec, {.group_fd = leader.fd()});
  const refpmu_stats before = port().Stats();
  EXPECT_THAT(TryOpen(spec, {.group_fd = member.fd()}), FailsWith(EINVAL));
  EXPECT_THAT(TryOpen(spec, {.group_fd = leader.fd(), .pinned = true}), FailsWith(EINVAL));
  EXPECT_THAT(TryOpen(spec, {.group_fd = leader.fd(), .exclusive = true}), FailsWith(EINVAL));
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = target().Cpu(1), .group_fd = leader.fd()}),
              FailsWith(EINVAL));
  const refpmu_stats after = port().Stats();
  EXPECT_EQ(after.live_events, before.live_events);
  EXPECT_EQ(after.calls[REFPMU_CALL_DESTROY] - before.calls[REFPMU_CALL_DESTROY], 4u);

  const Event sampler = Open(spec, {.sample_period = 10, .disabled = false});
  const std::uint64_t overflows = port().Stats().overflows;
  Pulse(spec, 100);
  EXPECT_EQ(port().Stats().overflows - overflows, 10u);
}

CONFORMANCE_CASE(Init, EventsOpenForTasksAndCpus, .rules = {rule::INI_004},
                 .needs = {Cap::kStimulus}) {
  for (const EventSpec& spec : target().Events()) {
    for (const OpenOptions& options : {OpenOptions{}, OpenOptions{.inherit = true},
                                       OpenOptions{.pid = -1, .cpu = target().Cpu(0)}}) {
      EXPECT_THAT(TryOpen(spec, options), Succeeds()) << spec.name;
    }
  }
}

}  // namespace
}  // namespace pmuconf
