// SPDX-License-Identifier: Apache-2.0
// The driver, the perf core and the architecture have verdicts of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/decide.h"
#include "report/formats.h"
#include "report/verdict.h"
#include "selftest/toy_suite.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Not;

// Rules of the catalogue, because a report names the subjects of other rules by their ids.
const Rule& Of(RuleSubject subject) {
  static const auto find = [](RuleSubject wanted) -> const Rule& {
    return *std::ranges::find_if(AllRules(), [wanted](const Rule& rule) {
      return rule.subject == wanted && rule.level == Level::kMust && rule.applies == "true" &&
             rule.status == RuleStatus::kActive && rule.layer == "case" && rule.kernels == ">=6.1";
    });
  };
  static const Rule& driver = find(RuleSubject::kDriver);
  static const Rule& core = find(RuleSubject::kPerfCore);
  return subject == RuleSubject::kDriver ? driver : core;
}

std::string Id(RuleSubject subject) { return std::string(Of(subject).id); }

constexpr auto kDriver = RuleSubject::kDriver;
constexpr auto kCore = RuleSubject::kPerfCore;

Target Toy(const std::string& kind) {
  const std::string head = "[target]\nname = \"toy\"\nmatch = \"toy\"\nkind = \"" + kind + "\"\n";
  if (kind == "software")
    return Target::Parse(head + "[[event]]\nname = \"page-faults\"\naccuracy = \"exact\"\n",
                         "t.toml");
  return Target::Parse(head +
                           "[counters]\ngeneral = 4\nwidth = 48\n"
                           "[[event]]\nname = \"a\"\ncounters = \"0-3\"\naccuracy = \"exact\"\n",
                       "t.toml");
}

const std::vector<KnownCase> kCases = {
    {"A.Driver", {Id(kDriver)}}, {"A.Core", {Id(kCore)}}, {"A.Both", {Id(kDriver), Id(kCore)}}};

Stream StreamOf(std::map<std::string, Result> results) {
  Stream stream;
  stream.target = "toy";
  stream.kernel = stream.release = "6.12.1";
  stream.ended = true;
  for (const KnownCase& known : kCases) {
    stream.selected.push_back(known.id);
    stream.results.push_back({known.id, results.try_emplace(known.id, Result::kPass).first->second,
                              0.1, "", known.rules});
  }
  return stream;
}

Report JudgeIt(const Stream& stream, const std::string& kind = "core",
               Scope scope = Scope::kTarget) {
  const Rule rules[] = {Of(kDriver), Of(kCore)};
  return Judge(stream, Toy(kind), WholeCatalogue(rules), kCases, {}, "2026-11-21", {}, scope);
}

TEST(SubjectVerdict, FailureOfTheCoreIsNotTheDrivers) {
  const Report report = JudgeIt(StreamOf({{"A.Core", Result::kFail}}));
  ASSERT_EQ(report.verdicts.size(), 2U);
  EXPECT_EQ(report.verdicts[0].subject, kDriver);
  EXPECT_EQ(report.verdicts[0].verdict, Verdict::kConformant) << report.verdicts[0].reason;
  EXPECT_EQ(report.verdicts[1].subject, kCore);
  EXPECT_EQ(report.verdicts[1].verdict, Verdict::kNotConformant);
  EXPECT_EQ(report.verdict, Verdict::kConformant);
  EXPECT_EQ(ExitStatus(report.verdict), 0);
}

TEST(SubjectVerdict, FailureOfTheDriverIsNotTheCores) {
  const Report report = JudgeIt(StreamOf({{"A.Driver", Result::kFail}}));
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
  EXPECT_EQ(report.reason, "failed: " + Id(kDriver));
  EXPECT_EQ(report.verdicts[1].verdict, Verdict::kConformant);
}

TEST(SubjectVerdict, RunOfSoftwareEventsIsAboutTheCore) {
  const Report report = JudgeIt(StreamOf({{"A.Driver", Result::kFail}}), "software");
  ASSERT_EQ(report.verdicts.size(), 1U);
  EXPECT_EQ(report.verdicts[0].subject, kCore);
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
}

TEST(SubjectVerdict, AllSubjectsDecideOnRequest) {
  EXPECT_EQ(JudgeIt(StreamOf({{"A.Core", Result::kFail}}), "core", Scope::kAll).verdict,
            Verdict::kNotConformant);
  const Stream both = StreamOf({{"A.Core", Result::kFail}, {"A.Driver", Result::kFail}});
  EXPECT_THAT(Summary(JudgeIt(both, "core", Scope::kAll)), HasSubstr("\nall: NOT CONFORMANT: "));
}

TEST(SubjectVerdict, SelectedCasesDecideWhateverTheirSubject) {
  Stream stream = StreamOf({{"A.Core", Result::kFail}});
  stream.partial = true;
  stream.selected = {"A.Core"};
  std::erase_if(stream.results, [](const CaseResult& row) { return row.id != "A.Core"; });
  EXPECT_EQ(JudgeIt(stream).verdict, Verdict::kNotConformant);
}

TEST(SubjectVerdict, FailureOfACaseThatNeedsBothNamesTheOther) {
  const Report report = JudgeIt(StreamOf({{"A.Both", Result::kFail}}));
  EXPECT_EQ(report.reason, "failed: " + Id(kDriver) + " (its cases also need the perf core)");
}

TEST(SubjectVerdict, ExpectationsThatFailedDecideWhoseFailureItIs) {
  Stream stream = StreamOf({{"A.Both", Result::kFail}});
  stream.results[2].failed_rules = {Id(kCore)};
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdicts[1].verdict, Verdict::kNotConformant);
  EXPECT_THAT(report.verdicts[1].reason, Not(HasSubstr("also need")));
  // The driver's rule was not tested to the end in that case.
  EXPECT_EQ(report.verdict, Verdict::kNotJudged) << report.reason;
}

TEST(SubjectVerdict, CaseWithoutAnAnswerLeavesOnlyItsSubjectsOpen) {
  Stream stream = StreamOf({{"A.Core", Result::kSkip}});
  stream.results[1].skip_reason = SkipReason::kNotQuiet;
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_EQ(report.verdicts[1].verdict, Verdict::kNotJudged);
}

TEST(SubjectVerdict, ReportOfTheKernelCountsForTheTarget) {
  Stream stream = StreamOf({});
  stream.problems = {"kernel log: WARNING"};
  const Report report = JudgeIt(stream);
  EXPECT_EQ(report.verdict, Verdict::kNotConformant);
  EXPECT_EQ(report.verdicts[1].verdict, Verdict::kConformant);
}

TEST(SubjectVerdict, EachFormatHasEachVerdict) {
  const Report report = JudgeIt(StreamOf({{"A.Core", Result::kFail}}));
  const std::string line = "perf core: NOT CONFORMANT: failed: " + Id(kCore) + "\n";
  EXPECT_THAT(Summary(report), HasSubstr("\ndriver: CONFORMANT: "));
  EXPECT_THAT(Summary(report), HasSubstr("\n" + line));
  EXPECT_THAT(ToKtap(report), HasSubstr("\n# " + line));
  EXPECT_THAT(ToJunit(report),
              HasSubstr("<property name=\"verdict.perf core\" value=\"NOT_CONFORMANT\">"));
  EXPECT_THAT(ToJson(report),
              HasSubstr("\"subject\": \"perf core\",\n   \"verdict\": \"NOT_CONFORMANT\""));
}

}  // namespace
}  // namespace pmuconf
