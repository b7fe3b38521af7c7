// SPDX-License-Identifier: Apache-2.0
// A verdict on a subject is the verdict on a report that has only its rules and cases.
#include "report/decide.h"

#include <algorithm>
#include <functional>
#include <set>

#include "report/joined.h"
#include "target/target.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

const std::vector<std::string>& RulesOfFailure(const CaseResult& row) {
  return row.failed_rules.empty() ? row.rules : row.failed_rules;
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

// Returns the other subjects whose rules each failed case of a rule verifies, too, as " (its cases
// also need the perf core)". Returns "" if a failed case needs none.
std::string SharedWith(const RuleRow& row, const Report& report) {
  std::set<RuleSubject> shared;
  for (const CaseResult& failed : report.cases) {
    const std::vector<std::string>& rules = RulesOfFailure(failed);
    if (!IsFailure(failed.result) || std::ranges::find(rules, row.rule.id) == rules.end()) continue;
    std::set<RuleSubject> others;
    for (const std::string& id : rules) {
      const Rule* const rule = FindRule(id);
      if (rule != nullptr && rule->subject != row.rule.subject) others.insert(rule->subject);
    }
    if (others.empty()) return "";
    shared.merge(others);
  }
  std::string text;
  for (const RuleSubject subject : shared)
    text +=
        (text.empty() ? " (its cases also need the " : ", the ") + std::string(ToString(subject));
  return text.empty() ? "" : text + ")";
}

// Returns "CNT-002", or "DRC-052 (KUnit)" for a rule that failed in other layers only.
std::string FailedName(const RuleRow& row, const Report& report) {
  std::string layers;
  for (const LayerAnswer& answer : row.layers) {
    if (answer.result != RuleResult::kFailed) continue;
    if (answer.layer == kSuiteLayer) return std::string(row.rule.id) + SharedWith(row, report);
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

std::pair<Verdict, std::string> DecideAll(const Stream& stream, const Report& report) {
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
      [&](const RuleRow& r) { return FailedName(r, report); });
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

// Returns how many cases read a count that was not 0, or only counts that were 0.
std::ptrdiff_t CasesThatCounted(const Report& report, bool counted) {
  return std::ranges::count(report.cases, std::optional(counted), &CaseResult::counted);
}

// Returns whether all counts were 0, as those of a dead device. Events with an AUX area have no
// counts.
bool NothingCounted(const Report& report, const Target& target) {
  return target.kind() != "trace" && CasesThatCounted(report, true) == 0 &&
         CasesThatCounted(report, false) > 0;
}

// Returns whether a case verifies a rule of the subject. If it failed, only the rules that it
// failed count.
bool Concerns(const CaseResult& row, const std::set<std::string_view>& rules) {
  return std::ranges::any_of(RulesOfFailure(row),
                             [&](const std::string& id) { return rules.contains(id); });
}

// Returns the report without the rules and cases of other subjects.
Report Restrict(const Report& report, const Target& target, RuleSubject subject) {
  Report part = report;
  std::set<std::string_view> ids;
  const auto belongs = [&](const RuleRow& row) { return SubjectOf(row.rule, target) == subject; };
  for (const auto* rows : {&report.rules, &report.drafts}) {
    for (const RuleRow& row : *rows) {
      if (belongs(row)) ids.insert(row.rule.id);
    }
  }
  std::erase_if(part.rules, std::not_fn(belongs));
  std::erase_if(part.cases, [&](const CaseResult& row) { return !Concerns(row, ids); });
  if (subject != SubjectOf(target)) part.problems.clear();
  part.totals = Count(part);
  return part;
}

}  // namespace

RuleSubject SubjectOf(const Target& target) {
  const bool of_core = target.kind() == "software" || target.kind() == "tracepoint";
  return of_core ? RuleSubject::kPerfCore : RuleSubject::kDriver;
}

RuleSubject SubjectOf(const Rule& rule, const Target& target) {
  const bool own = rule.subject == RuleSubject::kDriver || rule.subject == RuleSubject::kSuite;
  return own ? SubjectOf(target) : rule.subject;
}

std::string CountsText(const Report& report, const Target& target) {
  const auto some = CasesThatCounted(report, true), zeros = CasesThatCounted(report, false);
  if (some + zeros == 0) {
    return target.Claims(Cap::kStimulus)
               ? ""
               : "counted: nothing was stimulated, so no case read a count";
  }
  if (some == 0) return "counted: nothing; " + std::to_string(zeros) + " cases read only zeros";
  return "counted: events of the PMU, in " + std::to_string(some) +
         (some == 1 ? " case; " : " cases; ") +
         (target.Claims(Cap::kStimulus) ? "the suite made them happen"
                                        : "no event has a stimulus, so no case knows the number");
}

std::pair<Verdict, std::string> Decide(const Stream& stream, const Report& report,
                                       const Target& target, std::optional<RuleSubject> subject) {
  auto decided = DecideAll(stream, subject ? Restrict(report, target, *subject) : report);
  const bool own = !subject || *subject == SubjectOf(target);
  if (own && decided.first == Verdict::kConformant && NothingCounted(report, target)) {
    return {Verdict::kNotJudged,
            "no event of the PMU counted: each case read only zeros; check the device, or cause "
            "its events during the run"};
  }
  return decided;
}

std::vector<SubjectVerdict> DecideEach(const Stream& stream, const Report& report,
                                       const Target& target) {
  std::set<RuleSubject> found;
  for (const RuleRow& row : report.rules) found.insert(SubjectOf(row.rule, target));
  std::vector<SubjectVerdict> verdicts;
  for (const RuleSubject subject : found) {
    auto [verdict, reason] = Decide(stream, report, target, subject);
    verdicts.push_back({subject, verdict, OneLine(reason)});
  }
  return verdicts;
}

}  // namespace pmuconf
