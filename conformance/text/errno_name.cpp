// SPDX-License-Identifier: Apache-2.0
// Errno names from the C library.
#include "text/errno_name.h"

#include <cstring>

namespace pmuconf {

std::string ErrnoName(int error) {
  if (error == 0) return "success";
  const char* const name = strerrorname_np(error);
  return name != nullptr ? name : "errno " + std::to_string(error);
}

std::optional<int> ErrnoFromName(std::string_view name) {
  constexpr int kHighest = 133;  // EHWPOISON
  for (int error = 1; error <= kHighest; ++error) {
    if (ErrnoName(error) == name) return error;
  }
  return std::nullopt;
}

}  // namespace pmuconf
