// SPDX-License-Identifier: Apache-2.0
// What a rule of the catalogue is; the rules themselves are in the generated
// pmuconf/rules/<AREA>.h.
#ifndef PMUCONF_RULE_H_
#define PMUCONF_RULE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace pmuconf {

enum class Level { kMust, kShould, kMay };
enum class RuleStatus { kDraft, kActive, kRetired };

// What a rule says differently for different kernels: a number, or an errno.
struct RuleValue {
  std::string_view name;
  std::string_view kernels;
  std::int64_t value = 0;
};

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
  std::string_view layer;    // what verifies it: case, kunit, fuzz, vm, review
  std::span<const RuleValue> by_kernel = {};
};

// What `name` of the rule's by_kernel is on the kernel of that release ("6.12.5-1"). Throws
// ConfigError if the rule has no such name for it.
std::int64_t ValueOn(const Rule& rule, std::string_view name, std::string_view release);

std::string_view ToString(Level level);

// The whole catalogue, in order of id. Defined by the generated rules.cpp.
std::span<const Rule> AllRules();

// The rule of that id, or null.
const Rule* FindRule(std::string_view id);

}  // namespace pmuconf

#endif  // PMUCONF_RULE_H_
