// SPDX-License-Identifier: Apache-2.0
// Joins all that is known about a rule or a test: its definition, tests, faults, results, findings.
// `pmuconf explain --json` prints it; the terminal and the pages show the same.
#ifndef PMUCONF_REPORT_RULE_FACTS_H_
#define PMUCONF_REPORT_RULE_FACTS_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/rule.h"
#include "report/evidence.h"
#include "report/profile.h"
#include "report/recorded.h"
#include "report/waiver.h"

namespace pmuconf {

// The facts about a case that the explanation of a rule needs.
struct CasePlace {
  std::string id;
  std::string file;  // from the project's root
  int line = 0;
  std::vector<std::string> rules;
  std::vector<std::string> needs = {};
  std::string timing = {};
  std::vector<std::string> dimensions = {};  // "member: alone, last"
};

// The sources of the facts.
struct FactSources {
  std::span<const Rule> rules;
  std::vector<CasePlace> cases;
  std::vector<Profile> profiles;
  std::vector<Waiver> waivers;
  Evidence evidence;
  Recorded recorded;
};

// Whether a rule was seen to fail. kClaimed: a fault names the rule, but no result of it was found.
enum class Proof { kSeen, kClaimed, kReason, kNone };

// Returns the facts about a rule. The keys: docs/programs.md, "explain --json".
nlohmann::ordered_json RuleFacts(const Rule& rule, const FactSources& sources);

// Returns the facts about a case, or about a KUnit or pytest test; null if there is no such test.
nlohmann::ordered_json TestFacts(const std::string& id, const FactSources& sources);

// Returns the state of RuleFacts()["proof"].
Proof ProofOf(const nlohmann::ordered_json& rule_facts);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_RULE_FACTS_H_
