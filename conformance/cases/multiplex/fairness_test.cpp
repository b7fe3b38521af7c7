// SPDX-License-Identifier: Apache-2.0
// Fairness of rotation: turn by turn in the driver's log, and in the scaled counts.
#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "cases/breakpoint.h"
#include "cases/common.h"
#include "harness/uses.h"
#include "rules/MUX.h"
#include "system/cgroup.h"

namespace pmuconf {
namespace {

constexpr const char* kOneTurnAMillisecond =
    "waits for turns, at most 5 s; the task gets one per millisecond of its run time";

using Turn = std::set<std::uint64_t>;

// The sequence of sets of events that had all counters, according to the log after `mark`.
std::vector<Turn> TurnsSince(std::uint64_t mark, std::size_t counters) {
  std::vector<Turn> turns;
  Turn on;
  for (const refpmu_log_entry& entry : port().Log()) {
    if (entry.kind != REFPMU_LOG_CALL || entry.seq <= mark) continue;
    if (entry.what == REFPMU_CALL_DEL) on.erase(entry.event);
    // perf also tries to add an event more than fit. The driver rejects that one.
    if (entry.what != REFPMU_CALL_ADD || on.size() == counters) continue;
    on.insert(entry.event);
    if (on.size() == counters && (turns.empty() || turns.back() != on)) turns.push_back(on);
  }
  return turns;
}

struct Rotation {
  std::vector<Event> events;
  std::vector<std::uint64_t> ids;
  std::vector<Turn> turns;
};

// Opens two events more than fit, and records three times as many turns as there are events.
Rotation Rotate(const EventSpec& spec) {
  Rotation rotation;
  rotation.events = OpenEach(std::vector(CounterCount(spec) + 2, spec));
  EnableEach(rotation.events);
  for (const Event& event : rotation.events) rotation.ids.push_back(event.Id());
  const std::size_t enough = 3 * rotation.events.size();
  const std::uint64_t mark = port().Log().back().seq;
  EXPECT_TRUE(RepeatUntil([] { BusyWait(0.002); },
                          [&] {
                            rotation.turns = TurnsSince(mark, CounterCount(spec));
                            return rotation.turns.size() >= enough;
                          }));
  return rotation;
}

// The id of the event that is in `one` and not in `other`. The case fails unless exactly one is.
std::uint64_t OnlyIn(const Turn& one, const Turn& other) {
  std::vector<std::uint64_t> ids;
  std::ranges::set_difference(one, other, std::back_inserter(ids));
  EXPECT_EQ(ids.size(), 1u);
  return ids.empty() ? 0 : ids.front();
}

CONFORMANCE_CASE(Multiplex, LongestWaitingEventRunsNext, .rules = {rule::MUX_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing, Cap::kLog},
                 .timing = kOneTurnAMillisecond) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const Rotation rotation = Rotate(spec);
  std::vector<std::uint64_t> leave, come;
  for (std::size_t i = 0; i + 1 < rotation.turns.size(); ++i) {
    leave.push_back(OnlyIn(rotation.turns[i], rotation.turns[i + 1]));
    come.push_back(OnlyIn(rotation.turns[i + 1], rotation.turns[i]));
  }
  const std::size_t on = CounterCount(spec), off = rotation.events.size() - on;
  for (std::size_t i = 0; i + off < leave.size(); ++i) {
    EXPECT_EQ(come[i + off], leave[i]) << "turn " << i;
  }
  for (std::size_t i = 0; i + on < leave.size(); ++i) {
    EXPECT_EQ(leave[i + on], come[i]) << "turn " << i;
  }
}

CONFORMANCE_CASE(Multiplex, EqualEventsGetEqualTurns, .rules = {rule::MUX_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing, Cap::kLog},
                 .timing = kOneTurnAMillisecond) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const Rotation rotation = Rotate(spec);
  std::map<std::uint64_t, std::size_t> had;
  for (std::size_t turn = 0; turn < rotation.turns.size(); ++turn) {
    for (const std::uint64_t id : rotation.turns[turn]) ++had[id];
    std::size_t least = turn + 1, most = 0;
    for (const std::uint64_t id : rotation.ids) {
      least = std::min(least, had[id]);
      most = std::max(most, had[id]);
    }
    ASSERT_LE(most - least, CounterCount(spec)) << "turn " << turn;
    const bool round = (turn + 1) % rotation.ids.size() == 0;
    EXPECT_LE(round ? most - least : 0, 0u) << "turn " << turn;
  }
}

