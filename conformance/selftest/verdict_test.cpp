// SPDX-License-Identifier: Apache-2.0
// Results of rules, verdicts, waivers and profiles.
#include "report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/formats.h"
#include "selftest/toy_suite.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Not;

Target Toy() {
  return Target::Parse(R"([target]
name = "toy"
match = "toy"
kind = "core"
[counters]
general = 4
width = 48
[[event]]
name = "a"
counters = "0-3"
accuracy = "exact"
)",
                       "toy.toml");
}

Stream Ended(const std::vector<std::pair<std::string, Result>>& results) {
  Stream stream;
  stream.target = "toy";
  stream.kernel = "6.12";
  stream.release = "6.12.1";
  stream.ended = true;
  for (const auto& [id, result] : results) {
    stream.selected.push_back(id);
    if (result != Result::kNotRun) stream.results.push_back({id, result, 0.1, "", {}});
  }
  return stream;
}

Stream AllPass() {
  return Ended({{"One.Holds", Result::kPass},
                {"One.Too", Result::kPass},
                {"Two.Should", Result::kPass},
                {"Two.Samples", Result::kSkip},
                {"Two.Draft", Result::kPass}});
}

Report JudgeIt(const Stream& stream, std::vector<Waiver> waivers = {}) {
  return Judge(stream, Toy(), WholeCatalogue(kRules), kSuite, waivers, "2026-11-21");
}

Waiver WaiverOf(const std::string& glob) {
  return {
      "WVR-001", "perf",  "known", "https://example.org/1", "2026-12-31",      {"Three.*", glob},
      {"t*"},    ">=6.1", "",      {Result::kFail},         "list@example.org"};
}

const std::vector<Owner> kKnownOwners = {{"perf", "list@example.org", "PERF"}};

Stream WithResult(std::size_t at, Result result) {
  Stream stream = AllPass();
  stream.results.at(at).result = result;
  return stream;
}

TEST(Judge, ReasonCountsTheRulesThatPassedByAWaiver) {
  const std::vector<Waiver> waivers = {WaiverOf("One.Too")};
  const Report report = JudgeIt(WithResult(1, Result::kFail), waivers);
  ASSERT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(report.reason,
            "0 MUST rules passed, and waivers accept the failures of 2, judged by the suite alone; "
            "not run: KUnit: 1 MUST rule; not testable by a program: 1 MUST rule");
}

Stream WithCounts(std::optional<bool> first, std::optional<bool> second) {
  Stream stream = AllPass();
  stream.results.at(0).counted = first;
  stream.results.at(1).counted = second;
  return stream;
}

TEST(Judge, DeadPmuIsNotConformant) {
  const Report report = JudgeIt(WithCounts(false, false));
  EXPECT_EQ(report.verdict, Verdict::kNotJudged);
  EXPECT_EQ(report.reason.substr(0, 28), "no event of the PMU counted:");
  EXPECT_EQ(report.counts, "counted: nothing; 2 cases read only zeros");
}

TEST(Judge, OneCaseThatCountedIsEnough) {
  const Report report = JudgeIt(WithCounts(false, true));
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(report.counts.substr(0, 38), "counted: events of the PMU, in 1 case;");
}

TEST(Judge, RunWithoutCountsIsJudged) {
  const Report report = JudgeIt(WithCounts(std::nullopt, std::nullopt));
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(report.counts, "counted: nothing was stimulated, so no case read a count");
}

