// SPDX-License-Identifier: Apache-2.0
// Joins the results of the layers.
#include "report/joined.h"

#include <algorithm>
#include <set>

#include "harness/newer_kernel.h"
#include "report/builtin.h"
#include "target/expression.h"
#include "target/target.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

using ResultsByRule = std::map<std::string_view, std::vector<Result>>;

constexpr std::string_view kAllLayers[] = {kSuiteLayer, "kunit", kWatchLayer,
                                           "vm",        "fuzz",  kSourceLayer};

// Returns whether a layer can fail a rule, but not pass it: watch sees only the calls that happen,
// and a source without a mistake that the review knows may have another one.
bool OnlyFails(std::string_view layer) { return layer == kWatchLayer || layer == kSourceLayer; }

// Returns the meaning of a case's result for one of its rules. A case that failed only other rules
// has no answer for this one.
Result ResultForRule(const CaseResult& row, std::string_view rule) {
  const bool of_others = IsFailure(row.result) && !row.failed_rules.empty() &&
                         std::ranges::find(row.failed_rules, rule) == row.failed_rules.end();
  return of_others ? Result::kNotRun : ResultForRules(row);
}

ResultsByRule ByRule(std::span<const CaseResult> cases) {
  ResultsByRule by_rule;
  for (const CaseResult& row : cases) {
    for (const std::string& rule : row.rules) by_rule[rule].push_back(ResultForRule(row, rule));
  }
  return by_rule;
}

// Returns the rules that have a case which was not selected.
std::set<std::string_view> RulesInPart(const Stream& stream, std::span<const KnownCase> suite) {
  std::set<std::string_view> rules;
  if (!stream.partial) return rules;
  const std::set<std::string_view> selected(stream.selected.begin(), stream.selected.end());
  for (const KnownCase& known : suite) {
    if (selected.contains(known.id)) continue;
    rules.insert(known.rules.begin(), known.rules.end());
  }
  return rules;
}

// Returns the rules whose cases this kernel or machine could not run.
std::set<std::string_view> RulesWithoutSupport(std::span<const CaseResult> cases) {
  std::set<std::string_view> lacking, others;
  for (const CaseResult& row : cases) {
    const bool lacks = row.result == Result::kSkip && row.skip_reason == SkipReason::kKernelLacks;
    (lacks ? lacking : others).insert(row.rules.begin(), row.rules.end());
  }
  for (const std::string_view rule : others) lacking.erase(rule);
  return lacking;
}

// Returns the rules whose only cases without an answer are those that a newer kernel may fail.
std::set<std::string_view> RulesOfOlderKernels(std::span<const CaseResult> cases) {
  std::set<std::string_view> newer, others;
  for (const CaseResult& row : cases) {
    const bool open = ResultForRules(row) == Result::kNotRun || row.result == Result::kBroken;
    if (!open) continue;
    const bool may_differ = row.skip_reason == SkipReason::kKernelNewer;
    (may_differ ? newer : others).insert(row.rules.begin(), row.rules.end());
  }
  for (const std::string_view rule : others) newer.erase(rule);
  return newer;
}

RuleResult InPart(RuleResult result, bool in_part) {
  return in_part && result == RuleResult::kPassed ? RuleResult::kPartial : result;
}

bool IsJudgement(RuleResult result) {
  using enum RuleResult;
  return result == kPassed || result == kPartial || result == kFailed || result == kWaived;
}

int Count(const std::vector<LayerAnswer>& answers, RuleResult result) {
  return static_cast<int>(std::ranges::count(answers, result, &LayerAnswer::result));
}

// The results of each layer for each rule.
class Layers {
 public:
  Layers(const Report& report, const Stream& stream, std::span<const KnownCase> suite)
      : suite_(ByRule(report.cases)),
        in_part_(RulesInPart(stream, suite)),
        without_support_(RulesWithoutSupport(report.cases)),
        of_older_kernels_(RulesOfOlderKernels(report.cases)),
        selected_(stream.partial) {
    for (const LayerResults& layer : report.layers)
      others_.push_back({layer.layer, ByRule(layer.cases), !layer.selected.empty()});
  }

