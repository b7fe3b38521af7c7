// SPDX-License-Identifier: Apache-2.0
// A frame of a stack with its names.
#ifndef PMUCONF_TOOLS_PROFILE_FRAME_H_
#define PMUCONF_TOOLS_PROFILE_FRAME_H_

#include <cstdint>
#include <string>

namespace pmuconf::profile {

enum class FrameKind : std::uint8_t { kCommand, kUser, kInlined, kKernel };

struct Frame {
  FrameKind kind = FrameKind::kUser;
  std::string name;          // "main"; "[unknown]" with module and offset where there is none
  std::string module;        // "/usr/bin/dd", "[kernel]", "[ext4]"; empty for a command
  std::uint64_t offset = 0;  // in the symbol; in the module where there is no symbol

  bool Known() const { return name != kUnknown; }
  // As folded stacks and pictures show it: what is unknown, by module and offset.
  std::string Label() const;

  static constexpr const char* kUnknown = "[unknown]";
};

// "/usr/bin/dd" → "dd".
std::string BaseName(const std::string& path);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_FRAME_H_
