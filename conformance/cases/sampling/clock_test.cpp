// SPDX-License-Identifier: Apache-2.0
// Sampling by time: frequencies that converge, periods that are too short, and the software clocks.
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "cases/common.h"
#include "perf/ring.h"
#include "rules/SMP.h"
#include "system/context.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

EventSpec Clock() { return target().Events({.stimulus = StimulusKind::kClock}).front(); }

// A tick of the port's clock is a nanosecond. The kernel adjusts the distance between samples,
// which is a period and the latency of its interrupt. So the period stays below the requested
// distance by that latency.
CONFORMANCE_CASE(
    Sampling, PeriodConvergesToFrequency, .rules = {rule::SMP_004},
    .needs = {Cap::kSampling, Cap::kFrequency, Cap::kManualClock},
    .timing =
        "waits until the period is 1/8 to 9/8 of the right one, at most 5 s: the kernel corrects "
        "1/8 of the error at each overflow and tick, so one without a delay is enough") {
  const EventSpec spec = Clock();
  const Event event = Open(spec, {.sample_freq = 500, .sample_type = PERF_SAMPLE_PERIOD});
  Ring ring(event, 64);
  const std::uint64_t want = 1'000'000'000 / spec.ticks / 500;
  std::uint64_t period = 0;
  const AutoClock running;
  event.Enable();
  EXPECT_TRUE(RepeatUntil(
      [&] {
        for (const Sample& sample : ring.Drain().samples) period = *sample.period;
      },
      [&] { return period >= want / 8 && period <= want + want / 8; }))
      << period;
  event.Disable();
}

CONFORMANCE_CASE(Sampling, AllCpusSampleAtOnce, .rules = {rule::SMP_012},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kCpus2,
                           Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const std::vector<int> cpus = target().Cpus();
  std::vector<Event> events;
  std::vector<Ring> rings;
  for (const int cpu : cpus) {
    const OpenOptions options = {
        .pid = -1, .cpu = cpu, .sample_period = 4, .sample_type = PERF_SAMPLE_CPU};
    events.push_back(Open(spec, options));
    rings.emplace_back(events.back(), 16);
  }
  EnableEach(events);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&spec, cpu = cpus[i], n = 4 * (i + 1)] {
      PinTo(cpu);
      for (int round = 0; round < 25; ++round) target().Stimulate(spec, n);
    });
  }
  for (std::thread& thread : threads) thread.join();
  DisableEach(events);
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const RingContents contents = rings[i].Drain();
    EXPECT_EQ(contents.samples.size(), 25 * (i + 1));
    for (const Sample& sample : contents.samples) {
      EXPECT_EQ(sample.cpu, static_cast<std::uint32_t>(cpus[i]));
    }
    EXPECT_THAT(events[i].Read(), Counted(spec, 100 * (i + 1)));
  }
}

