// SPDX-License-Identifier: Apache-2.0
// The PMUs of this machine, as the errno model has them.
#ifndef PMUCONF_TOOLS_ORACLE_MACHINE_H_
#define PMUCONF_TOOLS_ORACLE_MACHINE_H_

#include <vector>

#include "pmuconf/open_model.h"

namespace pmuconf {

// All of them, the target's first: those whose checks the model has, and of the others the type.
// Throws ConfigError if the target's is one of the others.
std::vector<OpenPmu> PmusHere(const OpenSystem& system);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_ORACLE_MACHINE_H_
