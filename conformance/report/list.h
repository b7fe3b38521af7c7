// SPDX-License-Identifier: Apache-2.0
// Lists cases.
#ifndef PMUCONF_REPORT_LIST_H_
#define PMUCONF_REPORT_LIST_H_

#include <span>
#include <string>

#include "target/target.h"

namespace pmuconf {

// Returns a line for each case, or JSON (docs/programs.md, "pmuconf"). The dimensions have the
// values that the target claims. `ids`: of cases of this program.
std::string ListOfCases(const Target& target, std::span<const std::string> ids, bool json);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_LIST_H_