TEST(CombineResults, WorstResultDecides) {
  using enum Result;
  EXPECT_EQ(CombineResults({kPass, kPass}, true), RuleResult::kPassed);
  EXPECT_EQ(CombineResults({kPass, kSkip}, true), RuleResult::kPassed);
  EXPECT_EQ(CombineResults({kPass, kFail}, true), RuleResult::kFailed);
  EXPECT_EQ(CombineResults({kPass, kTimeout}, true), RuleResult::kFailed);
  EXPECT_EQ(CombineResults({kPass, kCrash}, true), RuleResult::kFailed);
  EXPECT_EQ(CombineResults({kPass, kUnexpectedPass}, true), RuleResult::kFailed);
  EXPECT_EQ(CombineResults({kPass, kBroken}, true), RuleResult::kIncomplete);
  EXPECT_EQ(CombineResults({kPass, kNotRun}, true), RuleResult::kIncomplete);
  EXPECT_EQ(CombineResults({kPass, kWaived}, true), RuleResult::kWaived);
  EXPECT_EQ(CombineResults({kBroken, kBroken}, true), RuleResult::kNotTested);
  EXPECT_EQ(CombineResults({kSkip}, true), RuleResult::kNotApplicable);
  EXPECT_EQ(CombineResults({}, true), RuleResult::kNotTested);
  EXPECT_EQ(CombineResults({kPass}, false), RuleResult::kNotApplicable);
}

TEST(Judge, ConformantWhenEveryMustRulePasses) {
  const Report report = JudgeIt(AllPass());
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(ExitStatus(report.verdict), 0);
  EXPECT_EQ(report.totals.cases, 5);
  EXPECT_EQ(report.totals.passed, 4);
  EXPECT_EQ(report.totals.skipped, 1);
  EXPECT_EQ(report.totals.rules, 6);  // drafts do not count
  EXPECT_EQ(report.totals.rules_passed, 3);
}

TEST(Judge, RunWithALieHasNoVerdict) {
  Stream stream = AllPass();
  stream.lie = "reading-is-stale";
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdict, Verdict::kNotJudged);
  EXPECT_EQ(ExitStatus(report.verdict), 2);
  EXPECT_THAT(report.reason, HasSubstr("the lie reading-is-stale was on"));
}

TEST(Judge, OneFailedMustRuleIsNotConformant) {
  const Report report = JudgeIt(WithResult(1, Result::kFail));
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
  EXPECT_EQ(ExitStatus(report.verdict), 1);
  EXPECT_THAT(report.reason, HasSubstr("AAA-001, AAA-002"));
}

TEST(Judge, ShouldRuleDoesNotDecide) {
  EXPECT_EQ(JudgeIt(WithResult(2, Result::kFail)).verdict, Verdict::kConformant);
}

TEST(Judge, DraftRuleIsReportedAndDoesNotDecide) {
  const Report report = JudgeIt(WithResult(4, Result::kFail));
  EXPECT_EQ(report.verdict, Verdict::kConformant);
  ASSERT_EQ(report.drafts.size(), 1u);
  EXPECT_EQ(report.drafts[0].rule.id, "BBB-002");
  EXPECT_EQ(report.drafts[0].result, RuleResult::kFailed);
  EXPECT_THAT(Summary(report), HasSubstr("  drafts, which decide nothing: 1 failed\n"));
  EXPECT_THAT(Summary(report), Not(HasSubstr("  failed: ")));
  EXPECT_THAT(Summary(JudgeIt(AllPass())), HasSubstr("  drafts, which decide nothing: 1 passed\n"));
}

TEST(Judge, DraftWithoutASelectedCaseIsNotReported) {
  Stream stream = AllPass();
  stream.selected.pop_back();
  stream.results.pop_back();
  const Report report = JudgeIt(stream);
  EXPECT_TRUE(report.drafts.empty());
  EXPECT_THAT(Summary(report), Not(HasSubstr("drafts")));
}

TEST(Judge, BrokenIsNotFailed) {
  const Report report = JudgeIt(WithResult(1, Result::kBroken));
  EXPECT_EQ(report.verdict, Verdict::kNotJudged);
  EXPECT_EQ(ExitStatus(report.verdict), 2);
  EXPECT_THAT(report.reason, HasSubstr("One.Too"));
}

TEST(Judge, MissingResultIsNoPass) {
  Stream stream = AllPass();
  stream.results.erase(stream.results.begin());
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdict, Verdict::kNotJudged);
  EXPECT_EQ(report.totals.lost, 1);
}

TEST(Judge, StreamWithoutEndIsLost) {
  Stream stream = AllPass();
  stream.ended = false;
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdict, Verdict::kNotJudged);
  EXPECT_THAT(report.reason, HasSubstr("lost"));
}

