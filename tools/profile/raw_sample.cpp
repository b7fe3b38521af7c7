// SPDX-License-Identifier: Apache-2.0
// Parses samples.
#include "tools/profile/raw_sample.h"

#include <algorithm>

#include "text/byte_reader.h"

namespace pmuconf::profile {

std::string RawSample::Command() const {
  const char* const end = head.comm + sizeof(head.comm);
  return std::string(head.comm, std::find(head.comm, end, '\0'));
}

std::optional<profile_sample> ParseHead(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto head = reader.Read<profile_sample>();
  constexpr std::size_t kFrame = sizeof(std::uint64_t);
  const bool whole = reader.ok() && head.kernel_bytes % kFrame == 0 &&
                     head.user_bytes % kFrame == 0 &&
                     reader.remaining() == std::uint64_t{head.kernel_bytes} + head.user_bytes;
  return whole ? std::optional(head) : std::nullopt;
}

std::optional<RawSample> ParseSample(std::span<const std::byte> bytes) {
  const auto head = ParseHead(bytes);
  if (!head) return std::nullopt;
  ByteReader reader(bytes.subspan(sizeof(*head)));
  RawSample sample = {.head = *head, .kernel = {}, .user = {}};
  sample.kernel = reader.ReadMany<std::uint64_t>(head->kernel_bytes / sizeof(std::uint64_t));
  sample.user = reader.ReadMany<std::uint64_t>(head->user_bytes / sizeof(std::uint64_t));
  return sample;
}

}  // namespace pmuconf::profile