// The time of the events, which stops while this task is off its CPU.
std::uint64_t TimeOf(const Event& event) { return event.Read().time_enabled; }

// max|D|, see below. `at` has the last time before each pulse, and one after all.
double LargestDeviation(const std::vector<double>& at, double whole) {
  const auto all = static_cast<double>(at.size() - 1);
  double far = 0;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    for (const double time : {at[i], at[i + 1]}) {
      const double before = static_cast<double>(i) - all * time / whole;
      far = std::max({far, std::abs(before), std::abs(before + 1)});
    }
  }
  return far;
}

// N(t) = N t / T + D(t) is the number of pulses up to the time t, where D is their deviation from a
// constant rate. In each of its s turns, an event counts N(b) - N(a) pulses from a to b.
// In all turns it counts N / T * running + the sum of D(b) - D(a). So the scaled count deviates
// from N by at most 2 s max|D| enabled / running. The pulses outside the observed part of T add to
// that.
// This case measures D at each pulse. A late pulse widens the bound and cannot fail the case.
CONFORMANCE_CASE(
    Multiplex, ScaledCountErrorIsBounded, .rules = {rule::MUX_002},
    .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kLog},
    .timing =
        "pulses every 50 us of the task's own time; the permitted error is computed from the times "
        "of the pulses (see above), so a late pulse cannot fail the case") {
  constexpr double kPulses = 1'200;
  const MuxInterval interval(3);
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> events = OpenEach(std::vector(CounterCount(spec) + 1, spec));
  EnableEach(events);
  const std::uint64_t adds = port().Stats().calls[REFPMU_CALL_ADD];
  const std::uint64_t begin = TimeOf(events[0]);
  std::vector<Reading> before, after;
  for (const Event& event : events) before.push_back(event.Read());
  const std::uint64_t first = TimeOf(events[0]);
  std::vector<double> at;  // the last time before each pulse, and one after all
  for (double pulse = 0; pulse <= kPulses; ++pulse) {
    std::uint64_t now = 0;
    while ((now = TimeOf(events[0])) < first + static_cast<std::uint64_t>(pulse) * 50'000) {
    }
    at.push_back(static_cast<double>(now - begin));
    if (pulse < kPulses) Pulse(spec, 1);
  }
  const std::uint64_t last = TimeOf(events[0]);
  for (const Event& event : events) after.push_back(event.Read());
  const auto whole = static_cast<double>(TimeOf(events[0]) - begin);

  const double far = LargestDeviation(at, whole);
  const double turns = static_cast<double>(port().Stats().calls[REFPMU_CALL_ADD] - adds) /
                           static_cast<double>(CounterCount(spec)) /
                           static_cast<double>(events.size()) +
                       2;
  const double unseen = whole - static_cast<double>(last - first);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto value = static_cast<double>(after[i].value - before[i].value);
    const auto enabled = static_cast<double>(after[i].time_enabled - before[i].time_enabled);
    const auto running = static_cast<double>(after[i].time_running - before[i].time_running);
    ASSERT_GT(running, 0);
    const double bound = kPulses * unseen / whole + 2 * turns * far * enabled / running;
    EXPECT_LE(std::abs(value * enabled / running - kPulses), bound);
  }
}

CONFORMANCE_CASE(Multiplex, PinnedWatchdogKeepsOthersExact, .rules = {rule::MUX_013},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kMultiplexing, Cap::kGroups},
                 .timing = kOneTurnAMillisecond) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  Event watchdog = Open(spec, {.pid = -1,
                               .cpu = EventCpu(),
                               .sample_period = std::uint64_t{1} << 40,
                               .disabled = false,
                               .pinned = true});
  Group whole(std::vector(CounterCount(spec), spec));
  whole.Enable();
  Pulse(spec, 300);
  EXPECT_EQ(whole.Read().entries[0].value, 0u);
  EXPECT_EQ(whole.Read().time_running, 0u);
  whole.Disable();
  const std::vector<Event> fit =
      OpenEach(std::vector(CounterCount(spec) - 1, spec), {.disabled = false});
  Pulse(spec, 20);
  for (const Event& event : fit) EXPECT_THAT(event.Read(), Counted(spec, 20));
  DisableEach(fit);
  whole.Enable();
  watchdog.Close();
  EXPECT_TRUE(RepeatUntil([&spec] { Pulse(spec, 1); },
                          [&whole] { return whole.Read().entries[0].value > 0; }));
}

