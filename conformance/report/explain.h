// SPDX-License-Identifier: Apache-2.0
// Prints one rule for a terminal, or all rules as a Markdown page, with the tests that verify them.
#ifndef PMUCONF_REPORT_EXPLAIN_H_
#define PMUCONF_REPORT_EXPLAIN_H_

#include <span>
#include <string>
#include <vector>

#include "harness/rule.h"
#include "report/evidence.h"

namespace pmuconf {

// The facts about a case that the explanation of a rule needs.
struct CasePlace {
  std::string id;
  std::string file;  // from the project's root
  int line = 0;
  std::vector<std::string> rules;
  std::vector<std::string> dimensions = {};
};

std::string ExplainRule(const Rule& rule, std::span<const CasePlace> cases,
                        const Evidence& evidence);

// Returns docs/generated/rules.md with every rule. Its links are relative to that directory.
std::string ExplainAll(std::span<const Rule> rules, std::span<const CasePlace> cases,
                       const Evidence& evidence);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_EXPLAIN_H_
