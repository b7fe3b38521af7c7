// SPDX-License-Identifier: Apache-2.0
// The two small expressions of the catalogue: `applies` over capabilities, `kernels` over releases.
#ifndef PMUCONF_LIB_EXPRESSION_H_
#define PMUCONF_LIB_EXPRESSION_H_

#include <functional>
#include <string>
#include <string_view>

#include "pmuconf/target.h"

namespace pmuconf {

// "true", "sampling and not (bpf or cpus2)": names of capabilities, and, or, not, parentheses.
// Throws ConfigError for anything else.
bool EvaluateApplies(std::string_view text, const std::function<bool(Cap)>& has);

// ">=6.1", ">=6.1,<6.12" against a release such as "6.12.117+deb12-cloud-amd64": every part must
// hold for its major and minor number. Throws ConfigError for anything else.
bool KernelMatches(std::string_view text, std::string_view release);

std::string KernelRelease();  // uname -r

}  // namespace pmuconf

#endif  // PMUCONF_LIB_EXPRESSION_H_
