// SPDX-License-Identifier: Apache-2.0
// What a rule of the catalogue is; the rules themselves are in the generated pmuconf/rules.h.
#ifndef PMUCONF_RULE_H_
#define PMUCONF_RULE_H_

#include <span>
#include <string_view>

namespace pmuconf {

enum class Level { kMust, kShould, kMay };
enum class RuleStatus { kDraft, kActive, kRetired };

// One rule, as written in conformance/rules/<AREA>.toml.
struct Rule {
  std::string_view id;  // "CNT-003"
  Level level = Level::kMust;
  RuleStatus status = RuleStatus::kActive;
  std::string_view text;
  std::string_view why;
  std::string_view source;   // sources, joined with "; "
  std::string_view applies;  // expression over capability names, e.g. "sampling and not bpf"
  std::string_view kernels;  // e.g. ">=6.1"
};

std::string_view ToString(Level level);

// The whole catalogue, in order of id. Defined by the generated rules.cpp.
std::span<const Rule> AllRules();

// The rule of that id, or null.
const Rule* FindRule(std::string_view id);

}  // namespace pmuconf

#endif  // PMUCONF_RULE_H_
