// SPDX-License-Identifier: Apache-2.0
// This machine as the errno model describes it: its kernel and its PMUs.
#ifndef PMUCONF_ORACLE_OPEN_MACHINE_H_
#define PMUCONF_ORACLE_OPEN_MACHINE_H_

#include <string>
#include <vector>

#include "oracle/open_model.h"

namespace pmuconf {

// Returns the kernel, with the privileges of root.
OpenSystem LocalSystem();

// Returns all PMUs of the machine, the target's first. For a PMU without a list of checks only the
// type is known. Throws ConfigError if the target's PMU has no list.
std::vector<OpenPmu> LocalPmus(const OpenSystem& system);

// Returns all PMUs of the machine, that of this name first, which may be one without a list. Its
// event is the first in sysfs that opens; without one, config is 0. Throws ConfigError if there is
// no such PMU.
std::vector<OpenPmu> LocalPmusFor(const std::string& name, const OpenSystem& system);

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_MACHINE_H_
