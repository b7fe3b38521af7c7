// SPDX-License-Identifier: Apache-2.0
// Overflows of each counter, of several counters at once, and in groups.
#include <array>

#include "harness/case.h"
#include "perf/group.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "rules/SMP.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kPeriodAndId = PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID;

// The scope of an event: this task, or all tasks of a CPU.
struct EventScope {
  pid_t pid = 0;
  int cpu = -1;
};
// While the test holds the interrupt line, a context switch could remove an event of a task
// together with its overflow. An event of a CPU stays.
EventScope ThisCpu() { return {-1, EventCpu()}; }

struct PeriodSampler : Sampler {
  PeriodSampler(const EventSpec& an_event, std::uint64_t of_period, const EventScope& scope = {})
      : Sampler(an_event,
                {.pid = scope.pid,
                 .cpu = scope.cpu,
                 .sample_period = of_period,
                 .sample_type = kPeriodAndId},
                4),
        spec(an_event),
        period(of_period) {}
  EventSpec spec;
  std::uint64_t period;
};

// Checks that there are `samples` samples, each with the period and id of its own event.
void ExpectSamples(PeriodSampler& sampler, std::size_t samples, const Rule& rule) {
  SCOPED_TRACE(sampler.spec.name + ", period " + std::to_string(sampler.period));
  const RingContents got = sampler.ring.Drain();
  EXPECT_EQ(got.samples.size(), samples) << rule;
  EXPECT_THAT(got.lost, testing::IsEmpty());
  for (const Sample& sample : got.samples) {
    EXPECT_EQ(sample.period, sampler.period) << rule;
    EXPECT_EQ(sample.id, sampler.event.Id()) << rule;
  }
}

CONFORMANCE_CASE(Sampling, EveryGeneralCounterOverflows, .rules = {rule::SMP_001},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling},
                 .over = {Over<dim::Cpu>()}) {
  std::vector<PeriodSampler> samplers;
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    samplers.emplace_back(specs[i], 3 + 2 * i);
  }
  for (const PeriodSampler& sampler : samplers)
    target().Stimulate(sampler.spec, 10 * sampler.period);
  for (PeriodSampler& sampler : samplers) {
    std::uint64_t events = 0;  // generated for this counter or for another one
    for (const PeriodSampler& other : samplers) {
      if (ShareStimulus(sampler.spec, other.spec)) events += 10 * other.period;
    }
    ExpectSamples(sampler, events / sampler.period, rule::SMP_001);
    EXPECT_THAT(sampler.event.Read(), Counted(sampler.spec, events));
  }
}

CONFORMANCE_CASE(Sampling, ConstrainedEventsOverflow, .rules = {rule::SMP_001},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kConstraints},
                 .over = {Over<dim::Cpu>()}) {
  for (const EventSpec& spec : target().Events({.constrained = true})) {
    PeriodSampler sampler(spec, 9);
    target().Stimulate(spec, 9 * 31 + 8);
    ExpectSamples(sampler, 31, rule::SMP_001);
    EXPECT_THAT(sampler.event.Read(), Counted(spec, 9 * 31 + 8));
  }
}

