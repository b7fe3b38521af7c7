// SPDX-License-Identifier: Apache-2.0
// More events than counters: each event gets a turn, and no pulse is lost or counted twice.
#include <functional>

#include "cases/common.h"
#include "cases/multiplex/turns.h"
#include "perf/ring.h"
#include "rules/DRV.h"
#include "rules/MUX.h"
#include "rules/RDF.h"

namespace pmuconf {
namespace {

// Generates single pulses until each of `events` has counted `least`, and calls `observe` after
// each pulse. Returns the number of pulses.
std::uint64_t PulseUntilAllCount(
    const EventSpec& spec, const std::vector<Event>& events, std::uint64_t least,
    const std::function<void()>& observe = [] {}) {
  std::uint64_t pulsed = 0;
  const bool all = RepeatUntil(
      [&] {
        Pulse(spec, 1);
        ++pulsed;
        observe();
      },
      [&] {
        return std::all_of(events.begin(), events.end(),
                           [&](const Event& event) { return event.Read().value >= least; });
      });
  EXPECT_TRUE(all) << rule::MUX_001;
  return pulsed;
}

void CheckConservation(const OpenOptions& place) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::size_t counters = CounterCount(spec);
  const std::vector<Event> events = OpenEach(std::vector(counters + 3, spec), place);
  EnableEach(events);
  // The timer may rotate the events between two of these enables. From here on each counter is in
  // use.
  std::uint64_t before = 0;
  for (const Event& event : events) before += event.Read().value;
  Turns turns(events);
  const std::uint64_t pulsed = PulseUntilAllCount(spec, events, 20, [&turns] { turns.Observe(); });
  // The first event to be enabled is the last one to be disabled, so its enabled time covers that
  // of the others.
  for (auto event = events.rbegin(); event != events.rend(); ++event) event->Disable();
  std::uint64_t sum = 0;
  std::uint64_t running = 0;
  std::uint64_t longest = 0;
  for (const Event& event : events) {
    const Reading reading = event.Read();
    EXPECT_GT(reading.time_running, 0u) << rule::MUX_001;
    EXPECT_LE(reading.time_running, reading.time_enabled) << rule::RDF_012;
    sum += reading.value;
    running += reading.time_running;
    longest = std::max(longest, reading.time_enabled);
  }
  EXPECT_EQ(sum - before, counters * pulsed) << rule::MUX_017;
  EXPECT_LE(running, counters * longest) << rule::MUX_004;
}

CONFORMANCE_CASE(Multiplex, TaskEventsTakeTurnsWithoutLoss,
                 .rules = {rule::MUX_001, rule::MUX_004, rule::MUX_017, rule::RDF_012},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing}) {
  CheckConservation({});
}

CONFORMANCE_CASE(Multiplex, CpuEventsTakeTurnsWithoutLoss,
                 .rules = {rule::MUX_001, rule::MUX_004, rule::MUX_017, rule::RDF_012},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing}) {
  CheckConservation({.pid = -1, .cpu = EventCpu()});
}

CONFORMANCE_CASE(Multiplex, DifferentEventsAreNeverMixedUp,
                 .rules = {rule::MUX_001, rule::MUX_012, rule::MUX_017},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing}) {
  const MuxInterval interval(1);
  // Only one of several names of the same event.
  std::vector<EventSpec> specs;
  for (const EventSpec& spec : target().Events({.stimulus = StimulusKind::kPulse})) {
    const auto same = [&spec](const EventSpec& other) { return ShareStimulus(spec, other); };
    if (std::none_of(specs.begin(), specs.end(), same)) specs.push_back(spec);
  }
  const std::vector<Event> events = OpenEach(specs);
  EnableEach(events);
  // Each code has a weight of its own. A count that is no multiple of it has pulses of another
  // code.
  const auto weight = [](std::size_t i) { return 1'009 * (i + 1) * (i + 1) + i; };
  EXPECT_TRUE(RepeatUntil(
      [&] {
        for (std::size_t i = 0; i < specs.size(); ++i) Pulse(specs[i], weight(i));
      },
      [&] {
        return std::all_of(events.begin(), events.end(),
                           [](const Event& event) { return event.Read().value > 0; });
      }))
      << rule::MUX_001;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(events[i].Read().value % weight(i), 0u) << rule::MUX_012 << specs[i].name;
  }
}

CONFORMANCE_CASE(Multiplex, RotatedSamplersKeepTheirPlaceInThePeriod, .rules = {rule::MUX_014},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kMultiplexing,
                           Cap::kSingleEvents}) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> events =
      OpenEach(std::vector(CounterCount(spec) + 2, spec), {.sample_period = 7});
  std::vector<Ring> rings;
  for (const Event& event : events) rings.emplace_back(event, 16);
  EnableEach(events);
  PulseUntilAllCount(spec, events, 30);
  DisableEach(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(rings[i].Drain().samples.size(), events[i].Read().value / 7);
  }
}

// Generates one pulse and returns the index of the event that misses it. `events` has one event
// more than there are counters.
std::size_t NotCounting(const EventSpec& spec, const std::vector<Event>& events) {
  std::vector<std::uint64_t> before;
  for (const Event& event : events) before.push_back(event.Read().value);
  Pulse(spec, 1);
  std::size_t out = 0;
  while (out + 1 < events.size() && events[out].Read().value != before[out]) ++out;
  return out;
}

