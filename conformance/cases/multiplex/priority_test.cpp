// SPDX-License-Identifier: Apache-2.0
// Which events get the counters when not all fit: pinned before flexible, CPU before task,
// exclusive alone.
#include "cases/common.h"
#include "cases/subject.h"
#include "rules/CTL.h"
#include "rules/MUX.h"
#include "rules/RDF.h"

namespace pmuconf {
namespace {

// Whether a read returns end-of-file, as it does for an event in the error state.
bool ReadsAsError(const Event& event) {
  const SysResult result = event.TryRead(64);
  return result.ok() && result.value == 0;
}

CONFORMANCE_CASE(Multiplex, PinnedEventKeepsItsCounter, .rules = {rule::MUX_005, rule::MUX_001},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kGroups}) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const Event pinned = Open(spec, {.disabled = false, .pinned = true});
  const std::vector<Event> others =
      OpenEach(std::vector(CounterCount(spec) + 1, spec), {.disabled = false});
  std::uint64_t pulsed = 0;
  EXPECT_TRUE(RepeatUntil([&] { Pulse(spec, 1), ++pulsed; },
                          [&] {
                            return std::all_of(
                                others.begin(), others.end(),
                                [](const Event& event) { return event.Read().value > 0; });
                          }))
      << rule::MUX_001;
  const Reading reading = pinned.Read();
  EXPECT_THAT(reading, Counted(spec, pulsed)) << rule::MUX_005;
  EXPECT_EQ(reading.time_running, reading.time_enabled) << rule::MUX_005;
}

CONFORMANCE_CASE(Multiplex, PinnedEventWithoutRoomFailsUntilEnabledAgain,
                 .rules = {rule::MUX_006, rule::RDF_009, rule::CTL_026},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kAnyTask},
                 .over = {Over<dim::Scope>()}) {
  for (const EventSpec& spec : target().Events()) {
    std::vector<Event> pinned = OpenEach(std::vector(CounterCount(spec), spec),
                                         AtScope(*this, {.disabled = false, .pinned = true}));
    const Event late = Open(spec, AtScope(*this, {.disabled = false, .pinned = true}));
    EXPECT_TRUE(ReadsAsError(late)) << rule::RDF_009 << spec.name;
    Pulse(spec, 70);
    late.Enable();
    EXPECT_TRUE(ReadsAsError(late)) << rule::MUX_006 << spec.name;
    for (const Event& event : pinned) EXPECT_THAT(event.Read(), Counted(spec, 70));

    pinned.pop_back();
    Pulse(spec, 5);
    EXPECT_TRUE(ReadsAsError(late)) << rule::MUX_006 << spec.name;
    late.Enable();
    Pulse(spec, 8);
    ASSERT_FALSE(ReadsAsError(late)) << rule::CTL_026 << spec.name;
    EXPECT_THAT(late.Read(), Counted(spec, 8)) << rule::CTL_026;
  }
}

CONFORMANCE_CASE(Multiplex, CpuPrecedesTaskAndPinnedPrecedesFlexible, .rules = {rule::MUX_011},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing}) {
  const EventSpec spec = target().AnyEvent();
  const std::vector<EventSpec> all(CounterCount(spec), spec);
  const OpenOptions task = {.disabled = false};
  const OpenOptions processor = {.pid = -1, .cpu = EventCpu(), .disabled = false};
  OpenOptions pinned_task = task;
  pinned_task.pinned = true;
  OpenOptions pinned_processor = processor;
  pinned_processor.pinned = true;

  const std::vector<Event> flexible_of_task = OpenEach(all, task);
  Pulse(spec, 1);
  const std::vector<Event> flexible_of_cpu = OpenEach(all, processor);
  Pulse(spec, 10);
  const std::vector<Event> pinned_of_task = OpenEach(all, pinned_task);
  Pulse(spec, 100);
  std::vector<Reading> last;
  for (const Event& event : pinned_of_task) last.push_back(event.Read());
  const std::vector<Event> pinned_of_cpu = OpenEach(all, pinned_processor);
  Pulse(spec, 1'000);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_THAT(flexible_of_task[i].Read(), Counted(spec, 1));
    EXPECT_THAT(flexible_of_cpu[i].Read(), Counted(spec, 10));
    EXPECT_THAT(last[i], Counted(spec, 100));
    EXPECT_TRUE(ReadsAsError(pinned_of_task[i]));
    EXPECT_THAT(pinned_of_cpu[i].Read(), Counted(spec, 1'000));
  }
}

CONFORMANCE_CASE(Multiplex, ExclusiveGroupRunsAlone, .rules = {rule::MUX_007, rule::MUX_008},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kGroups}) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  Group exclusive({spec, spec}, {.exclusive = true});
  exclusive.Enable();
  const Event other = Open(spec, {.disabled = false});
  const Event software = Open(Software(PERF_COUNT_SW_TASK_CLOCK), {.disabled = false});
  std::uint64_t pulsed = 0;
  EXPECT_TRUE(RepeatUntil(
      [&] { Pulse(spec, 1), ++pulsed; },
      [&] { return exclusive.Read().entries[0].value > 10 && other.Read().value > 10; }))
      << rule::MUX_007;
  exclusive.Disable();
  const GroupReading reading = exclusive.Read();
  EXPECT_EQ(reading.entries[0].value, reading.entries[1].value) << rule::MUX_007;
  EXPECT_EQ(reading.entries[0].value + other.Read().value, pulsed) << rule::MUX_007;
  const Reading clock = software.Read();
  EXPECT_EQ(clock.time_running, clock.time_enabled) << rule::MUX_008;
  EXPECT_GT(clock.value, 0u) << rule::MUX_008;
}

CONFORMANCE_CASE(Multiplex, ExclusiveEventKeepsOthersOff, .rules = {rule::MUX_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing}) {
  const EventSpec spec = target().AnyEvent();
  const Event exclusive = Open(spec, {.disabled = false, .exclusive = true});
  const Event other = Open(spec, {.disabled = false});
  Pulse(spec, 25);
  EXPECT_EQ(exclusive.Read().value + other.Read().value, 25u);
  EXPECT_EQ(std::popcount(port().Stats().used), 1);
}

}  // namespace
}  // namespace pmuconf
