// SPDX-License-Identifier: Apache-2.0
// Groups with a member that overflows too often. Since Linux 6.16 the kernel throttles the group. A
// probe decides for all these cases which kind of kernel this is.
#include <sys/mman.h>

#include "cases/throttle/throttled.h"
#include "cases/tracepoint/tracepoint.h"
#include "harness/behaviour.h"
#include "harness/uses.h"
#include "perf/kernel_behaviour.h"
#include "rules/THR.h"

namespace pmuconf {
namespace {

// A group of three events that count the same. One of them samples.
class Trio {
 public:
  explicit Trio(std::size_t sampler, bool leader_has_buffer = true) : sampler_(sampler) {
    for (std::size_t i = 0; i < 3; ++i) {
      OpenOptions options = {.group_fd = i == 0 ? -1 : members_[0].fd(),
                             .sample_type = PERF_SAMPLE_ID,
                             .disabled = i == 0};
      if (i == sampler) options.sample_period = 1;
      members_.push_back(Open(spec_, options));
    }
    own_.emplace(members_[sampler], 16);
    if (sampler != 0 && leader_has_buffer) of_leader_.emplace(members_[0], 16);
    members_[0].Enable();
  }

  const EventSpec& spec() const { return spec_; }
  const Event& leader() const { return members_[0]; }
  const Event& sampler() const { return members_[sampler_]; }
  const std::vector<Event>& members() const { return members_; }

  // Appends the new records of the buffers.
  void Drain() {
    Append(own_->Drain(), &own_got_);
    if (of_leader_) Append(of_leader_->Drain(), &leader_got_);
  }
  // The records of the buffer of the member that samples, and of that of a leader that does not.
  const RingContents& own() const { return own_got_; }
  const RingContents& of_leader() const { return leader_got_; }

  std::vector<std::uint64_t> Counts() const {
    std::vector<std::uint64_t> counts;
    for (const Event& member : members_) counts.push_back(member.Read().value);
    return counts;
  }

  // Generates single events until one gives no sample, then until one does again. Returns false
  // after five seconds. Without a switch of tasks in between, a tick has ended the throttle.
  bool UntilThrottledAndBack() {
    bool paused = false;
    bool back = false;
    return RepeatUntil(
        [&] {
          const std::size_t before = own_got_.samples.size();
          Pulse(spec_, 1);
          Drain();
          const bool sampled = own_got_.samples.size() != before;
          back = paused && sampled;
          paused = paused || !sampled;
        },
        [&] { return back; });
  }

 private:
  static void Append(const RingContents& more, RingContents* got) {
    got->samples.insert(got->samples.end(), more.samples.begin(), more.samples.end());
    got->throttles.insert(got->throttles.end(), more.throttles.begin(), more.throttles.end());
  }

  EventSpec spec_ = target().AnyEvent();
  std::size_t sampler_;
  std::vector<Event> members_;
  std::optional<Ring> own_, of_leader_;
  RingContents own_got_, leader_got_;
};

CONFORMANCE_CASE(Throttle, ThrottledMemberStopsItsGroup, .rules = {rule::THR_010},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kCounters3,
                           Cap::kTasks, Cap::kAnyTask}) {
  const bool stops_group = ThrottlesGroups();
  EXPECT_TRUE(IsBehaviour(rule::THR_010, "stops_group", stops_group));
  const SampleRateLimit limit(kOnePerTick);
  for (const std::size_t sampler : {0, 1, 2}) {
    SCOPED_TRACE(sampler);
    Trio trio(sampler);
    constexpr std::uint64_t kPulses = 400;
    for (std::uint64_t i = 0; i < kPulses; ++i) Pulse(trio.spec(), 1);
    trio.leader().Disable();
    trio.Drain();
    const std::uint64_t sampled = trio.own().samples.size();
    ASSERT_LT(sampled, kPulses) << "it was never throttled";
    for (std::size_t i = 0; i < 3; ++i) {
      const bool counts_on = i != sampler && !stops_group;
      EXPECT_EQ(trio.Counts()[i], counts_on ? kPulses : sampled) << i;
    }
  }
}

CONFORMANCE_CASE(Throttle, GroupHasOneThrottleRecord, .rules = {rule::THR_011},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kCounters3,
                           Cap::kTasks, Cap::kAnyTask},
                 .timing = "waits for the next tick, at most 5 s; it comes after milliseconds") {
  const bool for_leader = ThrottlesGroups();
  EXPECT_TRUE(IsBehaviour(rule::THR_011, "for_the_leader", for_leader));
  const SampleRateLimit limit(kOnePerTick);
  for (const std::size_t sampler : {0, 1, 2}) {
    SCOPED_TRACE(sampler);
    Trio trio(sampler);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(trio.UntilThrottledAndBack());
    trio.leader().Disable();
    trio.Drain();
    const bool in_own = sampler == 0 || !for_leader;
    const auto& there = (in_own ? trio.own() : trio.of_leader()).throttles;
    const auto& elsewhere = (in_own ? trio.of_leader() : trio.own()).throttles;
    const std::uint64_t id = (in_own ? trio.sampler() : trio.leader()).Id();
    EXPECT_THAT(elsewhere.size(), 0u);
    ASSERT_GE(there.size(), 6u);
    for (std::size_t i = 0; i < there.size(); ++i) {
      EXPECT_EQ(there[i].throttle, i % 2 == 0);
      EXPECT_EQ(there[i].id, id);
      EXPECT_EQ(there[i].stream_id, id);
    }
  }
}