CONFORMANCE_CASE(Multiplex, IntervalDecidesWhenEventsRotate, .rules = {rule::MUX_010},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing},
                 .timing = "runs for 90 ms; the time that passed limits the number of turns") {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  const EventSpec spec = target().AnyEvent();
  std::size_t turns = 0;
  const auto count_schedulings = [&](const std::vector<Event>& events, std::size_t& out) {
    const std::size_t now = NotCounting(spec, events);
    turns += now != out;
    out = now;
  };
  const OpenOptions options = {.disabled = false};
  const std::vector<Event> events = OpenEach(std::vector(CounterCount(spec) + 1, spec), options);
  std::size_t out = NotCounting(spec, events);
  {
    const MuxInterval slow(40);
    const auto begin = steady_clock::now();
    EXPECT_TRUE(RepeatUntil([&] { count_schedulings(events, out); },
                            [&] { return steady_clock::now() - begin > milliseconds(90); }));
    const auto elapsed = steady_clock::now() - begin;
    // Two more turns: one for a timer that was already armed, one for an interval that began
    // before.
    EXPECT_LE(turns, static_cast<std::size_t>(elapsed / milliseconds(40)) + 2);
  }
  const MuxInterval fast(1);
  turns = 0;
  EXPECT_TRUE(RepeatUntil([&] { count_schedulings(events, out); }, [&] { return turns >= 10; }));
}

CONFORMANCE_CASE(Multiplex, SmallEventRunsBehindAGroupThatDoesNotFit, .rules = {rule::MUX_016},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kGroups}) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const Event pinned = Open(spec, {.disabled = false, .pinned = true});
  Group group(std::vector(CounterCount(spec), spec));
  group.Enable();
  std::vector<Event> small;
  small.push_back(Open(spec, {.disabled = false}));
  PulseUntilAllCount(spec, small, 5);
  EXPECT_EQ(group.Read().time_running, 0u);
}

CONFORMANCE_CASE(Multiplex, IndependentEventsFitInEveryOrder,
                 .rules = {rule::MUX_012, rule::MUX_015, rule::DRV_034},
                 .needs = {Cap::kStimulus, Cap::kConstraints}, .over = {Over<dim::Cpu>()}) {
  std::vector<EventSpec> specs = FullSet();
  for (int reversed = 0; reversed < 2; ++reversed) {
    for (std::size_t turn = 0; turn < specs.size(); ++turn) {
      const std::vector<Event> events = OpenEach(specs, {.disabled = false});
      const std::vector<std::uint64_t> want = PulseEach(specs, 4'000);
      for (std::size_t i = 0; i < specs.size(); ++i) {
        const Reading reading = events[i].Read();
        EXPECT_THAT(reading, Counted(specs[i], want[i])) << rule::MUX_012;
        EXPECT_EQ(reading.time_running, reading.time_enabled) << rule::MUX_015;
      }
      std::rotate(specs.begin(), specs.begin() + 1, specs.end());
    }
    std::reverse(specs.begin(), specs.end());
  }
}

// Events of `wide` are on the counters that events of `narrow` need. The driver must move them
// without a loss. The pulses come right before the move: if a timer of the driver folded the
// counters in between, a faulty driver would lose nothing.
void CheckMoving(const EventSpec& wide, const EventSpec& narrow, bool pinned) {
  const std::vector<Event> first =
      OpenEach(std::vector(CounterCount(wide) - CounterCount(narrow), wide),
               {.disabled = false, .pinned = pinned});
  const std::vector<Event> second = OpenEach(std::vector(CounterCount(narrow), narrow));
  Pulse(wide, 100);
  EnableEach(second);
  Pulse(wide, 23);
  Pulse(narrow, 9);
  for (const Event& event : first) {
    const Reading reading = event.Read();
    EXPECT_THAT(reading, Counted(wide, 123)) << rule::MUX_012 << narrow.name;
    EXPECT_EQ(reading.time_running, reading.time_enabled) << rule::MUX_015;
  }
  for (const Event& event : second) {
    EXPECT_THAT(event.Read(), Counted(narrow, 9)) << rule::MUX_012;
  }
}

// Repeats the check, because that timer may still expire between the pulses and the move.
void CheckMoving(bool pinned) {
  for (const EventSpec& narrow : target().Events({.constrained = true})) {
    for (int i = 0; i < 4; ++i) CheckMoving(target().AnyEvent(), narrow, pinned);
  }
}

CONFORMANCE_CASE(Multiplex, RunningEventsMoveForAConstrainedOne,
                 .rules = {rule::MUX_012, rule::MUX_015},
                 .needs = {Cap::kStimulus, Cap::kConstraints}, .over = {Over<dim::Cpu>()}) {
  CheckMoving(false);
}

// perf removes flexible events before it adds another event, but leaves pinned events in place. So
// the driver itself must move pinned events, with their counts.
CONFORMANCE_CASE(Multiplex, PinnedEventsMoveForAConstrainedOne,
                 .rules = {rule::MUX_012, rule::MUX_015},
                 .needs = {Cap::kStimulus, Cap::kConstraints}, .over = {Over<dim::Cpu>()}) {
  CheckMoving(true);
}

}  // namespace
}  // namespace pmuconf
