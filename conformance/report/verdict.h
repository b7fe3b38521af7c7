// SPDX-License-Identifier: Apache-2.0
// Combines results of cases and of other layers to results of rules, and these to a verdict.
#ifndef PMUCONF_REPORT_VERDICT_H_
#define PMUCONF_REPORT_VERDICT_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "harness/rule.h"
#include "report/layers.h"
#include "report/profile.h"
#include "report/stream.h"
#include "report/waiver.h"

namespace pmuconf {

class Target;

enum class RuleResult {
  kPassed,         // its tests that apply to this target passed, in each of its layers that ran
  kPartial,        // as kPassed, but a layer that ran did not run all of its tests of the rule
  kIncomplete,     // some tests passed, others have no answer
  kFailed,         // a test failed
  kWaived,         // cases failed, and waivers accept all failures
  kNotApplicable,  // not for this target or kernel, or all its tests need an absent capability
  kNotTested,      // the layers that ran have no answer
  kNotJudged,      // a test failed, but the kernel is newer than the rule, and its core may differ
  kNotRun,         // applies, but no layer that tests it ran
  kReview,         // applies, but no program can test it: conformance/untested.toml
};
std::string_view ToString(RuleResult result);

// CONFORMANT: each MUST rule that a layer judged is PASSED, PARTIAL (watch) or WAIVED, none has
// missing answers, and there is no other problem. Rules that are NOT_JUDGED do not count. PARTIAL:
// only selected tests ran, and they passed. NOT_JUDGED: the results do not suffice for a verdict.
enum class Verdict { kConformant, kNotConformant, kNotJudged, kPartial };
std::string_view ToString(Verdict verdict);
int ExitStatus(Verdict verdict);  // 0, 1, 2, 0

// The result of one layer for a rule.
struct LayerAnswer {
  std::string_view layer;  // "suite", "kunit"
  RuleResult result = RuleResult::kNotRun;
};

struct RuleRow {
  Rule rule;
  RuleResult result = RuleResult::kNotTested;
  std::vector<LayerAnswer> layers = {};  // those that test the rule; empty if it does not apply
};

// Which verdict is the verdict of the run.
enum class Scope {
  kTarget,  // that on the subject of the target, such as the driver; on all if cases were selected
  kAll,     // that on all subjects together
};

// The verdict on the driver, the perf core or the architecture.
struct SubjectVerdict {
  RuleSubject subject = RuleSubject::kDriver;
  Verdict verdict = Verdict::kNotJudged;
  std::string reason;  // on one line
};

struct Totals {
  std::map<SkipReason, int> skip_reasons;  // of skipped and broken cases, by skip reason
  int cases = 0, passed = 0, failed = 0, skipped = 0, waived = 0, broken = 0, timeout = 0,
      crash = 0, lost = 0, rules = 0, rules_passed = 0;
};

struct Report {
  Verdict verdict = Verdict::kNotJudged;
  std::string reason;                    // why this verdict, on one line
  Scope scope = Scope::kTarget;          // the verdict that decides
  RuleSubject about{};                   // the subject of the target
  std::vector<SubjectVerdict> verdicts;  // one for each subject that has rules
  std::string repro_command;             // repro command, without the id of the case
  std::string target, kernel, release, arch, profile;
  std::string version;        // with the patch level, if `release` hides it: "6.1.192"
  std::string counts;         // whether events counted, and what made them happen; "" if unknown
  bool drafted = false;       // the target is the draft of a probe
  std::string newest_kernel;  // the newest series that the rules describe; "" if none is older
  Totals totals;
  std::vector<CaseResult> cases;  // the selected ones in order, with waivers applied
  std::vector<RuleRow> rules;     // of the profile; if partial, of the selected cases
  std::vector<RuleRow> drafts;    // draft rules of the selected cases; they decide nothing
  std::vector<LayerResults> layers;
  std::vector<std::string> problems;
};

// The facts about a case that the verdict needs.
struct KnownCase {
  std::string id;
  std::vector<std::string> rules;
};

Totals Count(const Report& report);

bool IsFailure(Result result);  // FAIL, TIMEOUT or CRASH

// Returns the meaning of a case's result for its rules. A SKIP without information about the target
// (not permitted here, no such PMU) counts as NOT_RUN.
Result ResultForRules(const CaseResult& row);

// Combines the results of a rule's cases, after ResultForRules().
RuleResult CombineResults(const std::vector<Result>& results, bool applies);

// Returns the result of a case as the report of the run shows it: with the waivers applied.
CaseResult AsReported(const CaseResult& result, const Stream& run, const Target& target,
                      std::span<const Waiver> waivers, std::string_view today);

// Throws ConfigError if the stream has a case that is not in the suite, or if a layer is of another
// subject.
Report Judge(const Stream& stream, const Target& target, const Profile& profile,
             std::span<const KnownCase> suite, std::span<const Waiver> waivers,
             std::string_view today, std::vector<LayerResults> layers = {},
             Scope scope = Scope::kTarget);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_VERDICT_H_