  bool Name(std::string_view rule) const {
    return suite_.contains(rule) ||
           std::ranges::any_of(others_, [&](const Other& one) { return one.rules.contains(rule); });
  }

  // Throws ConfigError for a rule that the catalogue lacks.
  void CheckRules(const Profile& profile) const {
    for (const Other& one : others_) {
      for (const auto& [rule, results] : one.rules) {
        if (!profile.Contains(rule) && FindRule(rule) == nullptr) {
          throw ConfigError(OneLine("the file of the layer " + std::string(one.layer) +
                                    " names unknown rule '" + std::string(rule) + "'"));
        }
      }
    }
  }

  std::vector<LayerAnswer> Answers(const Rule& rule) const {
    std::vector<LayerAnswer> answers;
    for (const std::string_view layer : LayersOf(rule)) {
      if (layer == kSuiteLayer) {
        answers.push_back({layer, AnswerOfSuite(rule)});
      } else if (layer != kReviewLayer) {
        answers.push_back({layer, AnswerOf(layer, rule.id)});
      }
    }
    // The catalogue does not name these layers: they check rules that other layers test.
    for (const std::string_view layer : {kWatchLayer, kSourceLayer}) {
      const RuleResult answer = AnswerOf(layer, rule.id);
      const bool known = layer == kWatchLayer ? answer != RuleResult::kNotRun : IsJudgement(answer);
      if (known) answers.push_back({layer, answer});
    }
    return answers;
  }

 private:
  struct Other {
    std::string_view layer;
    ResultsByRule rules;
    bool in_part;
  };

  RuleResult AnswerOfSuite(const Rule& rule) const {
    const auto it = suite_.find(rule.id);
    if (it == suite_.end()) return selected_ ? RuleResult::kNotRun : RuleResult::kNotTested;
    // The rule applies nevertheless if another layer prepares a machine for it.
    if (without_support_.contains(rule.id) && LayersOf(rule).size() > 1) return RuleResult::kNotRun;
    const RuleResult result = CombineResults(it->second, true);
    const bool open = result == RuleResult::kIncomplete || result == RuleResult::kNotTested;
    if (open && of_older_kernels_.contains(rule.id)) return RuleResult::kNotJudged;
    return InPart(result, in_part_.contains(rule.id));
  }

  RuleResult AnswerOf(std::string_view layer, std::string_view rule) const {
    for (const Other& one : others_) {
      const auto it = one.rules.find(rule);
      if (one.layer == layer && it != one.rules.end())
        return InPart(CombineResults(it->second, true), one.in_part);
    }
    return RuleResult::kNotRun;
  }

  ResultsByRule suite_;
  std::set<std::string_view> in_part_;
  std::set<std::string_view> without_support_;
  std::set<std::string_view> of_older_kernels_;
  bool selected_;  // only selected cases ran
  std::vector<Other> others_;
};

std::string Rules(int n, bool only_must) {
  return std::to_string(n) + (only_must ? " MUST rule" : " rule") + (n == 1 ? "" : "s");
}

}  // namespace

RuleResult JoinAnswers(const std::vector<LayerAnswer>& answers) {
  using enum RuleResult;
  if (answers.empty()) return kReview;
  const auto count = [&answers](RuleResult result) { return Count(answers, result); };
  if (count(kFailed) > 0) return kFailed;
  if (count(kNotJudged) > 0) return kNotJudged;
  const auto passed = std::ranges::count_if(answers, [](const LayerAnswer& one) {
    return !OnlyFails(one.layer) && one.result == kPassed;
  });
  const bool watched = std::ranges::any_of(answers, [](const LayerAnswer& one) {
    return OnlyFails(one.layer) && IsJudgement(one.result);
  });
  const int some = static_cast<int>(passed) + count(kPartial) + count(kWaived);
  if (count(kIncomplete) + count(kNotTested) > 0)
    return some + count(kIncomplete) > 0 ? kIncomplete : kNotTested;
  if (std::ranges::any_of(answers, [](const LayerAnswer& one) {
        return !OnlyFails(one.layer) && one.result == kPartial;
      })) {
    return kPartial;
  }
  if (count(kWaived) > 0) return kWaived;
  if (passed > 0) return kPassed;
  if (count(kNotApplicable) > 0) return kNotApplicable;
  return watched ? kPartial : kNotRun;
}

