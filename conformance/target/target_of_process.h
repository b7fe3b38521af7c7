// SPDX-License-Identifier: Apache-2.0
// Sets the target that target() returns.
#ifndef PMUCONF_TARGET_TARGET_OF_PROCESS_H_
#define PMUCONF_TARGET_TARGET_OF_PROCESS_H_

#include <string>

#include "target/target.h"

namespace pmuconf {

// From then on target() returns `target`, and Open() follows its limits (see OpenPolicy).
void SetTarget(Target target);

// Calls Target::Resolve() for the target of this process.
void ResolveTarget(const std::string& pmu = {});

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_TARGET_OF_PROCESS_H_