CONFORMANCE_CASE(Sampling, ThrottlingLetsProgramsProgress, .rules = {rule::SMP_013},
                 .needs = {Cap::kSampling, Cap::kManualClock},
                 .timing = "waits for one throttle, which comes at the next tick at the latest") {
  const SampleRateLimit limit(1'000);
  const Event event = Open(Clock(), {.sample_period = target().min_period()});
  Ring ring(event, 64);
  const AutoClock running;
  event.Enable();
  bool throttled = false;
  EXPECT_TRUE(RepeatUntil([] { syscall(SYS_getppid); },
                          [&] {
                            throttled = throttled || !ring.Drain().throttles.empty();
                            return throttled;
                          }));
  for (int i = 0; i < 1'000; ++i) syscall(SYS_getppid);
  event.Disable();
  EXPECT_GT(event.Read().value, 0u);
}

CONFORMANCE_CASE(Sampling, SoftwareClocksKeepToTheirShortestPeriod, .rules = {rule::SMP_016},
                 .timing = "waits for a hundred samples of each clock, at most 5 s") {
  for (const perf_sw_ids id : {PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK}) {
    const Event event = Open(Software(id), {.sample_period = 1});
    Ring ring(event, 256);
    event.Enable();
    std::size_t samples = 0;
    EXPECT_TRUE(RepeatUntil([] { BusyWait(0.0005); },
                            [&] {
                              samples += ring.Drain().samples.size();
                              return samples >= 100;
                            }));
    event.Disable();
    samples += ring.Drain().samples.size();
    EXPECT_LE(samples, event.Read().time_running / 10'000 + 1);
  }
}

constexpr std::uint64_t kJudgedIdle_ms = 100;

// The idle time of a CPU in ticks of USER_HZ, which are 10 ms: the fourth number of its line in
// /proc/stat. An idle CPU that waits for I/O has it in the fifth.
std::uint64_t IdleTicks(int cpu) {
  std::ifstream lines("/proc/stat");
  const std::string name = "cpu" + std::to_string(cpu) + " ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream words(line.substr(name.size()));
    std::uint64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0;
    if (words >> user >> nice >> system >> idle >> waiting) return idle + waiting;
  }
  throw Broken("/proc/stat has no times of CPU " + std::to_string(cpu));
}

CONFORMANCE_CASE(Sampling, IdleIsSampledUnlessExcluded, .rules = {rule::SMP_016},
                 .needs = {Cap::kCpus2},
                 .timing = "waits for five samples of the other CPU's idle task, at most 5 s") {
  OpenOptions options = {
      .pid = -1, .cpu = target().Cpu(1), .sample_period = 500'000, .sample_type = PERF_SAMPLE_TID};
  const Event all = Open(Software(PERF_COUNT_SW_CPU_CLOCK), options);
  options.exclude_idle = true;
  const Event busy = Open(Software(PERF_COUNT_SW_CPU_CLOCK), options);
  Ring of_all(all, 64), of_busy(busy, 64);
  all.Enable();
  busy.Enable();
  const auto idle = [](const RingContents& contents) {
    return std::ranges::count_if(contents.samples, [](const Sample& s) { return s.pid == 0; });
  };
  std::ptrdiff_t seen = 0;
  const std::uint64_t idle_before = IdleTicks(options.cpu);
  const bool enough = RepeatUntil([] { BusyWait(0.002); },
                                  [&] {
                                    EXPECT_EQ(idle(of_busy.Drain()), 0);
                                    seen += idle(of_all.Drain());
                                    return seen >= 5;
                                  });
  // Ten periods fit into half of the shortest idle time that is judged.
  const std::uint64_t idle_ticks = IdleTicks(options.cpu) - idle_before;
  if (!enough && !HasFailure() && idle_ticks * 10 < kJudgedIdle_ms) {
    throw Skipped{SkipReason::kNotQuiet, "other tasks ran on CPU " + std::to_string(options.cpu) +
                                             ", which was idle for " +
                                             std::to_string(idle_ticks * 10) + " ms"};
  }
  EXPECT_TRUE(enough);
}

// No stint is as long as the period. Without the elapsed part of the period, each of them would
// begin a whole one, and no sample would ever come.
CONFORMANCE_CASE(Sampling, SoftwareClocksKeepTheElapsedPart, .rules = {rule::SMP_011},
                 .needs = {Cap::kSoftware}, .budget_s = 30,
                 .timing = "repeats stints of 4 ms until the event ran for longer than a period") {
  for (const perf_sw_ids id : {PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK}) {
    const Event event = Open(Software(id), {.sample_period = 200'000'000});
    Ring ring(event, 1);
    std::size_t samples = 0;
    while (samples == 0 && event.Read().time_running < 300'000'000) {
      event.Enable();
      BusyWait(0.004);
      event.Disable();
      samples += ring.Drain().samples.size();
    }
    EXPECT_EQ(samples, 1u);
  }
}

}  // namespace
}  // namespace pmuconf
