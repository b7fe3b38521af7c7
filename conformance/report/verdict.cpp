// SPDX-License-Identifier: Apache-2.0
// Computes the verdict.
#include "report/verdict.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/newer_kernel.h"
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

bool IsFailure(Result result) {
  return result == Result::kFail || result == Result::kTimeout || result == Result::kCrash;
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

// The prefix of the host's message about a case whose guest died. No waiver accepts that.
constexpr std::string_view kGuestLost = "guest lost: ";

// Removes kernel reports that a waived case caused.
void WaiveReports(const CaseResult& row, std::vector<std::string>* problems) {
  std::erase_if(*problems, [&](const std::string& problem) {
    return problem.starts_with(kKernelLog) &&
           row.message.find(problem.substr(kKernelLog.size())) != std::string::npos;
  });
}

// `release` selects the waivers, as it selects the rules. A newer kernel may have mended its fault.
void ApplyWaivers(std::span<const Waiver> waivers, std::string_view today, std::string_view release,
                  Report* report) {
  for (const Waiver& waiver : waivers) {
    if (waiver.ExpiredOn(today)) {
      report->problems.push_back("waiver " + waiver.id + " of " + waiver.owner + " (" +
                                 waiver.contact + ") expired on " + waiver.expires);
      continue;
    }
    for (CaseResult& row : report->cases) {
      if (!waiver.Covers(row.id, report->target, release, report->arch)) continue;
      if (waiver.Accepts(row.result) && !row.message.starts_with(kGuestLost)) {
        if (row.result == Result::kCrash) WaiveReports(row, &report->problems);
        row.message = waiver.Text() + "\n" + row.message;
        row.result = Result::kWaived;
      } else if (row.result == Result::kPass && report->newest_kernel.empty()) {
        row.message = "waiver " + waiver.id + " expects it to fail";
        row.result = Result::kUnexpectedPass;
      }
    }
  }
}

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

// Returns "40 of 41 cases have no answer: not permitted here (perf_event_open: EPERM)",
// or "" if there is no such case. Such cases usually have one cause, so it names the first.
std::string UnansweredReason(const Report& report) {
  int n = 0;
  const CaseResult* first = nullptr;
  for (const CaseResult& row : report.cases) {
    if (row.result != Result::kSkip || ResultForRules(row) != Result::kNotRun) continue;
    if (row.skip_reason == SkipReason::kKernelNewer) continue;
    if (n++ == 0) first = &row;
  }
  if (n == 0) return "";
  return std::to_string(n) + " of " + std::to_string(report.cases.size()) +
         " cases have no answer: " + std::string(Phrase(first->skip_reason)) + " (" +
         first->message.substr(0, first->message.find('\n')) + ")";
}

std::string ListIds(const std::vector<std::string>& ids) {
  constexpr std::size_t kMaxListed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), kMaxListed); ++i)
    text += (i ? ", " : "") + ids[i];
  if (ids.size() > kMaxListed) text += " and " + std::to_string(ids.size() - kMaxListed) + " more";
  return text;
}

template <typename Rows, typename Predicate, typename Name>
std::vector<std::string> NamesWhere(const Rows& rows, Predicate predicate, Name name) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (predicate(row)) names.emplace_back(name(row));
  }
  return names;
}

// Returns "614 MUST rules passed (judged: 495 by the suite, 160 by KUnit); not run: vm: 5 MUST
// rules".
std::string Judged(const Report& report) {
  const auto count = [&](RuleResult result) {
    return std::count_if(report.rules.begin(), report.rules.end(), [&](const RuleRow& row) {
      return row.rule.level == Level::kMust && row.result == result;
    });
  };
  const auto waived = count(RuleResult::kWaived);
  const LayerCounts counts = CountLayers(report, true);
  std::string text = std::to_string(count(RuleResult::kPassed)) + " MUST rules passed";
  if (waived > 0) text += ", and waivers accept the failures of " + std::to_string(waived);
  text += report.layers.empty() ? ", judged by " + LayersThatRan(report)
                                : " (judged: " + JudgedText(counts) + ")";
  const auto newer = count(RuleResult::kNotJudged);
  if (newer > 0) {
    text += ", not judged on a kernel newer than " + report.newest_kernel + ": " +
            std::to_string(newer);
  }
  return text + NotJudgedText(counts);
}

// Returns "only selected tests ran (the suite alone): 3 passed, 1 skipped".
std::string Selected(const Report& report) {
  int passed = report.totals.passed;
  int skipped = report.totals.skipped;
  for (const LayerResults& layer : report.layers) {
    for (const CaseResult& row : layer.cases) {
      passed += row.result == Result::kPass ? 1 : 0;
      skipped += row.result == Result::kSkip ? 1 : 0;
    }
  }
  std::string text = "only selected tests ran, of " + LayersThatRan(report) + ": " +
                     std::to_string(passed) + " passed";
  if (report.totals.waived > 0) text += ", " + std::to_string(report.totals.waived) + " waived";
  if (skipped > 0) text += ", " + std::to_string(skipped) + " skipped";
  return text;
}

