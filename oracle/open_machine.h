// SPDX-License-Identifier: Apache-2.0
// This machine as the errno model describes it: its kernel and its PMUs.
#ifndef PMUCONF_ORACLE_OPEN_MACHINE_H_
#define PMUCONF_ORACLE_OPEN_MACHINE_H_

#include <vector>

#include "oracle/open_model.h"

namespace pmuconf {

// Returns the kernel, with the privileges of root.
OpenSystem LocalSystem();

// Returns all PMUs of the machine, the target's first. For a PMU without a list of checks only the
// type is known. Throws ConfigError if the target's PMU has no list.
std::vector<OpenPmu> LocalPmus(const OpenSystem& system);

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_MACHINE_H_
