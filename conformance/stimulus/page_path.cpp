// SPDX-License-Identifier: Apache-2.0
// Reads the path of a port page. Readers of target files need this, and no page.
#include <regex>

#include "stimulus/page.h"

namespace pmuconf {

std::optional<std::uint64_t> ParsePagePath(const std::string& path) {
  static const std::regex kPath("page:(0x[0-9a-f]{1,16})");
  std::smatch found;
  if (!std::regex_match(path, found, kPath)) return std::nullopt;
  return std::stoull(found[1], nullptr, 16);
}

}  // namespace pmuconf
