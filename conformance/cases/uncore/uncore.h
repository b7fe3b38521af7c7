// SPDX-License-Identifier: Apache-2.0
// What cases about a PMU of the whole machine share: its CPU, other CPUs, its range, its timer.
#ifndef PMUCONF_CASES_UNCORE_UNCORE_H_
#define PMUCONF_CASES_UNCORE_UNCORE_H_

#include "cases/common.h"

namespace pmuconf {

// CPU 1, which Cap::kHotplug promises, is offline while this lives.
class CpuOneOffline {
 public:
  CpuOneOffline() {
    if (!Write("0")) throw Broken("CPU 1 does not go offline");
  }
  CpuOneOffline(const CpuOneOffline&) = delete;
  ~CpuOneOffline() {
    if (off_) Write("1");
  }
  void Return() {
    if (!Write("1")) throw Broken("CPU 1 does not come back online");
    off_ = false;
  }

 private:
  static bool Write(const char* state) {
    std::ofstream file("/sys/devices/system/cpu/cpu1/online");
    file << state << std::flush;
    return file.good();
  }
  bool off_ = true;
};

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
