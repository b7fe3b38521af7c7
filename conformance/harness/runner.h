// SPDX-License-Identifier: Apache-2.0
// Runs one case in this process, as a GoogleTest test.
#ifndef PMUCONF_HARNESS_RUNNER_H_
#define PMUCONF_HARNESS_RUNNER_H_

#include <string_view>

#include "harness/result.h"

namespace pmuconf {

struct CaseInfo;

// Returns the case with that id, or null.
const CaseInfo* FindCase(std::string_view id);

// Runs the case in this process. The context must have the target. Only one call per process.
CaseResult RunInThisProcess(const CaseInfo& info);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_RUNNER_H_