TEST(Judge, RuleWithoutCaseIsNotTested) {
  Stream stream = AllPass();
  stream.selected.erase(stream.selected.begin() + 1);
  stream.results.erase(stream.results.begin() + 1);
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdict, Verdict::kNotJudged);
  EXPECT_THAT(report.reason, HasSubstr("AAA-002"));
}

TEST(Judge, NothingSelectedIsNoPass) { EXPECT_EQ(JudgeIt(Ended({})).verdict, Verdict::kNotJudged); }

TEST(Judge, KernelProblemIsNotConformant) {
  Stream stream = AllPass();
  stream.problems.push_back("kernel log: WARNING: CPU: 0");
  EXPECT_EQ(JudgeIt(stream).verdict, Verdict::kNotConformant);
}

TEST(Judge, WorseOfTwoResultsCounts) {
  Stream stream = AllPass();
  stream.results.push_back({"One.Holds", Result::kCrash, 0.1, "panic", {}});
  EXPECT_EQ(JudgeIt(stream).cases.front().result, Result::kCrash);
}

TEST(Judge, PassedSelectionIsPartial) {
  Stream stream = Ended({{"One.Holds", Result::kPass}});
  stream.partial = true;
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdict, Verdict::kPartial);
  EXPECT_EQ(ExitStatus(report.verdict), 0);
  EXPECT_EQ(report.reason, "only selected tests ran, of the suite alone: 1 passed");
  ASSERT_EQ(report.rules.size(), 1u);
  EXPECT_EQ(report.rules[0].result, RuleResult::kPartial);  // One.Too tests the rule, too
}

TEST(Judge, SelectionWithAllCasesOfARulePassesTheRule) {
  Stream stream = Ended({{"One.Holds", Result::kPass}, {"One.Too", Result::kPass}});
  stream.partial = true;
  for (const RuleRow& row : JudgeIt(stream).rules) EXPECT_EQ(row.result, RuleResult::kPassed);
}

TEST(Judge, FailedOrSkippedSelectionIsNoPass) {
  Stream failed = Ended({{"Two.Should", Result::kFail}});
  failed.partial = true;
  EXPECT_EQ(JudgeIt(failed).verdict, Verdict::kNotConformant);
  Stream skipped = Ended({{"Two.Samples", Result::kSkip}});
  skipped.partial = true;
  EXPECT_EQ(JudgeIt(skipped).verdict, Verdict::kNotJudged);
  Stream broken = Ended({{"One.Holds", Result::kBroken}});
  broken.partial = true;
  EXPECT_EQ(JudgeIt(broken).verdict, Verdict::kNotJudged);
}

TEST(Judge, DeniedOrAbsentPmuIsNotJudged) {
  for (const SkipReason skip_reason :
       {SkipReason::kNotPermitted, SkipReason::kNoSuchPmu, SkipReason::kNotQuiet}) {
    Stream stream = Ended({{"One.Holds", Result::kPass}, {"One.Too", Result::kSkip}});
    stream.results[1].skip_reason = skip_reason;
    stream.results[1].message = "perf_event_open: EPERM";
    const Report report = JudgeIt(stream);
    EXPECT_EQ(report.verdict, Verdict::kNotJudged);
    EXPECT_THAT(report.reason, HasSubstr(std::string(Phrase(skip_reason))));
    EXPECT_THAT(report.reason, HasSubstr("perf_event_open: EPERM"));
    EXPECT_EQ(report.totals.skip_reasons.at(skip_reason), 1);
  }
}

TEST(Judge, UnclaimedFeatureDoesNotApply) {
  Stream stream = Ended({{"One.Holds", Result::kPass}, {"One.Too", Result::kSkip}});
  stream.results[1].skip_reason = SkipReason::kNotClaimed;
  EXPECT_EQ(JudgeIt(stream).verdict, Verdict::kConformant);
}

