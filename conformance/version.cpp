// SPDX-License-Identifier: Apache-2.0
#include "version.h"

#include <string_view>

namespace pmuconf {

std::string Version() {
  constexpr std::string_view kCommit = PMUCONF_COMMIT;
  std::string text = "pmuconf " PMUCONF_VERSION;
  if (!kCommit.empty()) text.append(", commit ").append(kCommit);
  return text + ", catalogue " PMUCONF_CATALOGUE;
}

}  // namespace pmuconf