std::vector<RuleRow> JoinResults(const Report& report, const Stream& stream, const Target& target,
                                 const Profile& profile, bool drafts,
                                 std::span<const KnownCase> suite) {
  const Layers layers(report, stream, suite);
  layers.CheckRules(profile);
  std::vector<RuleRow> rows;
  const auto claims = [&](Cap cap) { return target.Claims(cap); };
  const std::string release = ReleaseForRules(target, report.release);
  for (const Rule& rule : drafts ? profile.drafts : profile.rules) {
    if ((drafts || stream.partial) && !layers.Name(rule.id)) continue;
    RuleRow row = {rule, RuleResult::kNotApplicable};
    if (EvaluateApplies(rule.applies, claims) && KernelMatches(rule.kernels, release)) {
      row.layers = layers.Answers(rule);
      row.result = JoinAnswers(row.layers);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

LayerCounts CountLayers(const Report& report, bool only_must) {
  LayerCounts counts;
  for (const RuleRow& row : report.rules) {
    if (only_must && row.rule.level != Level::kMust) continue;
    counts.review += row.result == RuleResult::kReview ? 1 : 0;
    counts.in_part += row.result == RuleResult::kPartial ? 1 : 0;
    for (const LayerAnswer& answer : row.layers) {
      if (IsJudgement(answer.result)) ++counts.judged[answer.layer];
      if (answer.result != RuleResult::kNotRun) continue;
      if (row.result == RuleResult::kNotRun) ++counts.not_run[answer.layer];
      if (IsJudgement(row.result)) ++counts.without_it[answer.layer];
    }
  }
  return counts;
}

std::string LayersThatRan(const Report& report) {
  std::vector<std::string> names = {std::string(PhraseOfLayer(kSuiteLayer))};
  for (const std::string_view layer : OtherLayers()) {
    const bool ran = std::ranges::any_of(
        report.layers, [layer](const LayerResults& one) { return one.layer == layer; });
    if (ran) names.emplace_back(PhraseOfLayer(layer));
  }
  if (names.size() == 1) return names.front() + " alone";
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string JudgedText(const LayerCounts& counts) {
  std::string text;
  for (const std::string_view layer : kAllLayers) {
    const auto it = counts.judged.find(layer);
    if (it == counts.judged.end()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(it->second) + " by " +
            std::string(PhraseOfLayer(layer));
  }
  return text;
}

std::string RulesByLayer(const std::map<std::string_view, int>& counts, bool only_must) {
  std::string text;
  for (const std::string_view layer : kAllLayers) {
    const auto it = counts.find(layer);
    if (it == counts.end()) continue;
    text += (text.empty() ? "" : ", ") + std::string(PhraseOfLayer(layer)) + ": " +
            Rules(it->second, only_must);
  }
  return text;
}

std::string NotJudgedText(const LayerCounts& counts) {
  std::string text;
  if (counts.in_part > 0) text += "; only in part: " + Rules(counts.in_part, true);
  if (!counts.not_run.empty()) text += "; not run: " + RulesByLayer(counts.not_run, true);
  if (counts.review > 0) text += "; not testable by a program: " + Rules(counts.review, true);
  return text;
}

std::string_view UntestedReason(std::string_view rule) {
  for (const UntestedReasonOfRule& one : UntestedReasons()) {
    if (one.rule == rule) return one.reason;
  }
  return "";
}

std::vector<std::string> ProblemsOfLayers(std::span<const LayerResults> layers) {
  std::vector<std::string> problems;
  for (const LayerResults& layer : layers) {
    const std::string name(PhraseOfLayer(layer.layer));
    // A run that is not judged has reasons instead of problems: the verdict names them.
    for (const std::string& problem : layer.problems) {
      if (layer.judged) problems.push_back(name + ": " + problem);
    }
    std::string failed;
    for (const CaseResult& row : layer.cases) {
      const bool bad = CombineResults({ResultForRules(row)}, true) == RuleResult::kFailed;
      if (bad && row.rules.empty()) failed += " " + row.id;
    }
    if (!failed.empty()) problems.push_back(name + ": failed:" + failed);
  }
  return problems;
}

}  // namespace pmuconf
