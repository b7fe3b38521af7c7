// SPDX-License-Identifier: Apache-2.0
// Side-band records of the kernel: processes, their mappings, throttling, lost records.
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
  std::uint32_t parent_pid = 0;  // kFork only
  std::uint32_t parent_tid = 0;
  Mapping mapping;         // kMap only
  std::uint64_t lost = 0;  // kLost only: number of records
};

// Returns the attr of the event that receives the records of a CPU. It counts nothing.
perf_event_attr SideBandAttr();

// Returns nullopt for a record type that is not used, or one that does not match SideBandAttr().
std::optional<SideRecord> ParseSideRecord(std::uint32_t type, std::uint16_t misc,
                                          std::span<const std::byte> body);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_SIDE_BAND_H_
