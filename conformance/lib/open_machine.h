// SPDX-License-Identifier: Apache-2.0
// The machine that this runs on, as the errno model has it: its kernel and its PMUs.
#ifndef PMUCONF_LIB_OPEN_MACHINE_H_
#define PMUCONF_LIB_OPEN_MACHINE_H_

#include <vector>

#include "pmuconf/open_model.h"

namespace pmuconf {

// The kernel, for root.
OpenSystem SystemHere();

// All of them, the target's first: those whose checks the model has, and of the others the type.
// Throws ConfigError if the target's is one of the others.
std::vector<OpenPmu> PmusHere(const OpenSystem& system);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_OPEN_MACHINE_H_
