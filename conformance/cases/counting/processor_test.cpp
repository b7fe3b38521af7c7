// SPDX-License-Identifier: Apache-2.0
// Counts on several CPUs: each event counts only its own task or its own CPU.
#include <algorithm>
#include <atomic>
#include <thread>

#include "cases/common.h"
#include "cases/subject.h"
#include "rules/CNT.h"
#include "rules/DRV.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Counting, TaskEventFollowsItsTask, .rules = {rule::CNT_006},
                 .needs = {Cap::kStimulus, Cap::kCpus2}) {
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs);
  EnableEach(events);
  std::vector<std::uint64_t> want(specs.size());
  for (int round = 0; round < 3; ++round) {
    for (const int cpu : target().Cpus()) {
      PinTo(cpu);
      const std::vector<std::uint64_t> more = PulseEach(specs, 1'000);
      for (std::size_t i = 0; i < specs.size(); ++i) {
        want[i] += more[i];
        ASSERT_THAT(events[i].Read(), Counted(specs[i], want[i]));
      }
    }
  }
}

CONFORMANCE_CASE(Counting, CpuCountsSumToMachineTotal, .rules = {rule::CNT_015, rule::DRV_035},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2, Cap::kTasks}) {
  for (const EventSpec& spec : target().Events()) {
    std::vector<Event> events;
    for (const int cpu : target().Cpus()) events.push_back(Open(spec, {.pid = -1, .cpu = cpu}));
    EnableEach(events);
    std::uint64_t truth = 0;
    for (const Event& event : events) {
      const int cpu = target().Cpus()[static_cast<std::size_t>(&event - events.data())];
      const std::uint64_t n = 1'000 + static_cast<std::uint64_t>(cpu);
      target().Stimulate(spec, n, {.cpu = cpu});
      EXPECT_THAT(event.Read(), Counted(spec, n)) << rule::DRV_035;
      truth += n;
    }
    std::uint64_t sum = 0;
    for (const Event& event : events) sum += event.Read().value;
    EXPECT_EQ(sum, truth) << rule::CNT_015 << " " << spec.name;
  }
}

CONFORMANCE_CASE(Counting, CpuCountersAreIndependent, .rules = {rule::DRV_035},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2, Cap::kTasks},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = FullSet();
  const int here = CurrentCpu();
  const std::vector<Event> local = OpenEach(specs, {.pid = -1, .cpu = here});
  EnableEach(local);
  for (const int cpu : target().Cpus()) {
    if (cpu == here) continue;
    EXPECT_EQ(port().Stats(cpu).used, 0u);
    const std::vector<Event> remote = OpenEach(specs, {.pid = -1, .cpu = cpu});
    EnableEach(remote);
    for (const EventSpec& spec : specs) Pulse(spec, 99, {.cpu = cpu});
  }
  const std::vector<std::uint64_t> want = PulseEach(specs, 500);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(local[i].Read(), Counted(specs[i], want[i]));
  }
}

CONFORMANCE_CASE(Counting, RemoteReadingsNeverDecrease, .rules = {rule::CNT_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  event.Enable();
  std::atomic<bool> stop = false;
  std::vector<std::uint64_t> counts;
  const int other = OtherCpu();
  std::thread reader([&] {
    PinTo(other);
    while (!stop) counts.push_back(event.Read().value);
  });
  for (int i = 0; i < 100; ++i) target().Stimulate(spec, 1'001);
  stop = true;
  reader.join();
  EXPECT_THAT(event.Read(), Counted(spec, 100'100));
  EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end()));
  for (const std::uint64_t value : counts)
    ASSERT_EQ(value % 1'001, 0u) << "a reading has only a part of a pulse";
}

CONFORMANCE_CASE(Counting, CoreTypeEventCountsOnItsCpusOnly, .rules = {rule::CNT_017},
                 .needs = {Cap::kStimulus, Cap::kSomeCpus, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  EventSpec other_type = spec;
  other_type.type = *OtherCoreTypes().begin();
  PinTo(target().Cpu(0));
  const Event own = Open(spec), other = Open(other_type);
  other.Enable();
  own.Enable();
  std::uint64_t total = 0;
  for (const std::uint64_t n : {4, 50, 600}) {
    for (const int cpu : OnlineCpus()) {
      PinTo(cpu);
      const bool here = std::ranges::count(target().Cpus(), cpu) != 0;
      if (here) target().Stimulate(spec, n);
      total += here ? n : 0;
      EXPECT_THAT(own.Read(), Counted(spec, total));
    }
  }
  own.Disable();
  other.Disable();
  const Reading local = own.Read(), remote = other.Read();
  EXPECT_GT(local.time_running, 0u);
  EXPECT_GT(remote.time_running, 0u);
  EXPECT_LE(local.time_running + remote.time_running, remote.time_enabled);
}

}  // namespace
}  // namespace pmuconf