TEST(Judge, UnreadableKernelLogIsNoPass) {
  Stream stream = Ended({{"One.Holds", Result::kPass}, {"One.Too", Result::kPass}});
  stream.no_kernel_log = "the kernel log cannot be read here";
  EXPECT_EQ(JudgeIt(stream).verdict, Verdict::kNotJudged);
  EXPECT_EQ(JudgeIt(stream).reason, stream.no_kernel_log);
}

TEST(Judge, RejectsUnknownOrUnselectedCases) {
  EXPECT_THROW(JudgeIt(Ended({{"No.Such", Result::kPass}})), ConfigError);
  Stream stream = AllPass();
  stream.selected.pop_back();
  EXPECT_THROW(JudgeIt(stream), ConfigError);
  stream = AllPass();
  stream.target = "other";
  EXPECT_THROW(JudgeIt(stream), ConfigError);
}

TEST(Waivers, AcceptFailure) {
  const Report report = JudgeIt(WithResult(1, Result::kFail), {WaiverOf("One.Too")});
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(report.cases[1].result, Result::kWaived);
  ASSERT_TRUE(report.cases[1].waiver);
  EXPECT_EQ(report.cases[1].waiver->id, "WVR-001");
}

TEST(Waivers, AcceptOnlyStatedResults) {
  Waiver waiver = WaiverOf("One.Too");
  for (const Result result : {Result::kCrash, Result::kTimeout, Result::kBroken}) {
    EXPECT_EQ(JudgeIt(WithResult(1, result), {waiver}).cases[1].result, result);
  }
  waiver.results = {Result::kTimeout};
  EXPECT_EQ(JudgeIt(WithResult(1, Result::kTimeout), {waiver}).cases[1].result, Result::kWaived);
  EXPECT_EQ(JudgeIt(WithResult(1, Result::kFail), {waiver}).cases[1].result, Result::kFail);
}

TEST(Waivers, DoNotAcceptDeadGuest) {
  Waiver waiver = WaiverOf("One.Too");
  waiver.results = {Result::kCrash, Result::kTimeout};
  for (const Result result : waiver.results) {
    Stream stream = WithResult(1, result);
    stream.results[1].guest_lost = true;
    EXPECT_EQ(JudgeIt(stream, {waiver}).cases[1].result, result);
    EXPECT_EQ(JudgeIt(stream, {waiver}).verdict, Verdict::kNotConformant);
  }
}

TEST(Waivers, AcceptKernelReportsOfTheCase) {
  Stream stream = WithResult(1, Result::kCrash);
  stream.results[1].message = "oops\nWARNING: CPU: 0";
  stream.problems = {"kernel log: WARNING: CPU: 0"};
  Waiver waiver = WaiverOf("One.Too");
  waiver.results = {Result::kCrash};
  const Report report = JudgeIt(stream, {waiver});
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(report.cases[1].result, Result::kWaived);
  EXPECT_EQ(JudgeIt(stream).verdict, Verdict::kNotConformant);
  stream.problems.push_back("kernel log: WARNING: CPU: 1");
  EXPECT_EQ(JudgeIt(stream, {waiver}).verdict, Verdict::kNotConformant);
}

TEST(Waivers, CaseOfADraftMayPass) {
  Stream stream = AllPass();
  stream.drafted = true;
  const Report report = JudgeIt(stream, {WaiverOf("One.Too")});
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(report.cases[1].result, Result::kPass);
}

TEST(Waivers, UnexpectedPassFailsRun) {
  const Report report = JudgeIt(AllPass(), {WaiverOf("One.Too")});
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
  EXPECT_EQ(report.cases[1].result, Result::kUnexpectedPass);
}

TEST(Waivers, ExpiredWaiverFailsRun) {
  Waiver waiver = WaiverOf("One.Too");
  waiver.expires = "2026-11-21";
  const Stream failing = WithResult(1, Result::kFail);
  EXPECT_EQ(JudgeIt(failing, {waiver}).verdict, Verdict::kConformant);
  waiver.expires = "2026-11-20";
  const Report report = JudgeIt(failing, {waiver});
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
  EXPECT_EQ(report.cases[1].result, Result::kFail);
  EXPECT_THAT(report.problems.front(), HasSubstr("expired"));
}

