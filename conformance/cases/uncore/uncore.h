// SPDX-License-Identifier: Apache-2.0
// What cases about a PMU of the whole machine share: its CPU, its range, its timer.
#ifndef PMUCONF_CASES_UNCORE_UNCORE_H_
#define PMUCONF_CASES_UNCORE_UNCORE_H_

#include "cases/common.h"
#include "cases/offline.h"

namespace pmuconf {

// Has the events of the target kept on `cpu`. SKIP where the driver cannot be told.
inline void KeepEventsOn(int cpu) {
  const std::string path = "/sys/module/" + target().module() + "/parameters/uncore_cpu";
  std::ofstream file(path);
  file << cpu << std::flush;
  if (!file.good()) SkipCase(Cap::kHotplug, path + " does not choose the CPU of the events");
}

// Counts that a counter of the target holds before it is 0 again.
inline std::uint64_t Range() { return target().counter_mask() + 1; }

// How often the driver has read its counters by itself.
inline std::uint64_t Polls() { return port().Stats().pmi; }

// True if the driver reads its counters by itself within five seconds.
inline bool PollsGoOn() {
  const std::uint64_t before = Polls();
  return RepeatUntil([] { sched_yield(); }, [&] { return Polls() > before; });
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_UNCORE_UNCORE_H_
