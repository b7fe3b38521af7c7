// SPDX-License-Identifier: Apache-2.0
// What the kernel tells beside the samples: processes, their mappings, throttling, records lost.
#ifndef PMUCONF_TOOLS_PROFILE_SIDE_BAND_H_
#define PMUCONF_TOOLS_PROFILE_SIDE_BAND_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tools/profile/address_space.h"

namespace pmuconf::profile {

struct SideRecord {
  enum class Kind { kMap, kExec, kFork, kExit, kThrottle, kLost };
  Kind kind = Kind::kMap;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC; 0 for kThrottle and kLost
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent_pid = 0;  // kFork
  std::uint32_t parent_tid = 0;
  Mapping mapping;         // kMap
  std::uint64_t lost = 0;  // kLost: records
};

// The event that has the records of a CPU; it counts nothing.
perf_event_attr SideBandAttr();

// nullopt: a record that is of no use here, or not as SideBandAttr() says.
std::optional<SideRecord> ParseSideRecord(std::uint32_t type, std::uint16_t misc,
                                          std::span<const std::byte> body);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_SIDE_BAND_H_