CONFORMANCE_CASE(Multiplex, FarMoreEventsThanCountersAllGetATurn,
                 .rules = {rule::MUX_018, rule::MUX_017},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing}, .timing = kOneTurnAMillisecond) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> events = OpenEach(std::vector(40, spec));
  EnableEach(events);
  std::uint64_t before = 0, pulsed = 0, sum = 0;
  for (const Event& event : events) before += event.Read().value;
  std::size_t had = 0;
  EXPECT_TRUE(RepeatUntil([&] { Pulse(spec, 1), ++pulsed; },
                          [&] {
                            while (had < events.size() && events[had].Read().value > 0) ++had;
                            return had == events.size();
                          }))
      << rule::MUX_018;
  DisableEach(events);
  for (const Event& event : events) sum += event.Read().value;
  EXPECT_EQ(sum - before, CounterCount(spec) * pulsed) << rule::MUX_018;
}

CONFORMANCE_CASE(Multiplex, OtherPmusRunThroughTheRotation, .rules = {rule::MUX_019},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kTasks, Cap::kAnyTask,
                           Cap::kBreakpoints},
                 .timing = kOneTurnAMillisecond) {
  const MuxInterval interval(1);
  static volatile std::uint64_t watched;
  const Event stores = Open(CountStores(watched, {.disabled = false}));
  const Event clock = Open(Software(PERF_COUNT_SW_TASK_CLOCK), {.disabled = false});
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> events = OpenEach(std::vector(CounterCount(spec) + 2, spec));
  EnableEach(events);
  std::uint64_t stored = 0;
  std::size_t had = 0;
  EXPECT_TRUE(RepeatUntil(
      [&] {
        Pulse(spec, 1), ++stored;
        watched = stored;
      },
      [&] {
        while (had < events.size() && events[had].Read().value > 0) ++had;
        return had == events.size();
      }));
  EXPECT_EQ(stores.Read().value, stored);
  for (const Event* other : {&stores, &clock}) {
    const Reading reading = other->Read();
    EXPECT_EQ(reading.time_running, reading.time_enabled);
  }
}

CASE_USES(Multiplex, CgroupsRotateApart, Feature::kPerfCgroups);
CONFORMANCE_CASE(Multiplex, CgroupsRotateApart, .rules = {rule::MUX_020},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kTasks, Cap::kAnyTask},
                 .timing = kOneTurnAMillisecond) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const CgroupRoot root;
  const Cgroup here(root, "pmuconf-here"), absent(root, "pmuconf-absent");
  const auto open_in = [&spec](const Cgroup& cgroup) {
    const Fd folder = cgroup.Folder();
    return OpenEach(std::vector(CounterCount(spec) + 2, spec),
                    {.pid = folder.get(),
                     .cpu = EventCpu(),
                     .flags = PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP});
  };
  const std::vector<Event> waiting = open_in(absent), running = open_in(here);
  here.Enter();
  EnableEach(waiting);
  EnableEach(running);
  std::uint64_t before = 0, pulsed = 0, sum = 0;
  for (const Event& event : running) before += event.Read().value;
  std::size_t had = 0;
  EXPECT_TRUE(RepeatUntil([&] { Pulse(spec, 1), ++pulsed; },
                          [&] {
                            while (had < running.size() && running[had].Read().value > 0) ++had;
                            return had == running.size();
                          }));
  for (const Event& event : running) sum += event.Read().value;
  EXPECT_EQ(sum - before, CounterCount(spec) * pulsed);
  for (const Event& event : waiting) {
    EXPECT_EQ(event.Read().value, 0u);
    EXPECT_EQ(event.Read().time_running, 0u);
  }
}

CONFORMANCE_CASE(Multiplex, IntervalIsANumberOfAtLeastOne, .rules = {rule::MUX_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing}) {
  const MuxInterval interval(7);
  const std::string path = DeviceFile("perf_event_mux_interval_ms");
  for (const std::string text : {"0", "-1", "x", "1x", "1.5", "99999999999"}) {
    const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    const ssize_t written = write(file.get(), text.data(), text.size());
    EXPECT_EQ(written, -1) << text;
    EXPECT_EQ(ReadFile(path), "7") << text;
  }
  const MuxInterval least(1);
  EXPECT_EQ(ReadFile(path), "1");
}

}  // namespace
}  // namespace pmuconf
