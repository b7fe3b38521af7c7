// SPDX-License-Identifier: Apache-2.0
// Parses event names as perf's users write them.
#ifndef PMUCONF_TOOLS_PROFILE_EVENT_NAME_H_
#define PMUCONF_TOOLS_PROFILE_EVENT_NAME_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pmuconf::profile {

struct SampledEvent {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  bool exclude_user = false;
  bool exclude_kernel = false;
  std::vector<int> cpus;  // CPUs that the PMU has; empty: all

  bool Software() const { return type == PERF_TYPE_SOFTWARE; }
};

SampledEvent CpuClock();

// Parses "cycles", "LLC-load-misses", "r1a8", "refpmu/cycles/" or "cpu/event=0x3c,umask=1/u".
// `folder` is the directory with the PMUs. Throws UserError if the name is invalid or this machine
// does not support the event.
SampledEvent FindEvent(const std::string& name, const std::string& folder);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_EVENT_NAME_H_
