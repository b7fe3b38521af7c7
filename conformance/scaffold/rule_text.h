// SPDX-License-Identifier: Apache-2.0
// The text of a rule in its TOML file, and the demands of `make lint` on its sentence.
#ifndef PMUCONF_SCAFFOLD_RULE_TEXT_H_
#define PMUCONF_SCAFFOLD_RULE_TEXT_H_

#include <string>
#include <vector>

namespace pmuconf::scaffold {

struct RuleText {
  std::string id;
  std::string level;    // "MUST"
  std::string subject;  // "driver"
  std::string text;
  std::string why;
  std::vector<std::string> source;
};

// Throws ConfigError if the level, the subject, the text, the reason or a source is not as
// ci/checks/rules.py, ci/checks/sources.py and conformance/rules/generate.py need it.
void CheckRule(const RuleText& rule);

// Returns the [[rule]] as a draft, which decides no verdict.
std::string DraftRule(const RuleText& rule);

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_RULE_TEXT_H_
