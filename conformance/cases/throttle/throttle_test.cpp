// SPDX-License-Identifier: Apache-2.0
// Throttling: an event that overflows too often stops, and continues at the next tick.
#include <fcntl.h>

#include "cases/throttle/throttled.h"
#include "harness/behaviour.h"
#include "perf/kernel_behaviour.h"
#include "rules/MUX.h"
#include "rules/REC.h"
#include "rules/THR.h"

namespace pmuconf {
namespace {

// Checks that there is at most one sample between a THROTTLE and its UNTHROTTLE: the one of the
// overflow that exceeded the limit.
void ExpectNoSampleWhileThrottled(const RingContents& got) {
  bool throttled = false;
  int samples = 0;
  for (const std::uint32_t type : got.order) {
    if (type == PERF_RECORD_THROTTLE) {
      EXPECT_FALSE(throttled) << rule::REC_106;
      throttled = true;
      samples = 0;
    } else if (type == PERF_RECORD_UNTHROTTLE) {
      EXPECT_TRUE(throttled) << rule::REC_106;
      throttled = false;
    } else if (type == PERF_RECORD_SAMPLE) {
      EXPECT_LE(throttled ? ++samples : 0, 1) << rule::THR_001;
    }
  }
}

// Attaches the number of samples over time, and when the event was throttled and unthrottled.
void AttachThrottling(const RingContents& got) {
  Series samples = {"samples", {}};
  Series throttled = {"throttled", {}};
  Series unthrottled = {"unthrottled", {}};
  std::size_t records = 0;
  std::uint64_t begin = 0;
  for (const std::uint32_t type : got.order) {
    const bool is_sample = type == PERF_RECORD_SAMPLE;
    if (!is_sample && type != PERF_RECORD_THROTTLE && type != PERF_RECORD_UNTHROTTLE) continue;
    // An invalid record has failed the case, and has no entry.
    if ((is_sample ? got.samples.size() <= samples.points.size() : got.throttles.size() <= records))
      break;
    const std::uint64_t time = is_sample ? got.samples[samples.points.size()].time.value_or(0)
                                         : got.throttles[records++].time;
    if (begin == 0) begin = time;
    Series& series = is_sample ? samples : (type == PERF_RECORD_THROTTLE ? throttled : unthrottled);
    series.points.emplace_back((static_cast<double>(time) - static_cast<double>(begin)) / 1e6,
                               samples.points.size() + is_sample);
  }
  Attach({.name = "throttling",
          .title = "Samples of a throttled event",
          .mark = Mark::kPoints,
          .x = {"time", "ms"},
          .y = {"samples so far", ""},
          .series = {samples, throttled, unthrottled}});
}

CONFORMANCE_CASE(Throttle, ThrottledEventStopsSampling, .rules = {rule::THR_001, rule::REC_106},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  const SampleRateLimit limit(kOnePerTick);
  for (const std::uint64_t period : {1, 13}) {
    Throttled run(*this, period);
    run.UntilThrottled();
    for (int i = 0; i < 3; ++i) Pulse(run.spec, 50 * period);
    run.event.Disable();
    run.Drain();
    ExpectNoSampleWhileThrottled(run.got);
  }
}

CONFORMANCE_CASE(Throttle, LimitOfOneSampleThrottlesEachOverflow, .rules = {rule::THR_018},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const SampleRateLimit limit(kOnePerTick);
  Throttled run(*this, 10);
  run.UntilThrottled();
  run.event.Disable();
  run.Drain();
  const auto count = [&run](std::uint32_t type) {
    return std::count(run.got.order.begin(), run.got.order.end(), type);
  };
  EXPECT_EQ(count(PERF_RECORD_SAMPLE), count(PERF_RECORD_THROTTLE));
}

CONFORMANCE_CASE(Throttle, NothingIsCountedTwiceOrWhileThrottled, .rules = {rule::THR_004},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kAnyTask},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const SampleRateLimit limit(kOnePerTick);
  Throttled run(*this, 1);
  for (int i = 0; i < 2; ++i) {
    run.UntilThrottled();
    Pulse(run.spec, 100);
    run.UntilRestarted();
  }
  run.event.Disable();
  run.Drain();
  // With period 1, a count without a sample would come from the time when the event was throttled.
  EXPECT_THAT(run.event.Read(), Counted(run.spec, run.got.samples.size()));
}

CONFORMANCE_CASE(Throttle, ThrottleStopsEveryCounter, .rules = {rule::THR_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  const SampleRateLimit limit(kOnePerTick);
  for (const EventSpec& spec : FullSet()) {
    Throttled run(1, PERF_SAMPLE_PERIOD, spec);
    for (int i = 0; i < 1'000 && !run.throttled(); ++i) {
      Pulse(spec, 20);
      run.Drain();
    }
    ASSERT_TRUE(run.throttled()) << rule::THR_001;
    Pulse(spec, 100);
    run.event.Disable();
    run.Drain();
    EXPECT_THAT(run.event.Read(), Counted(spec, run.got.samples.size()));
  }
}

CONFORMANCE_CASE(Throttle, EventMovedWhileThrottledCountsExactly,
                 .rules = {rule::THR_005, rule::MUX_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSampling}) {
  const SampleRateLimit limit(kOnePerTick);
  for (const EventSpec& narrow : target().Events()) {
    // These events need all counters that can count them, so each other event must move if it can.
    // They are opened in advance, because the next tick unthrottles the event.
    std::vector<Event> others;
    for (std::size_t i = 0; i < CounterCount(narrow); ++i) {
      if (CounterCount(narrow) < CounterCount(target().AnyEvent())) others.push_back(Open(narrow));
    }
    // A pinned event stays on its counter while perf adds flexible ones.
    Throttled run(1'000, PERF_SAMPLE_PERIOD, target().AnyEvent(), true);
    run.UntilThrottled();
    const std::uint64_t before = run.event.Read().value;
    EnableEach(others);
    run.UntilUnthrottled();
    SampleRateLimit::Set(SampleRateLimit::kNoLimit);
    target().Stimulate(run.spec, 4'321);
    EXPECT_THAT(run.event.Read(), Counted(run.spec, before + 4'321)) << rule::THR_005;
    SampleRateLimit::Set(kOnePerTick);
  }
}

CONFORMANCE_CASE(Throttle, UnthrottledEventResumes, .rules = {rule::THR_002, rule::REC_106},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kAnyTask},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const SampleRateLimit limit(kOnePerTick);
  for (const std::uint64_t period : {1, 1'000}) {
    Throttled run(*this, period, PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME);
    run.UntilThrottled();
    run.UntilRestarted();
    SampleRateLimit::Set(SampleRateLimit::kNoLimit);
    const std::uint64_t before = run.event.Read().value;
    const std::size_t samples = run.got.samples.size();
    Pulse(run.spec, 4 * period);
    run.Drain();
    EXPECT_THAT(run.event.Read(), Counted(run.spec, before + 4 * period)) << rule::THR_002;
    AttachThrottling(run.got);
    EXPECT_EQ(run.got.samples.size(), samples + 4) << rule::THR_002;
    ExpectNoSampleWhileThrottled(run.got);
    SampleRateLimit::Set(kOnePerTick);
  }
}

// A context switch unthrottles an event, too. So nothing may preempt this task. The kernel preempts
// a real-time task only after most of a second.
CONFORMANCE_CASE(Throttle, TickUnthrottlesWithoutContextSwitch, .rules = {rule::THR_002},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask},
                 .timing = "waits for the next tick, at most 0.5 s; it comes after milliseconds",
                 .over = {Over(dim::Member::kAlone, dim::Member::kLeader)}) {
  const SampleRateLimit limit(kOnePerTick);
  const NoPreemption no_preemption;
  Throttled run(*this, 10);
  run.UntilThrottled();
  run.UntilUnthrottled(500'000'000);
}

CONFORMANCE_CASE(Throttle, ThrottleKeepsPeriodsComplete, .rules = {rule::THR_004, rule::THR_002},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kAnyTask},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const SampleRateLimit limit(kOnePerTick);
  const std::uint64_t period = 10;
  Throttled run(*this, period, PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ);
  run.UntilThrottled();
  run.UntilRestarted();
  Pulse(run.spec, 10 * period);
  run.event.Disable();
  run.Drain();
  for (std::size_t i = 0; i < run.got.samples.size(); ++i) {
    EXPECT_EQ(run.got.samples[i].read->value, period * (i + 1)) << rule::THR_004;
  }
  EXPECT_EQ(run.event.Read().value / period, run.got.samples.size()) << rule::THR_004;
}

CONFORMANCE_CASE(Throttle, ThrottleRecordsIdentifyEvent, .rules = {rule::THR_003, rule::REC_024},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kAnyTask},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const bool for_leader = ThrottlesGroups();
  EXPECT_TRUE(IsBehaviour(rule::THR_003, "for_the_leader", for_leader)) << rule::THR_003;
  const SampleRateLimit limit(kOnePerTick);
  Throttled run(*this, 1, PERF_SAMPLE_TIME | PERF_SAMPLE_STREAM_ID);
  run.UntilThrottled();
  run.UntilRestarted();
  run.event.Disable();
  run.Drain();
  const Event& about = for_leader && !run.companions.empty() ? run.companions.front() : run.event;
  std::uint64_t time = 1;
  ASSERT_GE(run.got.throttles.size(), 2u);
  for (const ThrottleRecord& record : run.got.throttles) {
    EXPECT_EQ(record.id, about.Id()) << rule::THR_003;
    EXPECT_EQ(record.stream_id, about.Id()) << rule::THR_003;
    EXPECT_GE(record.time, time) << rule::THR_003;
    EXPECT_GE(record.trailer.time, record.time) << rule::REC_024;
    EXPECT_EQ(record.trailer.id, about.Id()) << rule::REC_024;
    time = record.time;
  }
}

CONFORMANCE_CASE(Throttle, ReenabledEventIsUnthrottled, .rules = {rule::THR_005, rule::THR_004},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  const SampleRateLimit limit(kOnePerTick);
  Throttled run(*this, 3);
  for (int i = 0; i < 2; ++i) {
    run.UntilThrottled();
    run.event.Disable();
    run.Drain();
    const std::uint64_t before = run.event.Read().value;
    run.event.Enable();
    Pulse(run.spec, 1);
    EXPECT_THAT(run.event.Read(), Counted(run.spec, before + 1)) << rule::THR_005;
    Pulse(run.spec, 2);
    EXPECT_THAT(run.event.Read(), Counted(run.spec, before + 3)) << rule::THR_005;
    run.Drain();
  }
}

CONFORMANCE_CASE(Throttle, OtherEventsKeepCounting, .rules = {rule::THR_004},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSeveralEvents, Cap::kSampling,
                           Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const SampleRateLimit limit(kOnePerTick);
  const EventSpec other = target().AnyEvents(2)[1];
  const Event bystander = Open(other);
  bystander.Enable();
  Throttled run(1);
  std::uint64_t counted = 0;
  for (int i = 0; i < 4; ++i) {
    run.UntilThrottled();
    target().Stimulate(other, 1'000);
    run.UntilUnthrottled();
    target().Stimulate(other, 17);
    counted += 1'017;
    EXPECT_THAT(bystander.Read(), Counted(other, counted));
  }
}

CONFORMANCE_CASE(Throttle, RateIsReadOnlyWithoutCpuTimeLimit, .rules = {rule::THR_006},
                 .needs = {Cap::kSampling}) {
  const std::string rate = "kernel/perf_event_max_sample_rate";
  const auto write_fails_with = [&rate](const std::string& value) {
    const Fd fd(open(("/proc/sys/" + rate).c_str(), O_WRONLY | O_CLOEXEC));
    return write(fd.get(), value.data(), value.size()) < 0 ? errno : 0;
  };
  const SampleRateLimit restored(5'000);
  for (const char* off : {"0", "100"}) {
    const Sysctl percent("kernel/perf_cpu_time_max_percent", off);
    EXPECT_EQ(write_fails_with("4000"), EINVAL);
    EXPECT_EQ(Sysctl::Get(rate), "5000");
  }
  const Sysctl percent("kernel/perf_cpu_time_max_percent", "25");
  EXPECT_EQ(write_fails_with("0"), EINVAL);
  EXPECT_EQ(write_fails_with("4000"), 0);
  EXPECT_EQ(Sysctl::Get(rate), "4000");
}

CONFORMANCE_CASE(Throttle, ThrottleEndsOnTheSecondCpuToo, .rules = {rule::THR_002},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kCpus2,
                           Cap::kAnyTask},
                 .cpu = 1,
                 .timing = "waits for the next tick, at most 2 s; it comes after milliseconds") {
  const SampleRateLimit limit(kOnePerTick);
  Throttled run(1);
  for (int i = 0; i < 5; ++i) {
    run.UntilThrottled();
    run.UntilUnthrottled();
    SampleRateLimit::Set(SampleRateLimit::kNoLimit);
    const std::uint64_t before = run.event.Read().value;
    const std::size_t samples = run.got.samples.size();
    target().Stimulate(run.spec, 7);
    run.Drain();
    EXPECT_THAT(run.event.Read(), Counted(run.spec, before + 7));
    EXPECT_EQ(run.got.samples.size(), samples + 7);
    SampleRateLimit::Set(kOnePerTick);
  }
}

CONFORMANCE_CASE(Throttle, SlowHandlersLowerTheRate, .rules = {rule::THR_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kMultiplexing},
                 .timing = "waits for nothing: a handler takes longer than its 10 ns") {
  const std::string rate = "kernel/perf_event_max_sample_rate";
  const EventSpec spec = target().AnyEvent();
  // 1 % of the time, divided by a million samples per second, is 10 ns per sample. At the highest
  // rate it is less than a nanosecond, which must not mean that there is no limit.
  for (const std::uint64_t highest : {std::uint64_t{1'000'000}, SampleRateLimit::kNoLimit}) {
    const SampleRateLimit restored(highest);
    auto [event, ring] = Sampler(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_TIME}, 1);
    target().Stimulate(spec, 300);
    EXPECT_EQ(Sysctl::Get(rate), std::to_string(highest));
    const Sysctl percent("kernel/perf_cpu_time_max_percent", "1");
    target().Stimulate(spec, 300);
    const std::uint64_t lowered = std::stoull(Sysctl::Get(rate));
    EXPECT_LT(lowered, highest);
    EXPECT_GT(lowered, 0u);
  }
}

CONFORMANCE_CASE(Throttle, TimerEventStopsAndResumes,
                 .rules = {rule::THR_008, rule::THR_002, rule::REC_106},
                 .needs = {Cap::kSampling, Cap::kTasks},
                 .timing = "waits until ticks have ended six throttles, at most 5 s") {
  const SampleRateLimit limit(kOnePerTick);
  const Event event = Open(Software(PERF_COUNT_SW_CPU_CLOCK), {.sample_period = 50'000});
  Ring ring(event, 16);
  event.Enable();
  RingContents got;
  std::ptrdiff_t lifted = 0;
  EXPECT_TRUE(RepeatUntil(
      [&] {
        const RingContents more = ring.Drain();
        got.order.insert(got.order.end(), more.order.begin(), more.order.end());
        lifted = std::count(got.order.begin(), got.order.end(), PERF_RECORD_UNTHROTTLE);
      },
      [&] { return lifted >= 6; }))
      << rule::THR_008;
  EXPECT_GE(std::count(got.order.begin(), got.order.end(), PERF_RECORD_SAMPLE), 6) << rule::THR_008;
  ExpectNoSampleWhileThrottled(got);
}

}  // namespace
}  // namespace pmuconf
