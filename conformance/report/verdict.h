// SPDX-License-Identifier: Apache-2.0
// From the results of cases to rules, and from rules to a verdict.
#ifndef PMUCONF_REPORT_VERDICT_H_
#define PMUCONF_REPORT_VERDICT_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"
#include "pmuconf/rule.h"
#include "report/profile.h"
#include "report/stream.h"
#include "report/waiver.h"

namespace pmuconf {

class Target;

enum class RuleResult {
  kPassed,         // its cases that this target can run all passed
  kPartial,        // some passed, some gave no answer
  kFailed,         // one failed
  kWaived,         // failures, all waived
  kNotApplicable,  // not for this target or kernel, or all its cases lack a named capability
  kNotTested,      // no case gave an answer
};
std::string_view ToString(RuleResult result);

// CONFORMANT: every MUST rule of the profile is PASSED, NOT_APPLICABLE or WAIVED, and nothing else
// went wrong. PARTIAL: less was selected, and all of that passed. NOT_JUDGED: nobody can tell.
enum class Verdict { kConformant, kNotConformant, kNotJudged, kPartial };
std::string_view ToString(Verdict verdict);
int ExitStatus(Verdict verdict);  // 0, 1, 2, 0

struct RuleRow {
  Rule rule;
  RuleResult result = RuleResult::kNotTested;
};

struct Totals {
  std::map<Obstacle, int> obstacles;  // of what was skipped or broken
  int cases = 0, passed = 0, failed = 0, skipped = 0, waived = 0, broken = 0, timeout = 0,
      crash = 0, lost = 0, rules = 0, rules_passed = 0;
};

struct Report {
  Verdict verdict = Verdict::kNotJudged;
  std::string reason;  // one line: why this verdict
  std::string again;   // command that repeats one case, but for its id
  std::string target, kernel, release, arch, profile;
  Totals totals;
  std::vector<CaseResult> cases;  // selected ones, in order of selection; WAIVED applied
  std::vector<RuleRow> rules;     // of the profile (partial: those of the selected cases)
  std::vector<std::string> problems;
};

// A case of the suite, as far as judging needs it.
struct KnownCase {
  std::string id;
  std::vector<std::string> rules;
};

// What a case's result means to its rules: a SKIP that tells nothing of the target (not permitted
// here, no such PMU) is no answer, as if the case had not run.
Result ForRules(const CaseResult& row);

// The roll-up of one rule from the results of its cases, as ForRules() has them.
RuleResult RollUp(const std::vector<Result>& results, bool applies);

// Throws ConfigError if the stream names a case that the suite does not have.
Report Judge(const Stream& stream, const Target& target, const Profile& profile,
             std::span<const KnownCase> suite, std::span<const Waiver> waivers,
             std::string_view today);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_VERDICT_H_
