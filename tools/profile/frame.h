// SPDX-License-Identifier: Apache-2.0
// A named frame of a stack.
#ifndef PMUCONF_TOOLS_PROFILE_FRAME_H_
#define PMUCONF_TOOLS_PROFILE_FRAME_H_

#include <cstdint>
#include <string>

namespace pmuconf::profile {

enum class FrameKind : std::uint8_t { kCommand, kUser, kInlined, kKernel };

struct Frame {
  FrameKind kind = FrameKind::kUser;
  std::string name;          // "main"; kUnknown if there is no symbol
  std::string module;        // "/usr/bin/dd", "[kernel]", "[ext4]"; empty for a command
  std::uint64_t offset = 0;  // in the symbol; without one, in the module

  bool Known() const { return name != kUnknown; }
  // Returns the name in folded stacks and flame graphs. An unknown frame shows module and offset.
  std::string Label() const;

  static constexpr const char* kUnknown = "[unknown]";
};

// Returns "dd" for "/usr/bin/dd".
std::string BaseName(const std::string& path);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_FRAME_H_
