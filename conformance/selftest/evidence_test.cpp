// SPDX-License-Identifier: Apache-2.0
// `explain` prints the facts of evidence.json and of recorded runs, and reports which are missing.
#include "report/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "report/dimensions_of.h"
#include "report/explain.h"
#include "report/recorded.h"
#include "report/rule_pages.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr Rule kRules[] = {
    {.id = "CNT-998",
     .text = "The PMU MUST stop.",
     .why = "",
     .source = "",
     .applies = "true",
     .kernels = ">=6.1",
     .layer = "kunit"},
    {.id = "CNT-999",
     .level = Level::kShould,
     .text = "The PMU SHOULD count.",
     .why = "A tool reads it.",
     .source = "linux:a.c#f; man:m(2)#W",
     .applies = "sampling",
     .kernels = ">=6.1",
     .layer = "case, kunit"},
};
constexpr const Rule& kRule = kRules[1];

constexpr const char* kNone = R"({"results": "", "tests": [], "untested": [], "faults": [],
  "exempt": [], "findings": [], "subjects": []})";

// Every kind of fact about CNT-999.
constexpr const char* kAll = R"({
  "results": "runs",
  "tests": [
    {"rule": "CNT-999", "layer": "kunit", "name": "suite.counts", "file": "kunit/a.c"},
    {"rule": "CNT-999", "layer": "vm", "name": "test_counts", "file": "vm/tests/a_test.py"},
    {"rule": "CNT-998", "layer": "vm", "name": "test_other", "file": "vm/tests/b_test.py"}],
  "untested": [],
  "faults": [
    {"kind": "driver", "id": "C01", "text": "It counts twice.", "file": "faults/driver/C01-a.patch",
     "rules": ["CNT-999"], "cases": [], "target": "refpmu", "kernels": [], "observers": ["suite"]},
    {"kind": "driver", "id": "C02", "text": "It stops.", "file": "faults/driver/C02-b.patch",
     "rules": ["CNT-999"], "cases": [], "target": "refpmu", "kernels": ["6.12"],
     "observers": ["kunit"]},
    {"kind": "target", "id": "too-few", "text": "A claim.", "file": "t.py", "rules": [],
     "cases": ["Counting.Counts"], "target": "refpmu", "kernels": [], "observers": []},
    {"kind": "driver", "id": "C03", "text": "Of another rule.", "file": "c", "rules": ["CNT-998"],
     "cases": [], "target": "refpmu", "kernels": [], "observers": []}],
  "exempt": [{"rule": "CNT-998", "reason": "perf does it."}],
  "findings": [{"title": "A PMU drifts", "section": "Intel", "link": "docs/findings.md#a-pmu-drifts",
                "rules": ["CNT-999"]}],
  "subjects": [{"rule": "CNT-999", "subject": "driver"}]})";

constexpr const char* kJudged = R"({"runs": [
  {"observer": "cases", "target": "refpmu", "kernel": "6.1", "arch": "x86_64", "when": "2026-01-01",
   "rules": {"CNT-999": "PASSED"}},
  {"observer": "cases", "target": "refpmu", "kernel": "6.12", "arch": "x86_64", "when": "2026-01-02",
   "rules": {"CNT-999": "PASSED", "CNT-998": "PASSED"}},
  {"observer": "kunit", "target": "refpmu", "kernel": "6.12", "arch": "x86_64", "when": "2026-01-02",
   "rules": {"CNT-999": "PASSED"}},
  {"observer": "cases", "target": "board", "kernel": "6.12", "arch": "aarch64", "when": "2026-01-03",
   "rules": {"CNT-999": "FAILED"},
   "bad": [{"case": "Counting.Counts", "result": "FAIL", "message": "7, not 8", "rules": []}]}]})";

constexpr const char* kSeenFaults = R"({"CNT-999": [
  {"kind": "driver", "id": "C01", "observer": "suite", "test": "Counting.Counts", "kernel": "6.1"},
  {"kind": "driver", "id": "C01", "observer": "kunit", "test": "suite.counts", "kernel": "6.12"}]})";

class EvidenceFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ + "/runs"); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Evidence Read(const std::string& text) const {
    Write("evidence.json", text);
    return ReadEvidence(path_);
  }
  FactSources Sources(const std::string& text) const {
    FactSources sources;
    sources.rules = kRules;
    sources.cases = {{.id = "Counting.Counts",
                      .file = "conformance/cases/a_test.cpp",
                      .line = 7,
                      .rules = {"CNT-999"},
                      .needs = {"sampling"},
                      .timing = "a clock",
                      .dimensions = {"cpu: 0, 1"}}};
    sources.profiles = {
        {.name = "counting-1.0", .text = "", .rules = {kRules[0], kRules[1]}, .drafts = {}},
        {.name = "stop-1.0", .text = "", .rules = {kRules[0]}, .drafts = {}}};
    sources.waivers = {{.id = "BOARD-1",
                        .owner = "",
                        .reason = "it drifts",
                        .link = "",
                        .expires = "2099-01-01",
                        .cases = {"Counting.*"},
                        .targets = {"board"},
                        .kernels = ">=6.1",
                        .arch = "aarch64",
                        .results = {Result::kFail},
                        .contact = ""}};
    sources.evidence = Read(text);
    sources.recorded = ReadRecorded(sources.evidence.results);
    return sources;
  }
  std::string Explained(const std::string& text) const {
    return ExplainRule(RuleFacts(kRule, Sources(text)), false);
  }
  std::string Summary(const std::string& text) const {
    return RuleFacts(kRule, Sources(text))["proof"]["summary"];
  }
  std::string ErrorOf(const std::string& text) const {
    try {
      Read(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
  // Returns kNone with another value of a key.
  static std::string With(const std::string& key, const std::string& value) {
    json file = json::parse(kNone);
    file[key] = json::parse(value);
    return file.dump();
  }

  const std::string folder_ = testing::TempDir() + "pmuconf-evidence-test";
  const std::string path_ = folder_ + "/evidence.json";
};

TEST_F(EvidenceFile, RuleIsExplainedWithAllItsEvidence) {
  Write("runs/judged.json", kJudged);
  Write("runs/faults/rules.json", kSeenFaults);
  EXPECT_EQ(Explained(kAll),
            R"(CNT-999  SHOULD, active, subject: driver
  The PMU SHOULD count.
why:      A tool reads it.
source:   linux:a.c#f; man:m(2)#W
applies:  sampling
kernels:  >=6.1
layer:    case, kunit
profiles: counting-1.0
case:     Counting.Counts  conformance/cases/a_test.cpp:7
over:     cpu: 0, 1
KUnit:    suite.counts  kunit/a.c
pytest:   test_counts  vm/tests/a_test.py
can fail: failed by 1 driver fault (C01)
fault:    C01 on refpmu: It counts twice.  (seen: Counting.Counts on 6.1; KUnit suite.counts on 6.12)
fault:    C02 on refpmu, 6.12: It stops.  (claimed)
fault:    too-few on refpmu: A claim.  (claimed)
judged:   PASSED on KUnit (6.12); refpmu (6.1, 6.12)
judged:   FAILED on board aarch64 (6.12)
finding:  A PMU drifts  docs/findings.md#a-pmu-drifts
waiver:   BOARD-1 for Counting.Counts on board, aarch64, kernels >=6.1: it drifts
)");
}

TEST_F(EvidenceFile, CaseIsExplainedWithItsRulesAndFailures) {
  Write("runs/judged.json", kJudged);
  Write("runs/faults/rules.json", kSeenFaults);
  const FactSources sources = Sources(kAll);
  EXPECT_EQ(ExplainTest(TestFacts("Counting.Counts", sources), false),
            R"(Counting.Counts  case
file:     conformance/cases/a_test.cpp:7
rule:     CNT-999 SHOULD  The PMU SHOULD count.
needs:    sampling
timing:   a clock
over:     cpu: 0, 1
fault:    C01 on refpmu: It counts twice.  (seen: Counting.Counts on 6.1)
fault:    too-few on refpmu: A claim.  (claimed)
failed:   FAIL on board, 6.12 aarch64, 2026-01-03: 7, not 8
waiver:   BOARD-1 for Counting.Counts on board, aarch64, kernels >=6.1: it drifts
)");
  EXPECT_TRUE(TestFacts("Counting.Nothing", sources).is_null());
}

TEST_F(EvidenceFile, KunitTestIsExplainedWithItsRules) {
  const std::string text = ExplainTest(TestFacts("suite.counts", Sources(kAll)), false);
  EXPECT_THAT(text,
              StartsWith("suite.counts  KUnit\nfile:     kunit/a.c\nrule:     CNT-999 SHOULD"));
  EXPECT_THAT(text,
              HasSubstr("can fail: no fault was recorded that failed it; these name its rules: "
                        "C01, C02\n"));
}

TEST_F(EvidenceFile, SummaryPrefersSeenFaultsToClaims) {
  EXPECT_EQ(Summary(kAll),
            "failed by 2 driver faults (C01, C02) and 1 target fault (too-few); claimed, no result "
            "is recorded");
  Write("runs/faults/rules.json", kSeenFaults);
  EXPECT_EQ(Summary(kAll), "failed by 1 driver fault (C01)");
}

TEST_F(EvidenceFile, ClaimThatNoResultConfirmsIsNoProof) {
  Write("runs/faults/rules.json", R"({"CNT-998": [{"kind": "driver", "id": "C01"}]})");
  const std::string fault =
      R"([{"kind": "driver", "id": "C01", "text": "", "file": "", "rules": ["CNT-999"],
           "cases": [], "target": "", "kernels": [], "observers": []}])";
  json file = json::parse(kNone);
  file["faults"] = json::parse(fault);
  file["results"] = "runs";
  EXPECT_EQ(Summary(file.dump()), "nothing was seen to fail it; claimed by 1 driver fault (C01)");
}

