// SPDX-License-Identifier: Apache-2.0
// Contexts that coexist: of a task and a CPU, of two PMUs, of another PID namespace, of a kernel
// thread.
#include <sched.h>

#include <numeric>
#include <sstream>

#include "cases/common.h"
#include "cases/kernel_pmus.h"
#include "cases/subject.h"
#include "perf/ring.h"
#include "rules/CTX.h"
#include "rules/PM.h"

namespace pmuconf {
namespace {

// The tid in the only sample in `ring`.
std::uint32_t SampledTid(Ring& ring) {
  const RingContents contents = ring.Drain();
  if (contents.samples.size() != 1) throw Broken("not one sample");
  const Sample& sample = contents.samples.front();
  if (*sample.pid != *sample.tid) throw Broken("a process of one thread has another tid");
  return *sample.tid;
}

constexpr int kWrongTid = 1, kInside = 0;

CONFORMANCE_CASE(Context, RecordsUsePidNamespaceOfOpener, .rules = {rule::CTX_009},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const OpenOptions options = {
      .sample_period = 2, .sample_type = PERF_SAMPLE_TID, .disabled = false};
  Child outside([&] {
    if (unshare(CLONE_NEWPID) != 0) return 126;
    // The first process of the new namespace has pid 1 in it.
    Child first([&] {
      const Event own = Open(spec, options);
      Ring ring(own);
      target().Stimulate(spec, 2);
      return SampledTid(ring) == 1 ? kInside : kWrongTid;
    });
    OpenOptions of_first = options;
    of_first.pid = first.pid();
    const Event event = Open(spec, of_first);
    Ring ring(event);
    first.Go();
    const pid_t pid = first.pid();
    if (first.Wait() != kInside) return kWrongTid;
    return SampledTid(ring) == static_cast<std::uint32_t>(pid) ? kInside : 2;
  });
  EXPECT_EQ(outside.Run(), kInside);
}

std::uint64_t Sum(const std::vector<Event>& events) {
  return std::accumulate(
      events.begin(), events.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Event& event) { return sum + event.Read().value; });
}

CONFORMANCE_CASE(Context, TaskEventsRotateOnFreeCounters, .rules = {rule::CTX_010},
                 .needs = {Cap::kStimulus},
                 .timing =
                     "waits until each event of the task had its turns, at most 5 s; a turn takes "
                     "a rotation interval of 1 ms") {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::size_t counters = CounterCount(spec);
  const std::vector<Event> of_cpu =
      OpenEach(std::vector(counters - 1, spec), {.pid = -1, .cpu = EventCpu()});
  const std::vector<Event> of_task = OpenEach(std::vector(std::size_t{3}, spec));
  EnableEach(of_cpu);
  EnableEach(of_task);
  const std::uint64_t before = Sum(of_task), cpu_before = of_cpu.front().Read().value;
  std::uint64_t pulsed = 0;
  EXPECT_TRUE(RepeatUntil([&] { Pulse(spec, 1), ++pulsed; },
                          [&] {
                            return std::all_of(of_task.begin(), of_task.end(),
                                               [](const Event& e) { return e.Read().value >= 5; });
                          }));
  EXPECT_EQ(Sum(of_task) - before, pulsed);
  for (const Event& event : of_cpu) {
    const Reading reading = event.Read();
    EXPECT_EQ(reading.value - cpu_before, pulsed);
    EXPECT_EQ(reading.time_running, reading.time_enabled);
  }
}

alignas(8) volatile std::uint64_t watched = 0;

CONFORMANCE_CASE(Context, OvercommittedPmuLeavesOthersAlone, .rules = {rule::CTX_011},
                 .needs = {Cap::kStimulus, Cap::kAnyTask, Cap::kBreakpoints},
                 .timing =
                     "waits until each event had its turns, at most 5 s; a turn takes a rotation "
                     "interval of 1 ms") {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> early = OpenEach(std::vector(CounterCount(spec) + 2, spec));
  EnableEach(early);
  perf_event_attr attr = Breakpoint(&watched, 8);
  attr.disabled = 0;
  const Event hits = Open(attr);
  const Event clock = Open(Software(PERF_COUNT_SW_TASK_CLOCK), {.disabled = false});
  const Event late = Open(spec, {.disabled = false});
  std::uint64_t written = 0;
  EXPECT_TRUE(RepeatUntil(
      [&] {
        Pulse(spec, 1);
        watched = ++written;
      },
      [&] {
        return late.Read().value >= 5 &&
               std::all_of(early.begin(), early.end(),
                           [](const Event& event) { return event.Read().value >= 5; });
      }));
  EXPECT_EQ(hits.Read().value, written);
  for (const Event* event : {&hits, &clock}) {
    const Reading reading = event->Read();
    EXPECT_EQ(reading.time_running, reading.time_enabled);
  }
}

// The kernel thread that moves tasks away from `cpu`.
pid_t MigrationThread(int cpu) {
  const std::string name = "migration/" + std::to_string(cpu);
  for (const std::string& entry : ListFolder("/proc")) {
    if (entry.find_first_not_of("0123456789") != std::string::npos) continue;
    if (ReadFile("/proc/" + entry + "/comm") == name) return std::stoi(entry);
  }
  throw Broken("there is no thread " + name);
}

CONFORMANCE_CASE(Context, EventFollowsKernelThread, .rules = {rule::CTX_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2},
                 .timing =
                     "waits until the migration thread has run, at most 5 s; the case repeats its "
                     "request, and one move takes far less") {
  const int here = target().Cpu(0), there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.pid = MigrationThread(here), .disabled = false});
  target().Stimulate(spec, 1'000);
  EXPECT_EQ(event.Read().value, 0u);
  const std::uint64_t before = event.Read().time_running;
  // sched_setaffinity(2) makes that thread move a task that runs on a CPU outside of its mask.
  EXPECT_TRUE(RepeatUntil([&] { PinTo(there), PinTo(here); },
                          [&] { return event.Read().time_running > before; }));
  PinTo(there);
  const Reading still = event.Read();
  BusyWait(0.002);
  EXPECT_EQ(event.Read().time_running, still.time_running);
  EXPECT_EQ(event.Read().value, 0u);
}

