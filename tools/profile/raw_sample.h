// SPDX-License-Identifier: Apache-2.0
// A sample as the BPF program sends it.
#ifndef PMUCONF_TOOLS_PROFILE_RAW_SAMPLE_H_
#define PMUCONF_TOOLS_PROFILE_RAW_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/profile/profile_sample.h"

namespace pmuconf::profile {

struct RawSample {
  profile_sample head = {};
  std::vector<std::uint64_t> kernel;  // innermost first
  std::vector<std::uint64_t> user;

  std::string Command() const;
};

// Return nullopt if the bytes are not a valid sample.
std::optional<profile_sample> ParseHead(std::span<const std::byte> bytes);
std::optional<RawSample> ParseSample(std::span<const std::byte> bytes);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_RAW_SAMPLE_H_
