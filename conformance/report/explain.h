// SPDX-License-Identifier: Apache-2.0
// Prints what the program knows about rules and cases. `make explain` adds what the checkout knows:
// other tests, faults, results and findings.
#ifndef PMUCONF_REPORT_EXPLAIN_H_
#define PMUCONF_REPORT_EXPLAIN_H_

#include <string>

namespace pmuconf {

// Returns the facts about a rule or a case, for a terminal or as JSON. `colour`: of a terminal.
// Throws ConfigError with the nearest ids if there is neither.
std::string Explain(const std::string& id, bool json, bool colour);

// Returns the facts about all rules and all cases as JSON: docs/programs.md, "explain".
std::string ExplainAll();

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_EXPLAIN_H_
