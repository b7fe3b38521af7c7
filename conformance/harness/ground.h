// SPDX-License-Identifier: Apache-2.0
// Checks this machine before a run: conditions under which results are no evidence.
#ifndef PMUCONF_HARNESS_GROUND_H_
#define PMUCONF_HARNESS_GROUND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "target/target.h"

namespace pmuconf {

// Time that events of one CPU were enabled and had counters, in nanoseconds.
struct Share {
  int cpu = 0;
  std::string event;
  unsigned events = 0;  // as many as have counters
  std::uint64_t enabled_ns = 0, running_ns = 0;

  // Returns whether another user took the counters. A competitor that rotates with these events has
  // at least one of the five turns that the measurement takes.
  bool Short() const { return running_ns * 10 < enabled_ns * 9; }
};

// Returns the processes with perf events, except this one, as "perf (pid 123)". It omits processes
// that this user may not inspect. `proc`: the path of procfs.
std::vector<std::string> ProcessesWithEvents(const std::string& proc = "/proc");

// Returns the reason why results would be no evidence, or "" if another user of counters is not
// known.
std::string InUseReason(const std::string& pmu, const Share& share, bool watchdog,
                        const std::vector<std::string>& processes);

// Returns a warning if the frequency of CPUs varies and the target has events whose rate depends on
// it, else "". `sysfs`: the path of the CPUs.
std::string ScalingWarning(const Target& target, const std::vector<int>& cpus,
                           const std::string& sysfs = "/sys/devices/system/cpu");

// Throws ConfigError if another user holds counters of the PMU. Opens events only if there is
// such a user. Does nothing if this machine has no such PMU, or if this process may not open
// events. Returns warnings about conditions that may change results. `pmu` overrides the target's
// match.
std::vector<std::string> CheckGround(Target target, const std::string& pmu);

// Prints them on standard error, a line each.
void PrintWarnings(const std::vector<std::string>& warnings);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_GROUND_H_
