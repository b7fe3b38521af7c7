// SPDX-License-Identifier: Apache-2.0
#include "version.h"

namespace pmuconf {

std::string Version() {
  const std::string commit = PMUCONF_COMMIT;
  return "pmuconf " PMUCONF_VERSION + (commit.empty() ? "" : ", commit " + commit) +
         ", catalogue " PMUCONF_CATALOGUE;
}

}  // namespace pmuconf
