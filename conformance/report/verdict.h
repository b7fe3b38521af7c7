// SPDX-License-Identifier: Apache-2.0
// Combines results of cases to results of rules, and these to a verdict.
#ifndef PMUCONF_REPORT_VERDICT_H_
#define PMUCONF_REPORT_VERDICT_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "harness/rule.h"
#include "report/profile.h"
#include "report/stream.h"
#include "report/waiver.h"

namespace pmuconf {

class Target;

enum class RuleResult {
  kPassed,         // all its cases that apply to this target passed
  kPartial,        // some passed, some have no answer
  kFailed,         // a case failed
  kWaived,         // cases failed, and waivers accept all failures
  kNotApplicable,  // not for this target or kernel, or all its cases need an absent capability
  kNotTested,      // no case has an answer
  kNotTestedHere,  // applies, but only other layers test it: KUnit, watch, fuzzers, reviews
};
std::string_view ToString(RuleResult result);

// CONFORMANT: every MUST rule of the profile is PASSED, WAIVED or NOT_APPLICABLE, or other layers
// test it, and there is no
// other problem. PARTIAL: only a selection ran, and all of it passed. NOT_JUDGED: the results do
// not suffice for a verdict.
enum class Verdict { kConformant, kNotConformant, kNotJudged, kPartial };
std::string_view ToString(Verdict verdict);
int ExitStatus(Verdict verdict);  // 0, 1, 2, 0

struct RuleRow {
  Rule rule;
  RuleResult result = RuleResult::kNotTested;
};

struct Totals {
  std::map<SkipReason, int> skip_reasons;  // of skipped and broken cases, by skip reason
  int cases = 0, passed = 0, failed = 0, skipped = 0, waived = 0, broken = 0, timeout = 0,
      crash = 0, lost = 0, rules = 0, rules_passed = 0;
};

struct Report {
  Verdict verdict = Verdict::kNotJudged;
  std::string reason;         // why this verdict, on one line
  std::string repro_command;  // repro command, without the id of the case
  std::string target, kernel, release, arch, profile;
  Totals totals;
  std::vector<CaseResult> cases;  // the selected ones in order, with waivers applied
  std::vector<RuleRow> rules;     // of the profile; if partial, of the selected cases
  std::vector<RuleRow> drafts;    // draft rules of the selected cases; they decide nothing
  std::vector<std::string> problems;
};

// The facts about a case that the verdict needs.
struct KnownCase {
  std::string id;
  std::vector<std::string> rules;
};

// Returns the meaning of a case's result for its rules. A SKIP without information about the target
// (not permitted here, no such PMU) counts as NOT_RUN.
Result ResultForRules(const CaseResult& row);

// Combines the results of a rule's cases, after ResultForRules().
RuleResult CombineResults(const std::vector<Result>& results, bool applies);

// Throws ConfigError if the stream has a case that is not in the suite.
Report Judge(const Stream& stream, const Target& target, const Profile& profile,
             std::span<const KnownCase> suite, std::span<const Waiver> waivers,
             std::string_view today);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_VERDICT_H_