TEST_F(EvidenceFile, FaultsOfSeveralRunsAreUnitedWithoutRepetition) {
  Write("runs/faults/rules.json", kSeenFaults);
  Write("runs/check/faults-sample/rules.json", R"({"CNT-999": [
    {"kind": "driver", "id": "C01", "observer": "suite", "test": "Counting.Counts", "kernel": "6.1"},
    {"kind": "driver", "id": "C02", "observer": "fuzz", "test": "period", "kernel": ""}]})");
  EXPECT_EQ(Summary(kAll), "failed by 2 driver faults (C01, C02)");
  const auto faults = RuleFacts(kRule, Sources(kAll))["faults"];
  EXPECT_EQ(faults[0]["seen"].size(), 2U);
  EXPECT_THAT(Explained(kAll), HasSubstr("It stops.  (seen: fuzz period)\n"));
}

TEST(DimensionsOf, EachDimensionIsNamedWithItsValues) {
  struct Value {
    std::string name;
  };
  struct Dimension {
    std::string name;
    std::vector<Value> values;
  };
  struct Meta {
    std::vector<Dimension> over;
  };
  const Meta meta{{{"member", {{"alone"}, {"last"}}}, {"cpu", {{"0"}}}}};
  EXPECT_THAT(DimensionsOf(meta), ElementsAre("member: alone, last", "cpu: 0"));
  EXPECT_THAT(DimensionsOf(0), testing::IsEmpty());
}

TEST_F(EvidenceFile, FaultsOfEachKindAreCounted) {
  Write("runs/faults/rules.json", kSeenFaults);
  Write("runs/check/answers/rules.json",
        R"({"CNT-999": [{"kind": "answer", "id": "count-is-high"}]})");
  EXPECT_EQ(Summary(kAll), "failed by 1 driver fault (C01) and 1 answer fault (count-is-high)");
}

TEST_F(EvidenceFile, ReasonExplainsWhyNothingFailsIt) {
  EXPECT_EQ(Summary(With("exempt", R"([{"rule": "CNT-999", "reason": "perf does it."}])")),
            "nothing was seen to fail it: perf does it.");
  EXPECT_EQ(Summary(kNone), "nothing was seen to fail it");
}

TEST_F(EvidenceFile, UnprovenRulesAreThoseWithoutFaultAndReason) {
  EXPECT_EQ(ExplainUnproven(Sources(With("exempt", R"([{"rule": "CNT-998", "reason": "x"}])"))),
            "CNT-999  SHOULD  nothing was seen to fail it\n"
            "1 of 2 active rules: nothing was seen to fail them, and no reason is given\n");
  EXPECT_THAT(ExplainUnproven(Sources(kAll)), StartsWith("0 of 2 active rules"));
}