TEST(Waivers, ApplyWithinScopeOnly) {
  Waiver other = WaiverOf("One.Too");
  other.targets = {"other"};
  Waiver older = WaiverOf("One.Too");
  older.kernels = "<6.12";
  Waiver elsewhere = WaiverOf("One.Too");
  elsewhere.arch = "aarch64";
  for (const Waiver& waiver : {other, older, elsewhere, WaiverOf("Two.*")}) {
    Stream stream = WithResult(1, Result::kFail);
    stream.selected.resize(2);
    stream.results.resize(2);
    EXPECT_EQ(JudgeIt(stream, {waiver}).cases[1].result, Result::kFail);
  }
}

TEST(Waivers, ReportNamesOwnerAndContact) {
  const Report report = JudgeIt(WithResult(1, Result::kFail), {WaiverOf("One.Too")});
  ASSERT_TRUE(report.cases[1].waiver);
  EXPECT_EQ(report.cases[1].waiver->text,
            "waiver WVR-001: known (https://example.org/1)\nowner: perf, list@example.org");
  for (const std::string& text : {Summary(report), ToKtap(report), ToJunit(report)}) {
    EXPECT_THAT(text, HasSubstr("owner: perf, list@example.org\n"));
  }
  Waiver expired = WaiverOf("One.Too");
  expired.expires = "2026-11-20";
  EXPECT_EQ(JudgeIt(AllPass(), {expired}).problems.front(),
            "waiver WVR-001 of perf (list@example.org) expired on 2026-11-20");
}

TEST(Waivers, RequireOwnerReasonLinkScopeAndExpiry) {
  const std::string good = R"([[waiver]]
id = "WVR-001"
owner = "perf"
reason = "known"
link = "https://example.org/1"
expires = "2026-12-31"
[waiver.scope]
case = "One.Too"
target = "toy"
)";
  ASSERT_EQ(ParseWaivers(good, "w.toml", kKnownOwners).size(), 1u);
  for (const std::string key : {"owner", "reason", "link", "expires", "case", "target"}) {
    std::string bad = good;
    const std::size_t at = bad.find(key + " =");
    bad.erase(at, bad.find('\n', at) + 1 - at);
    EXPECT_THROW(ParseWaivers(bad, "w.toml", kKnownOwners), ConfigError) << key;
  }
  std::string bad_date = good;
  bad_date.replace(bad_date.find("2026-12-31"), 10, "2026-13-31");
  EXPECT_THROW(ParseWaivers(bad_date, "w.toml", kKnownOwners), ConfigError);
  std::string several = good;
  several.replace(several.find("\"toy\""), 5, "[\"toy\", \"doll\"]");
  EXPECT_EQ(ParseWaivers(several, "w.toml", kKnownOwners).at(0).targets,
            (std::vector<std::string>{"toy", "doll"}));
  several.replace(several.find("[\"toy"), 15, "[]");
  EXPECT_THROW(ParseWaivers(several, "w.toml", kKnownOwners), ConfigError);
  EXPECT_EQ(ParseWaivers(good + "arch = \"aarch64\"\n", "w.toml", kKnownOwners).at(0).arch,
            "aarch64");
  EXPECT_THROW(ParseWaivers(good + "arch = \"arm64\"\n", "w.toml", kKnownOwners), ConfigError);
  EXPECT_EQ(ParseWaivers(good, "w.toml", kKnownOwners).at(0).results,
            std::vector<Result>{Result::kFail});
  EXPECT_EQ(
      ParseWaivers(good + "result = [\"CRASH\", \"FAIL\"]\n", "w.toml", kKnownOwners).at(0).results,
      (std::vector<Result>{Result::kCrash, Result::kFail}));
  for (const char* bad : {"\"BROKEN\"", "\"NOTHING\"", ""}) {
    EXPECT_THROW(ParseWaivers(good + "result = [" + bad + "]\n", "w.toml", kKnownOwners),
                 ConfigError)
        << bad;
  }
}

}  // namespace
}  // namespace pmuconf
