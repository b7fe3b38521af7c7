// SPDX-License-Identifier: Apache-2.0
// Core types: PMUs that cover only a part of the CPUs.
#include <algorithm>
#include <iterator>

#include "cases/common.h"
#include "rules/CTX.h"
#include "rules/INI.h"

namespace pmuconf {
namespace {

std::vector<int> OtherCpus() {
  const std::vector<int> online = OnlineCpus(), own = target().Cpus();
  std::vector<int> others;
  std::set_difference(online.begin(), online.end(), own.begin(), own.end(),
                      std::back_inserter(others));
  return others;
}

CONFORMANCE_CASE(CoreType, TaskEventCountsOnItsCpusOnly, .rules = {rule::CTX_014},
                 .needs = {Cap::kStimulus, Cap::kSomeCpus, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  PinTo(target().Cpu(0));
  const Event event = Open(spec);
  event.Enable();
  std::uint64_t total = 0;
  for (const std::uint64_t n : {1, 20, 300}) {
    PinTo(target().Cpu(0));
    target().Stimulate(spec, n);
    total += n;
    PinTo(OtherCpus().front());
    const Reading before = event.Read();
    BusyWait(0.005);
    const Reading after = event.Read();
    EXPECT_EQ(before.value, total);
    EXPECT_EQ(after.value, total);
    EXPECT_EQ(after.time_running, before.time_running);
    EXPECT_GT(after.time_enabled, before.time_enabled);
  }
}

CONFORMANCE_CASE(CoreType, EventEnabledElsewhereCountsAfterReturn, .rules = {rule::CTX_014},
                 .needs = {Cap::kStimulus, Cap::kSomeCpus, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  PinTo(OtherCpus().front());
  const Event event = Open(spec);
  event.Enable();
  BusyWait(0.002);
  EXPECT_EQ(event.Read().value, 0U);
  EXPECT_EQ(event.Read().time_running, 0U);
  PinTo(target().Cpu(0));
  target().Stimulate(spec, 77);
  EXPECT_EQ(event.Read().value, 77U);
  PinTo(OtherCpus().front());
  event.Disable();
  EXPECT_EQ(event.Read().value, 77U);
}

CONFORMANCE_CASE(CoreType, EventOnOtherCpuIsRefused, .rules = {rule::INI_024},
                 .needs = {Cap::kSomeCpus, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  for (const int pid : {-1, 0}) {
    for (const int cpu : target().Cpus()) {
      EXPECT_THAT(TryOpen(spec, {.pid = pid, .cpu = cpu}), Succeeds()) << "CPU " << cpu;
    }
    for (const int cpu : OtherCpus()) {
      EXPECT_THAT(TryOpen(spec, {.pid = pid, .cpu = cpu}), FailsWith(ENOENT)) << "CPU " << cpu;
    }
  }
}

CONFORMANCE_CASE(CoreType, GenericEventReachesPmuOfCpu, .rules = {rule::INI_024},
                 .needs = {Cap::kSomeCpus, Cap::kManualClock, Cap::kGenericEvents}) {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  for (const int cpu : target().Cpus()) {
    OpenResult cycles = TryOpen(attr, -1, cpu);
    ASSERT_THAT(cycles, Succeeds());
    port().Advance(1'000, {.cpu = cpu});
    EXPECT_EQ(cycles.event.Read().value, 1'000U);
  }
}

CONFORMANCE_CASE(CoreType, GroupOfTwoCoreTypesIsRefused, .rules = {rule::CTX_015},
                 .needs = {Cap::kSomeCpus, Cap::kTasks, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec);
  EventSpec other_type = spec;
  ASSERT_FALSE(OtherCoreTypes().empty());
  for (const std::uint32_t type : OtherCoreTypes()) {
    other_type.type = type;
    ASSERT_THAT(TryOpen(other_type), Succeeds());
    EXPECT_THAT(TryOpen(other_type, {.group_fd = leader.fd()}), FailsWith(EINVAL));
  }
}

}  // namespace
}  // namespace pmuconf
