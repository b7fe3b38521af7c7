// SPDX-License-Identifier: Apache-2.0
#include "report/list.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "harness/case.h"
#include "harness/runner.h"

namespace pmuconf {
namespace {

// Returns the dimensions of a case, with the values that the target claims.
std::vector<Dimension> ClaimedDimensions(const CaseInfo& info, const Target& target) {
  return Available(info.meta.over, [&target](Cap cap) { return target.Claims(cap); });
}

// Returns "cpu=0|1", as the list shows it.
std::string Line(const Dimension& dimension) {
  std::string text;
  for (const DimensionValue& value : dimension.values) {
    text += (text.empty() ? dimension.name + "=" : "|") + value.name;
  }
  return text;
}

nlohmann::ordered_json AsJson(const std::vector<Dimension>& dimensions) {
  auto json = nlohmann::ordered_json::array();
  for (const Dimension& dimension : dimensions) {
    auto values = nlohmann::ordered_json::array();
    for (const DimensionValue& value : dimension.values) values.push_back(value.name);
    json.push_back({{"name", dimension.name}, {"values", values}});
  }
  return json;
}

}  // namespace

std::string ListOfCases(const Target& target, std::span<const std::string> ids, bool json) {
  std::ostringstream text;
  auto cases = nlohmann::ordered_json::array();
  for (const std::string& id : ids) {
    const CaseInfo& info = *FindCase(id);
    auto rules = nlohmann::ordered_json::array();
    auto needs = nlohmann::ordered_json::array();
    for (const Rule& rule : info.meta.rules) rules.push_back(rule.id);
    for (const Cap cap : info.meta.needs) needs.push_back(ToString(cap));
    const std::vector<Dimension> dimensions = ClaimedDimensions(info, target);
    if (!json) {
      text << id << "  ";
      for (const auto& rule : rules) text << " " << rule.get<std::string>();
      for (const Dimension& dimension : dimensions) text << " " << Line(dimension);
      text << "\n";
      continue;
    }
    cases.push_back({{"id", id},
                     {"rules", rules},
                     {"needs", needs},
                     {"budget_s", info.meta.budget_s},
                     {"timing", info.meta.timing},
                     {"dimensions", AsJson(dimensions)},
                     {"combinations", Combinations(dimensions).size()},
                     {"file", info.file},
                     {"line", info.line}});
  }
  if (!json) return text.str();
  const nlohmann::ordered_json listed = {{"target", target.name()}, {"cases", cases}};
  return listed.dump(1) + "\n";
}

}  // namespace pmuconf
