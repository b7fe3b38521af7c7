// SPDX-License-Identifier: Apache-2.0
// Results of other layers: their files, the joined result of a rule, and the joined verdict.
#include "report/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/formats.h"
#include "report/joined.h"
#include "selftest/toy_suite.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Rule RuleOf(std::string_view id, std::string_view layer, Level level = Level::kMust) {
  return {.id = id,
          .level = level,
          .text = "t",
          .why = "w",
          .source = "s",
          .applies = "true",
          .kernels = ">=6.1",
          .layer = layer};
}

const std::vector<Rule> kLayered = {RuleOf("AAA-001", "case"),
                                    RuleOf("AAA-002", "case, kunit"),
                                    RuleOf("AAA-003", "kunit"),
                                    RuleOf("AAA-004", "vm"),
                                    RuleOf("AAA-005", "fuzz", Level::kShould),
                                    RuleOf("CNT-003", "review")};
const std::vector<KnownCase> kCases = {{"One.Both", {"AAA-001", "AAA-002"}}};

Target Toy(const std::string& module = "toy") {
  return Target::Parse("[target]\nname = 'toy'\nmatch = 'toy*'\nkind = 'core'\n[vm]\nmodule = '" +
                           module +
                           "'\n[counters]\ngeneral = 2\nwidth = 48\n"
                           "[[event]]\nname = 'a'\ncounters = 'all'\naccuracy = 'exact'\n",
                       "toy.toml");
}

Stream Ran(Result result = Result::kPass) {
  Stream stream;
  stream.target = "toy";
  stream.kernel = "6.12";
  stream.release = "6.12.117+deb12-cloud-amd64";
  stream.arch = "x86_64";
  stream.ended = true;
  stream.selected = {"One.Both"};
  stream.results = {{"One.Both", result, 0.1, "", {}}};
  return stream;
}

LayerResults Layer(const std::string& layer,
                   const std::vector<std::pair<std::string, Result>>& rules) {
  LayerResults results;
  results.layer = layer;
  results.path = layer + ".json";
  for (const auto& [rule, result] : rules)
    results.cases.push_back({"suite.tests_" + rule, result, 0, "", {rule}});
  return results;
}

LayerResults Kunit(Result both = Result::kPass, Result alone = Result::kPass) {
  return Layer("kunit", {{"AAA-002", both}, {"AAA-003", alone}});
}

Report JudgeIt(std::vector<LayerResults> layers, const Stream& stream = Ran()) {
  return Judge(stream, Toy(), WholeCatalogue(kLayered), kCases, {}, "2026-11-21",
               std::move(layers));
}