TEST_F(EvidenceFile, ColourIsUsedOnlyOnRequest) {
  const auto facts = RuleFacts(kRule, Sources(kAll));
  EXPECT_THAT(ExplainRule(facts, true), StartsWith("\x1b[1mCNT-999\x1b[0m  SHOULD"));
  EXPECT_THAT(ExplainRule(facts, false), Not(HasSubstr("\x1b")));
}

TEST_F(EvidenceFile, ReasonOfAnUntestedRuleIsPrinted) {
  const auto facts = [&](const std::string& text) {
    FactSources sources = Sources(text);
    sources.recorded.has_judged = true;
    sources.cases.clear();
    return ExplainRule(RuleFacts(kRule, sources), false);
  };
  EXPECT_THAT(facts(With("untested", R"([{"rule": "CNT-999", "reason": "needs two sockets"}])")),
              HasSubstr("untested: needs two sockets\n"));
  EXPECT_THAT(facts(kNone), HasSubstr("untested: no reason is given\n"));
  EXPECT_THAT(facts(kAll), Not(HasSubstr("untested")));
}

TEST_F(EvidenceFile, AbsentFilesAreReported) {
  EXPECT_THAT(Explained(kAll), EndsWith("missing:  no run is recorded in " + folder_ +
                                        "/runs/judged.json: make check and make matrix write "
                                        "it\n"));
  FactSources sources = Sources(kAll);
  sources.evidence = Evidence();
  EXPECT_THAT(ExplainRule(RuleFacts(kRule, sources), false),
              EndsWith("missing:  there is no evidence.json next to the program: other tests, "
                       "faults, findings and results of runs are not listed\n"));
}

TEST_F(EvidenceFile, PagesHaveASectionAndARowForEachRule) {
  Write("runs/judged.json", kJudged);
  const auto pages = AreaPages(Sources(kAll));
  ASSERT_THAT(pages, testing::SizeIs(2));
  EXPECT_THAT(pages.at("CNT.md"), HasSubstr("\n## CNT-999\n\n**SHOULD** The PMU SHOULD count.\n"));
  EXPECT_THAT(pages.at("CNT.md"),
              HasSubstr("\n  - driver fault [C01](../../faults/driver/C01-a.patch) on refpmu: It "
                        "counts twice. (claimed)\n"));
  EXPECT_THAT(pages.at("README.md"),
              HasSubstr("| [CNT-999](CNT.md#cnt-999) | SHOULD | driver | 1 case, 1 KUnit, 1 pytest "
                        "| 2 driver faults, 1 target fault (claimed) | 3 passed, 1 failed |\n"));
  EXPECT_THAT(pages.at("README.md"), HasSubstr("| [CNT-998](CNT.md#cnt-998) | MUST |  | 1 pytest | "
                                               "1 driver fault (claimed) | 1 passed |\n"));
}

TEST_F(EvidenceFile, InvalidFileIsAnErrorWithItsPath) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr(path_));
  EXPECT_THAT(ErrorOf(R"({"tests": [], "faults": [], "findings": [], "subjects": []})"),
              HasSubstr("untested"));
  EXPECT_THAT(ErrorOf(With("tests", R"([{"rule": 1}])")), HasSubstr(path_));
  std::filesystem::remove(path_);
  EXPECT_THROW(ReadEvidence(path_), ConfigError);
}

TEST_F(EvidenceFile, InvalidResultsAreAnErrorWithTheirPath) {
  for (const auto& [name, text] :
       {std::pair("judged.json", R"({"runs": [{"target": "x"}]})"),
        std::pair("faults/rules.json", R"({"CNT-999": [{"kernel": "6.1"}]})"),
        std::pair("check/x/rules.json", R"({"CNT-999": [{"id": "C01"}]})")}) {
    Write(std::string("runs/") + name, text);
    try {
      ReadRecorded(folder_ + "/runs");
      ADD_FAILURE() << name << " was accepted";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
    std::filesystem::remove(folder_ + "/runs/" + name);
  }
  EXPECT_FALSE(ReadRecorded(folder_ + "/runs").has_judged);
}

}  // namespace
}  // namespace pmuconf
