// SPDX-License-Identifier: Apache-2.0
// Helpers of the cases about a PMU of the whole machine: its CPU, its range and its timer.
#ifndef PMUCONF_CASES_UNCORE_UNCORE_H_
#define PMUCONF_CASES_UNCORE_UNCORE_H_

#include <algorithm>
#include <deque>
#include <string>

#include "cases/common.h"
#include "harness/offline.h"

namespace pmuconf {

// The parameter of the reference driver that moves the events. Other drivers have none.
inline std::string CpuParameter() {
  return "/sys/module/" + target().module() + "/parameters/uncore_cpu";
}
inline bool HasCpuParameter() { return ReadFile(CpuParameter()).has_value(); }

// The CPU of the case that goes offline: the driver moves the events away from it.
inline int LeavingCpu() { return std::max(target().Cpu(0), target().Cpu(1)); }

// Moves the events of the target to `cpu`: by the parameter, or by taking the other CPUs offline
// for a moment. SKIPs the case if that is not possible.
inline void MoveEventsTo(int cpu) {
  if (HasCpuParameter()) {
    std::ofstream file(CpuParameter());
    file << cpu << std::flush;
    if (!file.good()) {
      SkipCase(Cap::kHotplug, CpuParameter() + " does not choose the CPU of the events");
    }
    return;
  }
  std::deque<Offline> others;
  while (target().DesignatedCpu() != cpu) {
    const int now = target().DesignatedCpu();
    if (!CanLeave(now)) {
      SkipCase(Cap::kHotplug, "the events are on CPU " + std::to_string(now) +
                                  ", which cannot go offline: load the module on another CPU");
    }
    if (std::ranges::count(OnlineCpus(), now) == 0) {
      ADD_FAILURE() << "cpumask names CPU " << now << ", which is offline";
      return;
    }
    others.emplace_back(now);
  }
}

// Checks that the driver has moved the events from `cpu`, which is offline, to another CPU.
inline void ExpectMovedFrom(int cpu, const Rule& rule) {
  const int now = target().DesignatedCpu();
  EXPECT_NE(now, cpu) << rule;
  EXPECT_EQ(std::ranges::count(OnlineCpus(), now), 1) << rule << " CPU " << now;
}

// The number of counts after which a counter of the target is 0 again.
inline std::uint64_t CounterRange() { return target().counter_mask() + 1; }

// How often the driver's timer has read the counters.
inline std::uint64_t Polls() { return port().Stats().pmi; }

// Whether the driver's timer reads the counters within five seconds.
inline bool PollsContinue() {
  const std::uint64_t before = Polls();
  return RepeatUntil([] { sched_yield(); }, [&] { return Polls() > before; });
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_UNCORE_UNCORE_H_
