// SPDX-License-Identifier: Apache-2.0
// Helpers of the cases about a PMU of the whole machine: its CPU, its range and its timer.
#ifndef PMUCONF_CASES_UNCORE_UNCORE_H_
#define PMUCONF_CASES_UNCORE_UNCORE_H_

#include "cases/common.h"
#include "harness/offline.h"

namespace pmuconf {

// Moves the events of the target to `cpu`. SKIPs the case if the driver has no parameter for that.
inline void MoveEventsTo(int cpu) {
  const std::string path = "/sys/module/" + target().module() + "/parameters/uncore_cpu";
  std::ofstream file(path);
  file << cpu << std::flush;
  if (!file.good()) SkipCase(Cap::kHotplug, path + " does not choose the CPU of the events");
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
