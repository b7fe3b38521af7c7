// SPDX-License-Identifier: Apache-2.0
// Looks up rules and their values for a kernel.
#include "harness/rule.h"

#include <algorithm>
#include <string>

#include "target/expression.h"
#include "target/target.h"

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

std::int64_t ValueOn(const Rule& rule, std::string_view name, std::string_view release) {
  for (const RuleValue& value : rule.by_kernel) {
    if (value.name == name && KernelMatches(value.kernels, release)) return value.value;
  }
  throw ConfigError(std::string(rule.id) + ": by_kernel." + std::string(name) +
                    " has no value for kernel " + std::string(release));
}

const Rule* FindRule(std::string_view id) {
  const auto rules = AllRules();
  const auto it =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.id == id; });
  return it == rules.end() ? nullptr : &*it;
}

}  // namespace pmuconf
