// SPDX-License-Identifier: Apache-2.0
// Compares an observed behaviour with the documented ones and with earlier observations.
#include "harness/behaviour.h"

#include <map>
#include <string>
#include <utility>

#include "system/broken.h"
#include "system/context.h"

namespace pmuconf {

testing::AssertionResult IsBehaviour(const Rule& rule, std::string_view name, std::int64_t value) {
  static std::map<std::pair<std::string_view, std::string_view>, std::int64_t> observed;
  std::string permitted;
  bool documented = false;
  for (const RuleValue& one : rule.behaviours) {
    if (one.name != name) continue;
    permitted += (permitted.empty() ? "" : " or ") + std::to_string(one.value);
    documented = documented || one.value == value;
  }
  const std::string behaviour = std::string(rule.id) + " " + std::string(name);
  if (permitted.empty()) throw Broken("the rule has no behaviour " + behaviour);
  if (!documented) {
    return testing::AssertionFailure() << behaviour << " is " << value
                                       << ", and no kernel but with " << permitted << " is known";
  }
  const std::int64_t first = observed.try_emplace({rule.id, name}, value).first->second;
  if (first == value) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << behaviour << " is " << value << " now, but it was " << first << " before";
}

void SkipWithout(std::string_view what) {
  throw Skipped{SkipReason::kKernelLacks, "the kernel lacks " + std::string(what)};
}

}  // namespace pmuconf
