// SPDX-License-Identifier: Apache-2.0
#include "version.h"

namespace pmuconf {

std::string Version() {
  constexpr char kCommit[] = PMUCONF_COMMIT;
  std::string text = "pmuconf " PMUCONF_VERSION;
  if (sizeof(kCommit) > 1) text.append(", commit ").append(kCommit);
  return text + ", catalogue " PMUCONF_CATALOGUE;
}

}  // namespace pmuconf
