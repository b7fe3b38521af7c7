// SPDX-License-Identifier: Apache-2.0
// A kernel that is newer than the rules: what differs in its core is not judged.
#include "harness/newer_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/formats.h"
#include "report/verdict.h"
#include "selftest/toy_suite.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Target Toy(const std::string& rules_of = "") {
  return Target::Parse("[target]\nname = \"toy\"\nmatch = \"toy\"\nkind = \"core\"\n" +
                           (rules_of.empty() ? "" : "rules_of = \"" + rules_of + "\"\n") +
                           "[counters]\ngeneral = 4\nwidth = 48\n"
                           "[[event]]\nname = \"a\"\ncounters = \"0-3\"\naccuracy = \"exact\"\n",
                       "toy.toml");
}

// A run in which One.Too failed for a reason that a newer core explains.
Stream WithUnjudged() {
  Stream stream;
  stream.target = "toy";
  stream.kernel = "99.1";
  stream.release = "99.1.3-cloud";
  stream.ended = true;
  for (const char* id : {"One.Holds", "One.Too", "Two.Should", "Two.Samples", "Two.Draft"}) {
    stream.selected.emplace_back(id);
    stream.results.push_back({id, Result::kPass, 0.1, "", {}});
  }
  stream.results[1].result = Result::kSkip;
  stream.results[1].skip_reason = SkipReason::kKernelNewer;
  stream.results[1].message = "its core may differ\nmore";
  return stream;
}

Report JudgeIt(const Stream& stream, const std::vector<Waiver>& waivers = {}) {
  return Judge(stream, Toy(), WholeCatalogue(kRules), kSuite, waivers, "2026-11-21");
}

TEST(NewerKernel, TargetMayNameAnOlderSeries) {
  EXPECT_EQ(NewestKernel(Toy()), NewestDescribedKernel());
  EXPECT_EQ(NewestKernel(Toy("6.12")), "6.12");
  EXPECT_TRUE(IsNewer(Toy("6.12"), "6.13.0"));
  EXPECT_FALSE(IsNewer(Toy("6.12"), "6.12.117-cloud"));
  EXPECT_EQ(ReleaseForRules(Toy("6.12"), "7.2.13"), "6.12");
  EXPECT_EQ(ReleaseForRules(Toy("6.12"), "6.1.192"), "6.1.192");
  EXPECT_THROW(Toy("new"), ConfigError);
}

TEST(NewerKernel, OnlyRulesOfTheCoreMayDiffer) {
  Rule core = kRules[0], driver = kRules[0];
  core.subject = RuleSubject::kPerfCore;
  driver.subject = RuleSubject::kDriver;
  EXPECT_TRUE(NewerKernelMayDiffer({core, core}));
  EXPECT_FALSE(NewerKernelMayDiffer({core, driver}));
}

TEST(NewerKernel, DifferenceIsNotJudgedAndLeavesTheVerdict) {
  const Report report = JudgeIt(WithUnjudged());
  EXPECT_EQ(report.verdict, Verdict::kConformant) << report.reason;
  EXPECT_THAT(report.reason, HasSubstr("not judged on a kernel newer than "));
  EXPECT_EQ(report.totals.failed, 0);
  int not_judged = 0;
  for (const RuleRow& row : report.rules) not_judged += row.result == RuleResult::kNotJudged;
  EXPECT_GT(not_judged, 0);
}

TEST(NewerKernel, FirstLineOfTheReportNamesIt) {
  const std::string newest(NewestDescribedKernel());
  EXPECT_THAT(Summary(JudgeIt(WithUnjudged())),
              StartsWith("Linux 99.1.3-cloud is newer than " + newest +
                         ", the newest that the rules describe: 1 case that failed is not judged "
                         "(kernel_newer)\n"));
  Stream known = WithUnjudged();
  known.release = newest + ".1";
  known.results[1] = {"One.Too", Result::kPass, 0.1, "", {}};
  EXPECT_THAT(Summary(JudgeIt(known)), Not(HasSubstr("newer")));
}

TEST(NewerKernel, FailureOfTheDriverStillDecides) {
  Stream stream = WithUnjudged();
  stream.results[0].result = Result::kFail;
  EXPECT_EQ(JudgeIt(stream).verdict, Verdict::kNotConformant);
}

TEST(NewerKernel, CaseWithoutAnAnswerLeavesItsRulesOpen) {
  Stream stream = WithUnjudged();
  stream.results[0].result = Result::kBroken;
  EXPECT_EQ(JudgeIt(stream).verdict, Verdict::kNotJudged);
}

TEST(NewerKernel, WaivedFaultMayBeMended) {
  const Waiver waiver = {
      "WVR-001", "perf",  "known", "https://example.org/1", "2026-12-31",      {"One.Holds"},
      {"t*"},    ">=6.1", "",      {Result::kFail},         "list@example.org"};
  EXPECT_EQ(JudgeIt(WithUnjudged(), {waiver}).verdict, Verdict::kConformant);
  Stream known = WithUnjudged();
  known.release = "6.12.1";
  EXPECT_EQ(JudgeIt(known, {waiver}).verdict, Verdict::kNotConformant);
}

}  // namespace
}  // namespace pmuconf
