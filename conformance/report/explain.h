// SPDX-License-Identifier: Apache-2.0
// Prints the facts about a rule or a test for a terminal.
#ifndef PMUCONF_REPORT_EXPLAIN_H_
#define PMUCONF_REPORT_EXPLAIN_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "report/rule_facts.h"

namespace pmuconf {

// `facts`: of RuleFacts(). `colour`: use colours.
std::string ExplainRule(const nlohmann::ordered_json& facts, bool colour);

// `facts`: of TestFacts(), not null.
std::string ExplainTest(const nlohmann::ordered_json& facts, bool colour);

// Returns a line for each active rule that nothing was seen to fail, without a reason, and a last
// line with their number.
std::string ExplainUnproven(const FactSources& sources);

// Returns where results were seen, as "refpmu (6.1, 6.12), KUnit (6.12)", for the rows of
// RuleFacts()["judged"] with this result.
std::string PlacesWith(const nlohmann::ordered_json& judged, const std::string& result);

// The results of a rule that was judged, the best first.
std::span<const char* const> JudgedResults();

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_EXPLAIN_H_
