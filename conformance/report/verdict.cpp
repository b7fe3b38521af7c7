// SPDX-License-Identifier: Apache-2.0
// Computes the verdict.
#include "report/verdict.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/newer_kernel.h"
#include "report/decide.h"
#include "report/joined.h"
#include "target/target.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

// Orders results by severity. If a case has two results, from the guest and from the host that saw
// the guest die, the more severe one counts.
int Severity(Result result) {
  switch (result) {
    case Result::kPass:
      return 0;
    case Result::kSkip:
      return 1;
    case Result::kNotRun:
    case Result::kWaived:
    case Result::kUnexpectedPass:
      return 2;
    case Result::kBroken:
      return 3;
    case Result::kFail:
      return 4;
    case Result::kTimeout:
      return 5;
    case Result::kCrash:
      return 6;
  }
  return 6;
}

std::vector<CaseResult> Collect(const Stream& stream, std::span<const KnownCase> suite) {
  std::map<std::string, const KnownCase*> known;
  for (const KnownCase& info : suite) known[info.id] = &info;
  std::map<std::string, CaseResult> by_id;
  for (const CaseResult& result : stream.results) {
    const auto [it, fresh] = by_id.try_emplace(result.id, result);
    if (!fresh && Severity(result.result) > Severity(it->second.result)) it->second = result;
  }
  std::vector<CaseResult> cases;
  for (const std::string& id : stream.selected) {
    if (!known.contains(id))
      throw ConfigError(OneLine("the stream selects unknown case '" + id + "'"));
    CaseResult row;
    if (const auto it = by_id.find(id); it != by_id.end()) {
      row = it->second;
    } else {
      row.id = id;
      row.message = stream.ended ? "no result arrived" : "the run ended before its result arrived";
    }
    row.rules = known[id]->rules;
    if (row.result == Result::kBroken) row.skip_reason = SkipReason::kBroken;
    cases.push_back(std::move(row));
    by_id.erase(id);
  }
  if (!by_id.empty()) {
    throw ConfigError(OneLine("the stream has a result of case '" + by_id.begin()->first +
                              "', which was not selected"));
  }
  return cases;
}

// Removes kernel reports that a waived case caused.
void WaiveReports(const CaseResult& row, std::vector<std::string>* problems) {
  std::erase_if(*problems, [&](const std::string& problem) {
    return problem.starts_with(kKernelLog) &&
           row.message.find(problem.substr(kKernelLog.size())) != std::string::npos;
  });
}

// Returns whether the kernel of the run has the bug that a waiver names. Without a bug, it has.
Affected HasBug(const Waiver& waiver, const Report& report) {
  if (!waiver.bug) return Affected::kYes;
  const auto version = ParseKernelVersion(report.version.empty() ? report.release : report.version);
  return version ? waiver.bug->In(*version) : Affected::kMaybe;
}

AppliedWaiver Applied(const Waiver& waiver) {
  return {.id = waiver.id,
          .reason = waiver.reason,
          .link = waiver.link,
          .owner = waiver.owner,
          .text = waiver.Text()};
}

// Accepts a failure. Only a bug of the kernel excuses the death of a guest.
void Accept(const Waiver& waiver, Affected affected, Report* report, CaseResult* row) {
  if (row->result == Result::kCrash) WaiveReports(*row, &report->problems);
  row->waiver = Applied(waiver);
  if (affected == Affected::kMaybe) {
    row->waiver->text += "\nthe patch level of this kernel is not known";
  }
  row->result = Result::kWaived;
}

// A case that passes contradicts a waiver. A kernel without a known bug may have a backported fix.
void Contradict(const Waiver& waiver, Affected affected, const Report& report, CaseResult* row) {
  if (waiver.bug) {
    if (affected != Affected::kYes) return;
    row->waiver = Applied(waiver);
    row->message = "passed in spite of the bug of " + waiver.id;
    return;
  }
  // A draft has other events than the target of the waiver, and may lack what shows the fault.
  if (report.drafted || !report.newest_kernel.empty()) return;
  row->waiver = Applied(waiver);
  row->message = "waiver " + waiver.id + " expects it to fail";
  row->result = Result::kUnexpectedPass;
}