CONFORMANCE_CASE(Throttle, GroupIsThrottledWithoutBufferOfItsLeader, .rules = {rule::THR_012},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kCounters3,
                           Cap::kTasks, Cap::kAnyTask},
                 .timing = "waits for the next tick, at most 5 s; it comes after milliseconds") {
  const SampleRateLimit limit(kOnePerTick);
  for (const std::size_t sampler : {1, 2}) {
    SCOPED_TRACE(sampler);
    Trio trio(sampler, false);
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(trio.UntilThrottledAndBack());
    }
    trio.leader().Disable();
    trio.Drain();
    EXPECT_THAT(trio.own().throttles.size(), 0u);
    EXPECT_THAT(trio.Counts(), testing::Each(trio.own().samples.size()));
  }
}

CONFORMANCE_CASE(Throttle, TickRestartsEachMember, .rules = {rule::THR_013},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask},
                 .timing = "waits for the next tick, at most 2 s; it comes after milliseconds",
                 .over = {Over(dim::Member::kLeader, dim::Member::kSibling, dim::Member::kLast)}) {
  // Without a switch of tasks, only a tick can end the throttle.
  const NoPreemption no_preemption;
  const SampleRateLimit limit(kOnePerTick);
  Throttled run(*this, 1);
  run.UntilThrottled();
  run.UntilUnthrottled();
  SampleRateLimit::Set(SampleRateLimit::kNoLimit);
  std::vector<std::uint64_t> before;
  for (const Event& other : run.companions) before.push_back(other.Read().value);
  const std::uint64_t own = run.event.Read().value;
  const std::size_t samples = run.got.samples.size();
  Pulse(run.spec, 20);
  run.Drain();
  EXPECT_THAT(run.event.Read(), Counted(run.spec, own + 20));
  EXPECT_EQ(run.got.samples.size(), samples + 20);
  for (std::size_t i = 0; i < run.companions.size(); ++i) {
    EXPECT_EQ(run.companions[i].Read().value, before[i] + 20);
  }
}

CONFORMANCE_CASE(Throttle, NewPeriodRestartsTheGroup, .rules = {rule::THR_014},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kTasks},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLeader, dim::Member::kSibling,
                               dim::Member::kLast)}) {
  const SampleRateLimit limit(kOnePerTick);
  Throttled run(*this, 1);
  run.UntilThrottled();
  run.event.Period(5);
  SampleRateLimit::Set(SampleRateLimit::kNoLimit);
  std::vector<std::uint64_t> before;
  for (const Event& other : run.companions) before.push_back(other.Read().value);
  const std::uint64_t own = run.event.Read().value;
  const std::size_t samples = run.got.samples.size();
  Pulse(run.spec, 20);
  run.event.Disable();
  run.Drain();
  EXPECT_FALSE(run.throttled());
  for (std::size_t i = 0; i < run.got.throttles.size(); ++i) {
    EXPECT_EQ(run.got.throttles[i].throttle, i % 2 == 0);
  }
  EXPECT_THAT(run.event.Read(), Counted(run.spec, own + 20));
  EXPECT_EQ(run.got.samples.size(), samples + 4);
  for (std::size_t i = 0; i < run.companions.size(); ++i) {
    EXPECT_EQ(run.companions[i].Read().value, before[i] + 20);
  }
}

// Pages that nobody has touched.
class UntouchedPages {
 public:
  explicit UntouchedPages(std::size_t n) : size_(n * PageSize()) {
    void* const pages =
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw BrokenErrno("mmap", errno);
    // Huge pages would cause fewer faults. A kernel without them returns EINVAL.
    (void)!madvise(pages, size_, MADV_NOHUGEPAGE);
    pages_ = static_cast<volatile char*>(pages);
  }
  UntouchedPages(const UntouchedPages&) = delete;
  ~UntouchedPages() { munmap(const_cast<char*>(pages_), size_); }

  void Touch(std::size_t i) const { pages_[i * PageSize()] = 1; }

 private:
  std::size_t size_;
  volatile char* pages_ = nullptr;
};

CASE_USES(Throttle, SoftwareMembersDoNotCountWhileThrottled, Feature::kSyscallEvents,
          Feature::kHighResTimers);
