// SPDX-License-Identifier: Apache-2.0
// `pmuconf new target`: a valid target file with a comment for each table.
#ifndef PMUCONF_SCAFFOLD_NEW_TARGET_H_
#define PMUCONF_SCAFFOLD_NEW_TARGET_H_

#include <string>

#include "scaffold/change.h"
#include "scaffold/checkout.h"

namespace pmuconf::scaffold {

struct TargetRequest {
  std::string name;
  std::string base;  // empty: the file stands alone
  std::string pmu;   // name in sysfs; empty: that of the base, or `name`
};

// Throws ConfigError.
Scaffold NewTarget(const Checkout& checkout, const TargetRequest& request);

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_NEW_TARGET_H_