// `release` selects the waivers, as it selects the rules. A newer kernel may have fixed its fault.
void ApplyWaivers(std::span<const Waiver> waivers, std::string_view today, std::string_view release,
                  Report* report) {
  for (const Waiver& waiver : waivers) {
    if (waiver.ExpiredOn(today)) {
      report->problems.push_back("waiver " + waiver.id + " of " + waiver.owner + " (" +
                                 waiver.contact + ") expired on " + waiver.expires);
      continue;
    }
    const Affected affected = HasBug(waiver, *report);
    if (affected == Affected::kOutside) continue;
    for (CaseResult& row : report->cases) {
      if (!waiver.Covers(row.id, report->target, release, report->arch)) continue;
      if (waiver.Accepts(row.result) && (waiver.bug || !row.guest_lost)) {
        Accept(waiver, affected, report, &row);
      } else if (row.result == Result::kPass) {
        Contradict(waiver, affected, *report, &row);
      }
    }
  }
}

}  // namespace

Totals Count(const Report& report) {
  Totals totals;
  for (const CaseResult& row : report.cases) {
    ++totals.cases;
    if (row.skip_reason != SkipReason::kNone) ++totals.skip_reasons[row.skip_reason];
    switch (row.result) {
      case Result::kPass:
        ++totals.passed;
        break;
      case Result::kFail:
      case Result::kUnexpectedPass:
        ++totals.failed;
        break;
      case Result::kSkip:
        ++totals.skipped;
        break;
      case Result::kWaived:
        ++totals.waived;
        break;
      case Result::kBroken:
        ++totals.broken;
        break;
      case Result::kTimeout:
        ++totals.timeout;
        break;
      case Result::kCrash:
        ++totals.crash;
        break;
      case Result::kNotRun:
        ++totals.lost;
        break;
    }
  }
  for (const RuleRow& row : report.rules) {
    ++totals.rules;
    totals.rules_passed += row.result == RuleResult::kPassed ? 1 : 0;
  }
  return totals;
}

std::string_view ToString(RuleResult result) {
  switch (result) {
    case RuleResult::kPassed:
      return "PASSED";
    case RuleResult::kPartial:
      return "PARTIAL";
    case RuleResult::kIncomplete:
      return "INCOMPLETE";
    case RuleResult::kFailed:
      return "FAILED";
    case RuleResult::kWaived:
      return "WAIVED";
    case RuleResult::kNotApplicable:
      return "NOT_APPLICABLE";
    case RuleResult::kNotTested:
      return "NOT_TESTED";
    case RuleResult::kNotJudged:
      return "NOT_JUDGED";
    case RuleResult::kNotRun:
      return "NOT_RUN";
    case RuleResult::kReview:
      return "REVIEW";
  }
  return "?";
}

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kConformant:
      return "CONFORMANT";
    case Verdict::kNotConformant:
      return "NOT_CONFORMANT";
    case Verdict::kNotJudged:
      return "NOT_JUDGED";
    case Verdict::kPartial:
      return "PARTIAL";
  }
  return "?";
}

int ExitStatus(Verdict verdict) {
  switch (verdict) {
    case Verdict::kConformant:
    case Verdict::kPartial:
      return 0;
    case Verdict::kNotConformant:
      return 1;
    case Verdict::kNotJudged:
      return 2;
  }
  return 2;
}

bool IsFailure(Result result) {
  return result == Result::kFail || result == Result::kTimeout || result == Result::kCrash;
}

Result ResultForRules(const CaseResult& row) {
  const bool open = row.result == Result::kSkip && LeavesRulesOpen(row.skip_reason);
  return open ? Result::kNotRun : row.result;
}

