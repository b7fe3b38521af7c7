// SPDX-License-Identifier: Apache-2.0
// A rule whole, with what verifies it: for a terminal, and all of them as a page.
#ifndef PMUCONF_REPORT_EXPLAIN_H_
#define PMUCONF_REPORT_EXPLAIN_H_

#include <span>
#include <string>
#include <vector>

#include "pmuconf/rule.h"
#include "report/builtin.h"

namespace pmuconf {

// A case, as far as explaining a rule needs it.
struct CasePlace {
  std::string id;
  std::string file;  // from the project's root
  int line = 0;
  std::vector<std::string> rules;
};

std::string ExplainRule(const Rule& rule, std::span<const CasePlace> cases,
                        std::span<const OtherTest> tests);

// docs/generated/rules.md: every rule; its links lead from that folder to the sources.
std::string ExplainAll(std::span<const Rule> rules, std::span<const CasePlace> cases,
                       std::span<const OtherTest> tests);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_EXPLAIN_H_
