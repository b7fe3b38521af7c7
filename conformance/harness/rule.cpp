// SPDX-License-Identifier: Apache-2.0
// Looks up rules.
#include "harness/rule.h"

#include <algorithm>

namespace pmuconf {

std::string_view ToString(Level level) {
  switch (level) {
    case Level::kMust:
      return "MUST";
    case Level::kShould:
      return "SHOULD";
    case Level::kMay:
      return "MAY";
  }
  return "?";
}

std::string_view ToString(RuleSubject subject) {
  switch (subject) {
    case RuleSubject::kDriver:
      return "driver";
    case RuleSubject::kPerfCore:
      return "perf core";
    case RuleSubject::kArchitecture:
      return "architecture";
    case RuleSubject::kSuite:
      return "suite";
  }
  return "?";
}

std::vector<std::string_view> Sources(const Rule& rule) {
  constexpr std::string_view kSeparator = "; ";
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < rule.source.size();) {
    const std::size_t end = std::min(rule.source.find(kSeparator, begin), rule.source.size());
    parts.push_back(rule.source.substr(begin, end - begin));
    begin = end + kSeparator.size();
  }
  return parts;
}

const Rule* FindRule(std::string_view id) {
  const auto rules = AllRules();
  const auto it =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.id == id; });
  return it == rules.end() ? nullptr : &*it;
}

}  // namespace pmuconf