RuleResult CombineResults(const std::vector<Result>& results, bool applies) {
  if (!applies) return RuleResult::kNotApplicable;
  const auto count = [&](auto predicate) {
    return std::count_if(results.begin(), results.end(), predicate);
  };
  const auto passed = count([](Result r) { return r == Result::kPass; });
  const auto waived = count([](Result r) { return r == Result::kWaived; });
  const auto skipped = count([](Result r) { return r == Result::kSkip; });
  const auto open = count([](Result r) { return r == Result::kBroken || r == Result::kNotRun; });
  if (count([](Result r) { return IsFailure(r) || r == Result::kUnexpectedPass; }) > 0) {
    return RuleResult::kFailed;
  }
  if (results.empty()) return RuleResult::kNotTested;
  if (open > 0) return passed > 0 ? RuleResult::kIncomplete : RuleResult::kNotTested;
  if (waived > 0) return RuleResult::kWaived;
  if (passed > 0) return RuleResult::kPassed;
  return skipped > 0 ? RuleResult::kNotApplicable : RuleResult::kNotTested;
}

CaseResult AsReported(const CaseResult& result, const Stream& run, const Target& target,
                      std::span<const Waiver> waivers, std::string_view today) {
  Report report;
  report.target = run.target;
  report.release = run.release;
  report.version = run.version;
  report.arch = run.arch;
  report.drafted = run.drafted;
  report.cases = {result};
  if (IsNewer(target, run.release)) report.newest_kernel = NewestKernel(target);
  ApplyWaivers(waivers, today, ReleaseForRules(target, run.release), &report);
  return report.cases.front();
}

namespace {

// Returns the subject whose verdict is that of the run, or nullopt for all together. A run of
// selected cases, or of a profile without rules of the subject, depends on all of them.
std::optional<RuleSubject> DecidingSubject(const Report& report, const Stream& stream,
                                           Scope scope) {
  const bool has_rules = std::ranges::any_of(
      report.verdicts, [&](const SubjectVerdict& one) { return one.subject == report.about; });
  if (scope == Scope::kAll || stream.partial || !has_rules) return std::nullopt;
  return report.about;
}

}  // namespace

Report Judge(const Stream& stream, const Target& target, const Profile& profile,
             std::span<const KnownCase> suite, std::span<const Waiver> waivers,
             std::string_view today, std::vector<LayerResults> layers, Scope scope) {
  if (stream.target != target.name()) {
    throw ConfigError(
        OneLine("the stream is of target '" + stream.target + "', not '" + target.name() + "'"));
  }
  CheckSameSubject(layers, stream, target);
  Report report;
  report.layers = std::move(layers);
  report.target = stream.target;
  report.drafted = stream.drafted;
  report.kernel = stream.kernel;
  report.release = stream.release;
  report.version = stream.version;
  report.arch = stream.arch;
  report.profile = profile.name;
  report.problems = stream.problems;
  report.cases = Collect(stream, suite);
  if (IsNewer(target, report.release)) report.newest_kernel = NewestKernel(target);
  ApplyWaivers(waivers, today, ReleaseForRules(target, report.release), &report);
  report.rules = JoinResults(report, stream, target, profile, false, suite);
  report.drafts = JoinResults(report, stream, target, profile, true, suite);
  const auto problems = ProblemsOfLayers(report.layers);
  report.problems.insert(report.problems.end(), problems.begin(), problems.end());
  report.totals = Count(report);
  report.scope = scope;
  report.about = SubjectOf(target);
  report.counts = CountsText(report, target);
  report.verdicts = DecideEach(stream, report, target);
  std::tie(report.verdict, report.reason) =
      Decide(stream, report, target, DecidingSubject(report, stream, scope));
  report.reason = OneLine(report.reason);
  return report;
}

}  // namespace pmuconf
