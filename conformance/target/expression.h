// SPDX-License-Identifier: Apache-2.0
// The two expressions of the catalogue: `applies` over capabilities, and `kernels` over releases.
#ifndef PMUCONF_TARGET_EXPRESSION_H_
#define PMUCONF_TARGET_EXPRESSION_H_

#include <functional>
#include <string>
#include <string_view>

#include "target/target.h"

namespace pmuconf {

// Evaluates names of capabilities with and, or, not and parentheses: "sampling and not (bpf or
// cpus2)". "true" is always true. Throws ConfigError for anything else.
bool EvaluateApplies(std::string_view text, const std::function<bool(Cap)>& has);

// Compares ">=6.1" or ">=6.1,<6.12" with a release such as "6.12.117+deb12-cloud-amd64". Every part
// must be true for the major and minor number. Throws ConfigError for anything else.
bool KernelMatches(std::string_view text, std::string_view release);

std::string KernelRelease();  // uname -r

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_EXPRESSION_H_