RuleResult ResultOf(const Report& report, std::string_view id) {
  for (const RuleRow& row : report.rules) {
    if (row.rule.id == id) return row.result;
  }
  ADD_FAILURE() << id;
  return RuleResult::kNotTested;
}

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string LastLine(std::string text) {
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(JoinAnswers, FailureOfALayerFailsTheRule) {
  using enum RuleResult;
  EXPECT_EQ(JoinAnswers({{"suite", kPassed}, {"kunit", kFailed}}), kFailed);
  EXPECT_EQ(JoinAnswers({{"kunit", kPassed}, {"watch", kFailed}}), kFailed);
  EXPECT_EQ(JoinAnswers({{"suite", kIncomplete}, {"kunit", kFailed}}), kFailed);
}

TEST(JoinAnswers, PassNeedsEachLayerThatRan) {
  using enum RuleResult;
  EXPECT_EQ(JoinAnswers({{"suite", kPassed}, {"kunit", kPassed}}), kPassed);
  EXPECT_EQ(JoinAnswers({{"suite", kPassed}, {"kunit", kNotRun}}), kPassed);
  EXPECT_EQ(JoinAnswers({{"suite", kPassed}, {"kunit", kPartial}}), kPartial);
  EXPECT_EQ(JoinAnswers({{"suite", kPassed}, {"kunit", kNotTested}}), kIncomplete);
  EXPECT_EQ(JoinAnswers({{"suite", kIncomplete}, {"kunit", kPassed}}), kIncomplete);
  EXPECT_EQ(JoinAnswers({{"suite", kNotTested}, {"kunit", kNotRun}}), kNotTested);
  EXPECT_EQ(JoinAnswers({{"suite", kWaived}, {"kunit", kPassed}}), kWaived);
  EXPECT_EQ(JoinAnswers({{"suite", kNotApplicable}, {"kunit", kPassed}}), kPassed);
  EXPECT_EQ(JoinAnswers({{"suite", kNotApplicable}, {"kunit", kNotRun}}), kNotApplicable);
  EXPECT_EQ(JoinAnswers({{"kunit", kNotRun}}), kNotRun);
  EXPECT_EQ(JoinAnswers({}), kReview);
}

TEST(JoinAnswers, WatchAlonePassesARuleInPart) {
  using enum RuleResult;
  EXPECT_EQ(JoinAnswers({{"kunit", kNotRun}, {"watch", kPassed}}), kPartial);
  EXPECT_EQ(JoinAnswers({{"kunit", kPassed}, {"watch", kPassed}}), kPassed);
}

TEST(JoinAnswers, SourceAlonePassesARuleInPart) {
  using enum RuleResult;
  EXPECT_EQ(JoinAnswers({{"kunit", kNotRun}, {"source", kPassed}}), kPartial);
  EXPECT_EQ(JoinAnswers({{"kunit", kNotRun}, {"watch", kPassed}, {"source", kPassed}}), kPartial);
  EXPECT_EQ(JoinAnswers({{"kunit", kPassed}, {"source", kPassed}}), kPassed);
  EXPECT_EQ(JoinAnswers({{"kunit", kPassed}, {"source", kFailed}}), kFailed);
}

TEST(Layers, SuiteAloneIsNamedAndOtherLayersAreNotRun) {
  const Report report = JudgeIt({});
  EXPECT_EQ(report.verdict, Verdict::kConformant);
  EXPECT_EQ(ResultOf(report, "AAA-002"), RuleResult::kPassed);
  EXPECT_EQ(ResultOf(report, "AAA-003"), RuleResult::kNotRun);
  EXPECT_EQ(ResultOf(report, "CNT-003"), RuleResult::kReview);
  const std::string summary = Summary(report);
  EXPECT_EQ(LastLine(summary),
            "driver: CONFORMANT: 2 MUST rules passed, judged by the suite alone; not run: KUnit: 1 "
            "MUST rule, "
            "vm: 1 MUST rule; not testable by a program: 1 MUST rule");
  EXPECT_THAT(summary, HasSubstr("  rules 6: 3 not run, 2 passed, 1 review\n"
                                 "  rules judged: 2 by the suite\n"
                                 "  not run: KUnit: 1 rule, vm: 1 rule, fuzz: 1 rule\n"
                                 "  not run, but judged by other layers: KUnit: 1 rule\n"
                                 "  not testable by a program: 1, reasons in "
                                 "conformance/untested.toml and results.json\n"));
}

TEST(Layers, JoinedVerdictCountsTheRulesOfEachLayer) {
  const Report report = JudgeIt({Kunit(), Layer("watch", {{"AAA-003", Result::kPass}})});
  EXPECT_EQ(LastLine(Summary(report)),
            "driver: CONFORMANT: 3 MUST rules passed (judged: 2 by the suite, 2 by KUnit, 1 by "
            "watch); not "
            "run: vm: 1 MUST rule; not testable by a program: 1 MUST rule");
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["scope"], "the suite, KUnit and watch");
  EXPECT_EQ(json["judged"], (nlohmann::json{{"suite", 2}, {"kunit", 2}, {"watch", 1}}));
  EXPECT_EQ(json["not_run"], (nlohmann::json{{"vm", 1}, {"fuzz", 1}}));
  EXPECT_EQ(json["rules"][1]["layers"], (nlohmann::json{{"suite", "PASSED"}, {"kunit", "PASSED"}}));
  EXPECT_THAT(json["rules"][5]["reason"].get<std::string>(), HasSubstr("micro-architecture"));
  EXPECT_EQ(json["layers"][0]["cases"][0]["id"], "suite.tests_AAA-002");
}

TEST(Layers, RuleWhoseCasesTheKernelLacksNeedsItsOtherLayer) {
  Stream stream = Ran(Result::kSkip);
  stream.results[0].skip_reason = SkipReason::kKernelLacks;
  EXPECT_EQ(ResultOf(JudgeIt({}, stream), "AAA-001"), RuleResult::kNotApplicable);
  EXPECT_EQ(ResultOf(JudgeIt({}, stream), "AAA-002"), RuleResult::kNotRun);
  EXPECT_EQ(ResultOf(JudgeIt({Kunit()}, stream), "AAA-002"), RuleResult::kPassed);
  stream.results[0].skip_reason = SkipReason::kNotClaimed;
  EXPECT_EQ(ResultOf(JudgeIt({}, stream), "AAA-002"), RuleResult::kNotApplicable);
}

