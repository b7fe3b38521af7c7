// SPDX-License-Identifier: Apache-2.0
// Compares the running kernel with the newest one that the rules describe.
#include "harness/newer_kernel.h"

#include <algorithm>

#include "target/expression.h"
#include "target/target.h"

namespace pmuconf {

std::string NewestKernel(const Target& target) {
  return target.rules_of().empty() ? std::string(NewestDescribedKernel()) : target.rules_of();
}

bool IsNewer(const Target& target, std::string_view release) {
  return KernelMatches(std::string(">").append(NewestKernel(target)), release);
}

std::string ReleaseForRules(const Target& target, std::string_view release) {
  return IsNewer(target, release) ? NewestKernel(target) : std::string(release);
}

bool NewerKernelMayDiffer(const std::vector<Rule>& rules) {
  return std::ranges::all_of(rules, [](const Rule& rule) {
    return rule.subject == RuleSubject::kPerfCore || rule.subject == RuleSubject::kArchitecture;
  });
}

}  // namespace pmuconf