CONFORMANCE_CASE(Sampling, EveryFixedCounterOverflows, .rules = {rule::SMP_001, rule::SMP_003},
                 .needs = {Cap::kSampling, Cap::kManualClock, Cap::kFixedCounters},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // a context switch may lengthen the remaining period
  for (const EventSpec& spec : target().Events({.fixed = true})) {
    PeriodSampler sampler(spec, 1'000);
    target().Stimulate(spec, 7'999);
    ExpectSamples(sampler, 7, rule::SMP_001);
    target().Stimulate(spec, 1);
    ExpectSamples(sampler, 1, rule::SMP_001);
    EXPECT_THAT(sampler.event.Read(), Counted(spec, 8'000));
    sampler.event.Disable();

    PeriodSampler large(spec, target().counter_mask() + 100);
    target().Stimulate(spec, target().counter_mask() + 100);
    ExpectSamples(large, 1, rule::SMP_003);
  }
}

CONFORMANCE_CASE(Sampling, ClockEventsOverflowAtOwnRate, .rules = {rule::SMP_001, rule::SMP_009},
                 .needs = {Cap::kSampling, Cap::kManualClock}) {
  std::vector<PeriodSampler> samplers;
  for (const EventSpec& spec : target().Events({.stimulus = StimulusKind::kClock})) {
    if (samplers.size() == target().general() + target().fixed()) break;
    samplers.emplace_back(spec, 300);
  }
  port().Advance(12'000);
  for (PeriodSampler& sampler : samplers) {
    ExpectSamples(sampler, 12'000 / sampler.spec.ticks / 300, rule::SMP_009);
    EXPECT_THAT(sampler.event.Read(), Counted(sampler.spec, 12'000 / sampler.spec.ticks));
  }
}

CONFORMANCE_CASE(Sampling, EqualEventsOverflowTogether, .rules = {rule::SMP_009},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  PeriodSampler by_six(spec, 6);
  PeriodSampler by_nine(spec, 9);
  const std::uint64_t last = target().min_period();  // the driver may lengthen a shorter period
  target().Stimulate(spec, 18 - last);
  ExpectSamples(by_six, 2, rule::SMP_009);
  ExpectSamples(by_nine, 1, rule::SMP_009);
  target().Stimulate(spec, last);
  ExpectSamples(by_six, 1, rule::SMP_009);
  ExpectSamples(by_nine, 1, rule::SMP_009);
  target().Stimulate(spec, 180);
  ExpectSamples(by_six, 30, rule::SMP_009);
  ExpectSamples(by_nine, 20, rule::SMP_009);
}

CONFORMANCE_CASE(Sampling, OneInterruptServesAllItsCounters, .rules = {rule::SMP_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  std::vector<PeriodSampler> samplers;
  const std::vector<EventSpec> specs = target().AnyEvents(target().general());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    samplers.emplace_back(specs[i], 10 * (i + 1), ThisCpu());
  }
  for (std::size_t rounds = 0; rounds < 3; ++rounds) {
    HoldLine hold;
    for (const PeriodSampler& sampler : samplers) target().Stimulate(sampler.spec, sampler.period);
    hold.Release();
    for (PeriodSampler& sampler : samplers) ExpectSamples(sampler, 1, rule::SMP_009);
  }
  for (const PeriodSampler& sampler : samplers) {
    EXPECT_THAT(sampler.event.Read(), Counted(sampler.spec, 3 * sampler.period));
  }
}

CONFORMANCE_CASE(Sampling, LeaderSamplesWhileSiblingsCount, .rules = {rule::SMP_008, rule::REC_006},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kCounters3},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(3);
  Event leader = Open(
      specs[0],
      {.sample_period = 100, .sample_type = PERF_SAMPLE_READ, .read_format = Group::kReadFormat});
  const OpenOptions sibling = {
      .group_fd = leader.fd(), .read_format = Group::kReadFormat, .disabled = false};
  const std::array<Event, 2> siblings = {Open(specs[1], sibling), Open(specs[2], sibling)};
  Ring ring(leader, 4);
  leader.Enable();
  for (std::uint64_t i = 1; i <= 5; ++i) {
    target().Stimulate(specs[1], 3);
    target().Stimulate(specs[2], 2'000);
    target().Stimulate(specs[0], 100);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u) << rule::SMP_008;
    const std::vector<GroupEntry>& entries = got.samples[0].read_group->entries;
    ASSERT_EQ(entries.size(), 3u) << rule::REC_006;
    EXPECT_THAT(entries[0], Counted(specs[0], 100 * i)) << rule::REC_006;
    EXPECT_THAT(entries[1], Counted(specs[1], 3 * i)) << rule::SMP_008;
    EXPECT_THAT(entries[2], Counted(specs[2], 2'000 * i)) << rule::SMP_008;
    EXPECT_EQ(entries[2].id, siblings[1].Id()) << rule::REC_006;
  }
}

CONFORMANCE_CASE(Sampling, SiblingSamplesWhileLeaderCounts, .rules = {rule::SMP_008},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSeveralEvents, Cap::kSampling,
                           Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event leader = Open(specs[0]);
  const Event sibling = Open(specs[1], {.group_fd = leader.fd(),
                                        .sample_period = 40,
                                        .sample_type = PERF_SAMPLE_PERIOD,
                                        .disabled = false});
  Ring leader_ring(leader, 1);
  Ring ring(sibling, 1);
  leader.Enable();
  target().Stimulate(specs[0], 5'000);
  target().Stimulate(specs[1], 90);
  leader.Disable();
  target().Stimulate(specs[1], 90);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 2u);
  for (const Sample& sample : got.samples) EXPECT_EQ(sample.period, 40u);
  EXPECT_THAT(leader_ring.DrainRaw(), testing::IsEmpty());
  EXPECT_THAT(leader.Read(), Counted(specs[0], 5'000));
  EXPECT_THAT(sibling.Read(), Counted(specs[1], 90));
}

CONFORMANCE_CASE(Sampling, EachCpuHasItsOwnSamples, .rules = {rule::SMP_012, rule::REC_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::size_t i : {0, 1}) {
    const int cpu = target().Cpu(i);
    const OpenOptions options = {
        .pid = -1, .cpu = cpu, .sample_period = 4, .sample_type = PERF_SAMPLE_CPU};
    auto [event, ring] = Sampler(spec, options, 1);
    target().Stimulate(spec, 40, {.cpu = cpu});
    target().Stimulate(spec, 400, {.cpu = target().Cpu(1 - i)});
    event.Disable();
    const RingContents got = ring.Drain();
    EXPECT_EQ(got.samples.size(), 10u) << rule::SMP_012;
    for (const Sample& sample : got.samples) {
      EXPECT_EQ(sample.cpu, static_cast<std::uint32_t>(cpu)) << rule::REC_009;
    }
    EXPECT_THAT(event.Read(), Counted(spec, 40)) << rule::SMP_012;
  }
}

}  // namespace
}  // namespace pmuconf
