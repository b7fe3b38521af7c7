// SPDX-License-Identifier: Apache-2.0
// Labels of frames.
#include "tools/profile/frame.h"

#include <cstdio>

namespace pmuconf::profile {

std::string BaseName(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string Frame::Label() const {
  if (!Known()) {
    char hex[32];
    std::snprintf(hex, sizeof(hex), "+0x%llx", static_cast<unsigned long long>(offset));
    return name + " " + (module.empty() ? "?" : BaseName(module)) + hex;
  }
  switch (kind) {
    case FrameKind::kKernel:
      return name + "_[k]";
    case FrameKind::kInlined:
      return name + "_[i]";
    case FrameKind::kCommand:
    case FrameKind::kUser:
      return name;
  }
  return name;
}

}  // namespace pmuconf::profile
