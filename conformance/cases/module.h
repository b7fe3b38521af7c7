// SPDX-License-Identifier: Apache-2.0
// The kernel module of the target's driver.
#ifndef PMUCONF_CASES_MODULE_H_
#define PMUCONF_CASES_MODULE_H_

#include <sstream>
#include <string>

#include "harness/case.h"
#include "system/sysfs.h"

namespace pmuconf {

// The number of references to the module. Each open event has one.
inline long ModuleReferences() {
  const auto text = ReadFile("/sys/module/" + target().module() + "/refcnt");
  if (!text) throw Broken("/sys/module/" + target().module() + "/refcnt cannot be read");
  return std::stol(*text);
}

// Returns whether the module cannot be removed, since it has no exit function.
inline bool IsPermanent() {
  std::istringstream modules(ReadFile("/proc/modules").value_or(""));
  for (std::string line; std::getline(modules, line);) {
    if (line.starts_with(target().module() + " ")) return line.find("[permanent]") != line.npos;
  }
  return false;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_MODULE_H_
