// SPDX-License-Identifier: Apache-2.0
// What cases see of the module that has the target's driver.
#ifndef PMUCONF_CASES_MODULE_H_
#define PMUCONF_CASES_MODULE_H_

#include <string>

#include "pmuconf/case.h"
#include "pmuconf/sysfs.h"

namespace pmuconf {

// How many keep the module loaded: open events among them.
inline long ModuleReferences() {
  const auto text = ReadFile("/sys/module/" + target().module() + "/refcnt");
  if (!text) throw Broken("/sys/module/" + target().module() + "/refcnt cannot be read");
  return std::stol(*text);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_MODULE_H_