CONFORMANCE_CASE(Throttle, SoftwareMembersDoNotCountWhileThrottled, .rules = {rule::THR_015},
                 .timing = "waits until 5 throttles have lasted for 4 faults, at most 5 s") {
  const TraceFs tracing;
  const bool counts_on = !ThrottlesGroups();
  EXPECT_TRUE(IsBehaviour(rule::THR_015, "counts_on", counts_on));
  const SampleRateLimit limit(kOnePerTick);
  const Event timer =
      Open(Software(PERF_COUNT_SW_CPU_CLOCK), {.pid = getpid(), .sample_period = 50'000});
  const OpenOptions member = {.pid = getpid(), .group_fd = timer.fd(), .disabled = false};
  const Event faults = Open(Software(PERF_COUNT_SW_PAGE_FAULTS), member);
  const Event calls = Open(SpecOfTracepoint(kGetpgid), member);
  Ring ring(timer, 16);
  constexpr std::size_t kPages = 4'096;
  const UntouchedPages pages(kPages);
  std::size_t next = 0;
  int checked = 0;
  bool throttled = false;
  timer.Enable();
  EXPECT_TRUE(RepeatUntil(
      [&] {
        for (const ThrottleRecord& record : ring.Drain().throttles) throttled = record.throttle;
        if (!throttled || next + 4 > kPages) return;
        const std::uint64_t faults_before = faults.Read().value;
        const std::uint64_t calls_before = calls.Read().value;
        for (int i = 0; i < 4; ++i) {
          pages.Touch(next++);
          HitTracepoint({0});
        }
        const std::uint64_t new_faults = faults.Read().value - faults_before;
        const std::uint64_t new_calls = calls.Read().value - calls_before;
        // A record in between means that a tick or a switch of tasks has ended the throttle.
        const RingContents later = ring.Drain();
        if (!later.order.empty()) {
          for (const ThrottleRecord& record : later.throttles) throttled = record.throttle;
          return;
        }
        ++checked;
        EXPECT_EQ(new_faults, counts_on ? 4u : 0u);
        EXPECT_EQ(new_calls, counts_on ? 4u : 0u);
      },
      [&] { return checked >= 5; }));
}

CASE_USES(Throttle, ClockMemberKeepsItsTime, Feature::kHighResTimers);
// The time of a member that counts from before the first sample after each start until after the
// THROTTLE record is at least the time between these two records.
CONFORMANCE_CASE(Throttle, ClockMemberKeepsItsTime, .rules = {rule::THR_016},
                 .timing = "waits until ticks have ended five throttles, at most 5 s") {
  const NoPreemption no_preemption;
  // With 50 us per overflow, a throttle comes within a tick of any length, but not at once.
  const SampleRateLimit limit(5'000);
  const Event timer =
      Open(Software(PERF_COUNT_SW_CPU_CLOCK),
           {.pid = getpid(), .sample_period = 50'000, .sample_type = PERF_SAMPLE_TIME});
  const OpenOptions member = {.pid = getpid(), .group_fd = timer.fd(), .disabled = false};
  const Event task_clock = Open(Software(PERF_COUNT_SW_TASK_CLOCK), member);
  const Event cpu_clock = Open(Software(PERF_COUNT_SW_CPU_CLOCK), member);
  // Reading it updates the time of the task's events, from which task-clock counts.
  const Event outside = Open(Software(PERF_COUNT_SW_DUMMY), {.pid = getpid(), .disabled = false});
  Ring ring(timer, 16);
  std::uint64_t certain = 0;
  std::uint64_t first = 0;
  int lifted = 0;
  timer.Enable();
  ASSERT_TRUE(RepeatUntil(
      [&] {
        outside.Read();
        const RingContents got = ring.Drain();
        auto sample = got.samples.begin();
        auto throttle = got.throttles.begin();
        for (const std::uint32_t type : got.order) {
          if (type == PERF_RECORD_SAMPLE) {
            if (first == 0) first = *sample->time;
            ++sample;
          } else if (type == PERF_RECORD_THROTTLE) {
            if (first != 0) certain += throttle->time - first;
            ++throttle;
          } else if (type == PERF_RECORD_UNTHROTTLE) {
            first = 0;
            ++lifted;
            ++throttle;
          }
        }
      },
      [&] { return lifted >= 5; }));
  timer.Disable();
  EXPECT_GE(task_clock.Read().value, certain) << "task-clock";
  EXPECT_GE(cpu_clock.Read().value, certain) << "cpu-clock";
}

CONFORMANCE_CASE(Throttle, GroupOfPmuWithoutInterruptsRestarts, .rules = {rule::THR_017},
                 .needs = {Cap::kStimulus, Cap::kSystemWide},
                 .timing = "waits for the tick after a throttle, at most 5 s") {
  const SampleRateLimit limit(kOnePerTick);
  const EventSpec spec = target().AnyEvent();
  const int cpu = target().DesignatedCpu();
  PinTo(cpu);
  const Event leader = Open(spec, {.pid = -1, .cpu = cpu});
  const Event timer = Open(
      Software(PERF_COUNT_SW_CPU_CLOCK),
      {.pid = -1, .cpu = cpu, .group_fd = leader.fd(), .sample_period = 50'000, .disabled = false});
  Ring ring(timer, 16);
  leader.Enable();
  std::uint64_t before = 0;
  const auto counts = [&] {
    before = leader.Read().value;
    target().Stimulate(spec, 1);
    return leader.Read().value != before;
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(RepeatUntil([] {}, [&] { return !counts(); })) << "it was never throttled";
    ASSERT_TRUE(RepeatUntil([] {}, counts));
  }
}

}  // namespace
}  // namespace pmuconf