// The clock of the PMU makes events happen while the thread runs, which no other task can do.
CONFORMANCE_CASE(Context, EventCountsWhileKernelThreadRuns, .rules = {rule::CTX_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kManualClock, Cap::kCpus2},
                 .timing =
                     "waits until the migration thread has counted, at most 5 s; the case repeats "
                     "its request, and one move takes far less",
                 .over = {Over<dim::Cpu>()}) {
  const int here = CurrentCpu(), there = OtherCpu();
  const EventSpec clock = target().Events({.stimulus = StimulusKind::kClock}).front();
  const Event event = Open(clock, {.pid = MigrationThread(here), .disabled = false});
  const AutoClock running;
  EXPECT_TRUE(
      RepeatUntil([&] { PinTo(there), PinTo(here); }, [&] { return event.Read().value >= 100; }));
  PinTo(there);
  const Reading still = event.Read();
  BusyWait(0.002);
  EXPECT_EQ(event.Read().value, still.value);
  EXPECT_LE(still.value, still.time_running / clock.ticks + 1);
}

CONFORMANCE_CASE(Context, EventsTakeTurnsWithoutATick, .rules = {rule::CTX_013},
                 .needs = {Cap::kStimulus, Cap::kCpus2}, .cpu = 1,
                 .timing =
                     "waits until each event had its turns, at most 5 s; a turn takes a rotation "
                     "interval of 1 ms") {
  const auto text = ReadFile("/sys/devices/system/cpu/nohz_full");
  const std::vector<int> tickless = ParseCpuList(text.value_or("")).value_or(std::vector<int>{});
  const int here = target().Cpu(1);
  if (std::find(tickless.begin(), tickless.end(), here) == tickless.end()) {
    SkipCase(Cap::kCpus2, "CPU " + std::to_string(here) + " has its tick: boot with nohz_full=");
  }
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> events = OpenEach(std::vector(CounterCount(spec) + 2, spec));
  EnableEach(events);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint64_t> before;
    for (const Event& event : events) before.push_back(event.Read().value);
    EXPECT_TRUE(RepeatUntil([&] { BusyWait(0.001), Pulse(spec, 1); },
                            [&] {
                              for (std::size_t i = 0; i < events.size(); ++i) {
                                if (events[i].Read().value == before[i]) return false;
                              }
                              return true;
                            }));
  }
}

// The number of ticks for which `cpu` was idle.
std::uint64_t IdleTicks(int cpu) {
  std::istringstream lines(ReadFile("/proc/stat").value_or(""));
  const std::string name = "cpu" + std::to_string(cpu);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t user = 0, nice = 0, system = 0, idle = 0;
    if (words >> word >> user >> nice >> system >> idle && word == name) return idle;
  }
  throw Broken("/proc/stat knows no " + name);
}

CONFORMANCE_CASE(Context, CpuEventCountsWhileIdle, .rules = {rule::CTX_012, rule::PM_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2},
                 .timing =
                     "waits ten times until the idle time of the CPU advances, at most 5 s each; "
                     "nothing else runs there, so it takes a few ticks") {
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  const Event counts = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
  std::uint64_t want = 0;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const std::uint64_t idle = IdleTicks(there);
    ASSERT_TRUE(RepeatUntil([] { sched_yield(); }, [&] { return IdleTicks(there) > idle; }));
    EXPECT_THAT(counts.Read(), Counted(spec, want)) << rule::PM_003;
    target().Stimulate(spec, i, {.cpu = there});
    want += i;
    EXPECT_THAT(counts.Read(), Counted(spec, want)) << rule::CTX_012 << rule::PM_003;
  }
  const Reading reading = counts.Read();
  EXPECT_EQ(reading.time_running, reading.time_enabled) << rule::PM_003;
}

}  // namespace
}  // namespace pmuconf