TEST(Layers, WatchWithoutKunitJudgesInPart) {
  const Report report = JudgeIt({Layer("watch", {{"AAA-003", Result::kPass}})});
  EXPECT_EQ(ResultOf(report, "AAA-003"), RuleResult::kPartial);
  EXPECT_EQ(LastLine(Summary(report)),
            "driver: CONFORMANT: 2 MUST rules passed (judged: 2 by the suite, 1 by watch); only in "
            "part: 1 "
            "MUST rule; not run: vm: 1 MUST rule; not testable by a program: 1 MUST rule");
}

TEST(Layers, FailureNamesItsLayerInEveryReport) {
  const Report report = JudgeIt({Kunit(Result::kPass, Result::kFail)});
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
  EXPECT_EQ(report.reason, "failed: AAA-003 (KUnit)");
  EXPECT_THAT(Summary(report), HasSubstr("FAIL  kunit suite.tests_AAA-003\n"));
  EXPECT_THAT(ToKtap(report), HasSubstr("not ok 3 kunit:suite.tests_AAA-003\n"
                                        "# driver: NOT CONFORMANT: failed: AAA-003 (KUnit)\n"
                                        "# NOT_CONFORMANT: failed: AAA-003 (KUnit)\n"));
  EXPECT_THAT(ToKtap(report), HasSubstr("KTAP version 1\n1..3\n"));
  EXPECT_THAT(ToJunit(report),
              HasSubstr("<testsuite name=\"pmuconf.toy.kunit\" tests=\"2\" failures=\"1\" "
                        "errors=\"0\" skipped=\"0\">"));
  EXPECT_THAT(ToJunit(report), HasSubstr("value=\"failed: AAA-003 (KUnit)\""));
  EXPECT_EQ(JudgeIt({Kunit(Result::kFail)}).reason, "failed: AAA-002 (KUnit)");
  EXPECT_EQ(JudgeIt({Kunit(Result::kFail)}, Ran(Result::kFail)).reason, "failed: AAA-001, AAA-002");
}

TEST(Layers, FailedTestWithoutARuleIsAProblem) {
  LayerResults kunit = Kunit();
  kunit.cases.push_back({"suite.odd", Result::kFail, 0, "", {}});
  const Report report = JudgeIt({kunit});
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
  EXPECT_EQ(report.reason, "KUnit: failed: suite.odd");
}

TEST(Layers, KernelReportOfALayerIsAProblem) {
  LayerResults kunit = Kunit();
  kunit.problems = {"WARNING: a.c:1"};
  EXPECT_EQ(JudgeIt({kunit}).reason, "KUnit: WARNING: a.c:1");
  EXPECT_EQ(JudgeIt({kunit}).verdict, Verdict::kNotConformant);
  kunit.judged = false;
  EXPECT_EQ(JudgeIt({kunit}).reason, "KUnit: WARNING: a.c:1");
  EXPECT_EQ(JudgeIt({kunit}).verdict, Verdict::kNotJudged);
}

TEST(Layers, FileWithoutTestsIsNotJudged) {
  EXPECT_EQ(JudgeIt({Layer("kunit", {})}).verdict, Verdict::kNotJudged);
  EXPECT_EQ(JudgeIt({Layer("kunit", {})}).reason, "KUnit: its file has no test");
}

TEST(Layers, SelectedTestsOfALayerMakeThePartialVerdict) {
  LayerResults kunit = Kunit();
  kunit.selected = "refpmu_*";
  const Report report = JudgeIt({kunit});
  EXPECT_EQ(report.verdict, Verdict::kPartial);
  EXPECT_EQ(report.reason, "only selected tests ran, of the suite and KUnit: 3 passed");
  EXPECT_EQ(ResultOf(report, "AAA-002"), RuleResult::kPartial);
}

TEST(Layers, SelectionOfTheSuiteHasTheRulesOfTheLayersToo) {
  Stream stream = Ran();
  stream.partial = true;
  const Report report = JudgeIt({Kunit()}, stream);
  EXPECT_EQ(report.rules.size(), 3u);
  EXPECT_EQ(ResultOf(report, "AAA-003"), RuleResult::kPassed);
}

