// SPDX-License-Identifier: Apache-2.0
// Samples, taken apart.
#include "tools/profile/raw_sample.h"

#include <algorithm>

#include "lib/words.h"

namespace pmuconf::profile {

std::string RawSample::Command() const {
  const char* const end = head.comm + sizeof(head.comm);
  return std::string(head.comm, std::find(head.comm, end, '\0'));
}

std::optional<RawSample> ParseSample(std::span<const std::byte> bytes) {
  Words words(bytes);
  RawSample sample;
  sample.head = words.Take<profile_sample>();
  sample.kernel = words.TakeMany<std::uint64_t>(sample.head.kernel_bytes / sizeof(std::uint64_t));
  sample.user = words.TakeMany<std::uint64_t>(sample.head.user_bytes / sizeof(std::uint64_t));
  return words.done() ? std::optional(std::move(sample)) : std::nullopt;
}

}  // namespace pmuconf::profile
