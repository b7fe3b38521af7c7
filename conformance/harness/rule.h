// SPDX-License-Identifier: Apache-2.0
// The structure of a rule of the catalogue. The generated headers rules/<AREA>.h have the
// rules themselves.
#ifndef PMUCONF_HARNESS_RULE_H_
#define PMUCONF_HARNESS_RULE_H_

#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

namespace pmuconf {

enum class Level { kMust, kShould, kMay };
enum class RuleStatus { kDraft, kActive, kRetired };
// Whose code has to be fixed if the rule is violated.
enum class RuleSubject { kDriver, kPerfCore, kArchitecture, kSuite };

// A value that a rule permits for the behaviour `name`: a number or an errno. `kernels` names
// kernels that have it, for readers. No code compares it with a version.
struct RuleValue {
  std::string_view name;
  std::int64_t value = 0;
  std::string_view kernels;
};

// One rule, as conformance/rules/<AREA>.toml states it.
struct Rule {
  std::string_view id;  // "CNT-003"
  Level level = Level::kMust;
  RuleStatus status = RuleStatus::kActive;
  RuleSubject subject = RuleSubject::kDriver;
  std::string_view text;
  std::string_view why;
  std::string_view source;   // joined with "; "
  std::string_view applies;  // expression over capability names, e.g. "sampling and not bpf"
  std::string_view kernels;  // e.g. ">=6.1"
  std::string_view layer;    // verified by: case, kunit, fuzz, vm or review
  std::span<const RuleValue> behaviours = {};  // harness/behaviour.h
};

// Prints the text. An assertion of a case with several rules prints the rule that it is about:
//   EXPECT_EQ(event.Read().value, 7u) << rule::CNT_003;
inline std::ostream& operator<<(std::ostream& out, const Rule& rule) { return out << rule.text; }

std::string_view ToString(Level level);
std::string_view ToString(RuleSubject subject);  // "perf core", as in the catalogue

// Returns the sources of a rule: "linux:kernel/events/core.c#perf_event_read".
std::vector<std::string_view> Sources(const Rule& rule);

// Returns the newest series of vm/kernels, "7.2". The rules describe it and older ones. The
// generated rules.cpp defines it.
std::string_view NewestDescribedKernel();

// Returns the whole catalogue, in order of id. The generated rules.cpp defines it.
std::span<const Rule> AllRules();

// Returns the rule with that id, or null.
const Rule* FindRule(std::string_view id);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_RULE_H_