TEST(Layers, FilesOfOtherSubjectsAreRefused) {
  const auto error = [](auto change) {
    LayerResults kunit = Kunit();
    change(&kunit);
    return ErrorOf([&] { JudgeIt({kunit}); });
  };
  EXPECT_EQ(error([](LayerResults* k) { k->release = "6.12.117"; }), "no error");
  EXPECT_EQ(error([](LayerResults* k) { k->release = "6.12.11"; }),
            "kunit.json: release '6.12.11' of KUnit differs from '6.12.117+deb12-cloud-amd64' of "
            "the run");
  EXPECT_EQ(error([](LayerResults* k) { k->arch = "aarch64"; }),
            "kunit.json: arch 'aarch64' of KUnit differs from 'x86_64' of the run");
  EXPECT_EQ(error([](LayerResults* k) { k->target = "doll"; }),
            "kunit.json: target 'doll' of KUnit differs from 'toy' of the run");
  EXPECT_EQ(error([](LayerResults* k) { k->driver = "toy"; }), "no error");
  EXPECT_EQ(error([](LayerResults* k) { k->driver = "refpmu"; }),
            "kunit.json: driver 'refpmu' of KUnit differs from 'toy' of the run");
  EXPECT_EQ(error([](LayerResults* k) { k->pmu = "toy_1"; }), "no error");
  EXPECT_EQ(error([](LayerResults* k) { k->pmu = "cpu"; }),
            "kunit.json: pmu 'cpu' of KUnit differs from 'toy*' of the run");
  EXPECT_EQ(error([](LayerResults* k) { k->cases[0].rules = {"NOS-001"}; }),
            "the file of the layer kunit names unknown rule 'NOS-001'");
  EXPECT_EQ(ErrorOf([] {
              JudgeIt({Kunit(), Kunit()});
            }),
            "kunit.json: a second file of the layer kunit");
  LayerResults watch = Layer("watch", {{"AAA-003", Result::kPass}});
  LayerResults kunit = Kunit();
  std::tie(kunit.pmu, watch.pmu) = std::pair("toy_1", "toy_2");
  EXPECT_EQ(ErrorOf([&] {
              JudgeIt({kunit, watch});
            }),
            "watch.json: pmu 'toy_2' of watch differs from 'toy_1' of the run");
}

TEST(Layers, FileHasItsFactsAndTests) {
  const LayerResults layer = ParseLayer(
      "kunit",
      R"({"layer": "kunit", "release": "6.12.1", "arch": "x86_64", "driver": "toy", "pmu": "",
          "verdict": "NOT_JUDGED", "selected": "a.*", "problems": ["x"],
          "cases": [{"id": "a.b", "result": "SKIP", "message": "m", "rules": ["AAA-001"]}]})",
      "k");
  EXPECT_EQ(layer.release, "6.12.1");
  EXPECT_EQ(layer.driver, "toy");
  EXPECT_EQ(layer.selected, "a.*");
  EXPECT_FALSE(layer.judged);
  ASSERT_EQ(layer.cases.size(), 1u);
  EXPECT_EQ(layer.cases[0].result, Result::kSkip);
  EXPECT_THAT(layer.cases[0].rules, ElementsAre("AAA-001"));
}

TEST(Layers, InvalidFileOrOptionIsAOneLineError) {
  const auto error = [](const std::string& text) {
    return ErrorOf([&] { ParseLayer("kunit", text, "k"); });
  };
  EXPECT_EQ(error("junk"), "k: is not a JSON object");
  EXPECT_EQ(error(R"({"layer": "vm", "cases": []})"), "k: is a file of the layer vm");
  EXPECT_THAT(error(R"({"layer": "kunit"})"), HasSubstr("k: "));
  EXPECT_THAT(error(R"({"layer": "kunit"})"), HasSubstr("'cases'"));
  EXPECT_EQ(error(R"({"layer": "kunit", "cases": [{"id": "a", "result": "F\nE", "rules": []}]})"),
            "k: unknown result 'F?E' of a");
  for (const char* option : {"kunit", "suite=x", "doc=x", "=x", ""}) {
    EXPECT_EQ(ErrorOf([&] { LoadLayer(option); }),
              "--layer '" + std::string(option) +
                  "': must be LAYER=FILE, with the layer kunit, watch, vm, fuzz or source");
  }
  EXPECT_EQ(ErrorOf([] { LoadLayer("kunit=/no/such"); }), "/no/such: cannot be read");
}

TEST(Layers, VerdictNeverMeansMoreThanWasRun) {
  for (const Report& report : {JudgeIt({}), JudgeIt({Kunit()})}) {
    EXPECT_THAT(report.reason, Not(HasSubstr("all ")));
    EXPECT_THAT(report.reason, Not(HasSubstr("every ")));
  }
}

}  // namespace
}  // namespace pmuconf
