// SPDX-License-Identifier: Apache-2.0
// Runs one case in this process, as a GoogleTest test.
#ifndef PMUCONF_HARNESS_RUNNER_H_
#define PMUCONF_HARNESS_RUNNER_H_

#include <functional>
#include <string_view>

#include "harness/result.h"

namespace pmuconf {

struct CaseInfo;

// Returns the case with that id, or null.
const CaseInfo* FindCase(std::string_view id);

// Runs the case in this process, and returns what `finish` returns for its result. If a thread of
// the case throws, `finish` is called in that thread, and the process ends with that status. The
// context must have the target. Only one call per process.
int RunInThisProcess(const CaseInfo& info, std::function<int(CaseResult)> finish);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_RUNNER_H_
