// SPDX-License-Identifier: Apache-2.0
#include "scaffold/new_rule.h"

#include <algorithm>
#include <cstdlib>

#include "scaffold/names.h"
#include "target/target.h"
#include "target/toml_table.h"

namespace pmuconf::scaffold {
namespace {

// Returns the id after the highest one, since the number of a deleted rule must not return.
std::string NextId(const Checkout& checkout, const std::string& area) {
  unsigned long highest = 0;
  for (const auto& [id, status] : checkout.RuleStatuses(area)) {
    highest = std::max(highest, std::strtoul(id.c_str() + id.find('-') + 1, nullptr, 10));
  }
  if (highest >= 999) throw ConfigError("area " + area + " has no free number below 1000");
  const std::string number = std::to_string(highest + 1);
  return area + "-" + std::string(3 - number.size(), '0') + number;
}

}  // namespace

Scaffold NewRule(const Checkout& checkout, RuleText rule) {
  const std::string area = rule.id;
  const auto areas = checkout.RuleAreas();
  if (std::find(areas.begin(), areas.end(), area) == areas.end()) {
    throw ConfigError("unknown area '" + area + "' (known: " + Joined(areas) + ")");
  }
  CheckRule(rule);
  rule.id = NextId(checkout, area);
  const std::string path = std::string(kRules) + "/" + area + ".toml";
  std::string text = checkout.Read(path);
  if (!text.ends_with('\n')) text += '\n';
  text.append("\n").append(DraftRule(rule));
  ParseToml(text, path);  // a control character in an argument makes the file invalid

  const std::string suite = checkout.SuiteFor(area);
  Scaffold scaffold;
  scaffold.changes.push_back({path, text, false});
  scaffold.notes.push_back("rule: " + rule.id +
                           " (draft: it decides no verdict until make activate)");
  scaffold.next = std::string("build/guest/conformance/pmuconf new case ") +
                  (suite.empty() ? "Area" : suite) + ".NameOfClaim --rule " + rule.id;
  return scaffold;
}

}  // namespace pmuconf::scaffold