// Returns "CNT-002", or "DRC-052 (KUnit)" for a rule that failed in other layers only.
std::string FailedName(const RuleRow& row) {
  std::string layers;
  for (const LayerAnswer& answer : row.layers) {
    if (answer.result != RuleResult::kFailed) continue;
    if (answer.layer == kSuiteLayer) return std::string(row.rule.id);
    layers += (layers.empty() ? "" : ", ") + std::string(PhraseOfLayer(answer.layer));
  }
  return std::string(row.rule.id) + " (" + layers + ")";
}

// Returns "KUnit: suite x did not run" for the first layer that could not judge its run, or "".
std::string UnjudgedLayer(const Report& report) {
  for (const LayerResults& layer : report.layers) {
    const std::string name(PhraseOfLayer(layer.layer));
    if (!layer.judged)
      return name + ": " + (layer.problems.empty() ? "not judged" : layer.problems.front());
    if (layer.cases.empty()) return name + ": its file has no test";
  }
  return "";
}

std::pair<Verdict, std::string> Decide(const Stream& stream, const Report& report) {
  const auto case_id = [](const CaseResult& row) { return row.id; };
  const auto rule_id = [](const RuleRow& row) { return row.rule.id; };
  const auto must = [](const RuleRow& row) { return row.rule.level == Level::kMust; };

  if (!stream.lie.empty()) {
    return {Verdict::kNotJudged,
            "the lie " + stream.lie + " was on: these results say nothing about the driver"};
  }
  if (report.cases.empty()) return {Verdict::kNotJudged, "no case was selected"};
  const auto failed_rules = NamesWhere(
      report.rules, [&](const RuleRow& r) { return must(r) && r.result == RuleResult::kFailed; },
      FailedName);
  const auto unexpected = NamesWhere(
      report.cases, [](const CaseResult& r) { return r.result == Result::kUnexpectedPass; },
      case_id);
  const auto failed_cases = NamesWhere(
      report.cases, [](const CaseResult& r) { return IsFailure(r.result); }, case_id);
  if (!failed_rules.empty()) return {Verdict::kNotConformant, "failed: " + ListIds(failed_rules)};
  if (!unexpected.empty()) {
    return {Verdict::kNotConformant, "passed in spite of a waiver: " + ListIds(unexpected)};
  }
  if (stream.partial && !failed_cases.empty()) {
    return {Verdict::kNotConformant, "failed: " + ListIds(failed_cases)};
  }
  if (!report.problems.empty()) return {Verdict::kNotConformant, report.problems.front()};
  if (!stream.ended) return {Verdict::kNotJudged, "lost: the stream has no end"};
  if (const std::string unanswered = UnansweredReason(report); !unanswered.empty())
    return {Verdict::kNotJudged, unanswered};
  if (!stream.no_kernel_log.empty()) return {Verdict::kNotJudged, stream.no_kernel_log};
  if (const std::string unjudged = UnjudgedLayer(report); !unjudged.empty())
    return {Verdict::kNotJudged, unjudged};

  const auto no_answer = NamesWhere(
      report.cases,
      [&](const CaseResult& r) {
        return (r.result == Result::kBroken || r.result == Result::kNotRun);
      },
      case_id);
  if (stream.partial) {
    if (!no_answer.empty()) return {Verdict::kNotJudged, "no answer from: " + ListIds(no_answer)};
    if (report.totals.passed + report.totals.waived == 0) {
      return {Verdict::kNotJudged, "every selected case was skipped"};
    }
    return {Verdict::kPartial, Selected(report)};
  }
  const auto open_rules = NamesWhere(
      report.rules,
      [&](const RuleRow& r) {
        return must(r) &&
               (r.result == RuleResult::kIncomplete || r.result == RuleResult::kNotTested);
      },
      rule_id);
  if (!open_rules.empty()) {
    return {Verdict::kNotJudged,
            "not tested to the end: " + ListIds(open_rules) +
                (no_answer.empty() ? "" : " (no answer from: " + ListIds(no_answer) + ")")};
  }
  if (report.totals.rules_passed == 0) return {Verdict::kNotJudged, "no rule was tested"};
  if (std::ranges::any_of(report.layers,
                          [](const LayerResults& layer) { return !layer.selected.empty(); })) {
    return {Verdict::kPartial, Selected(report)};
  }
  return {Verdict::kConformant, Judged(report)};
}

}  // namespace

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
  report.arch = run.arch;
  report.cases = {result};
  if (IsNewer(target, run.release)) report.newest_kernel = NewestKernel(target);
  ApplyWaivers(waivers, today, ReleaseForRules(target, run.release), &report);
  return report.cases.front();
}

Report Judge(const Stream& stream, const Target& target, const Profile& profile,
             std::span<const KnownCase> suite, std::span<const Waiver> waivers,
             std::string_view today, std::vector<LayerResults> layers) {
  if (stream.target != target.name()) {
    throw ConfigError(
        OneLine("the stream is of target '" + stream.target + "', not '" + target.name() + "'"));
  }
  CheckSameSubject(layers, stream, target);
  Report report;
  report.layers = std::move(layers);
  report.target = stream.target;
  report.kernel = stream.kernel;
  report.release = stream.release;
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
  std::tie(report.verdict, report.reason) = Decide(stream, report);
  report.reason = OneLine(report.reason);
  return report;
}

}  // namespace pmuconf
