// SPDX-License-Identifier: Apache-2.0
// Every report names whose code has to be fixed after a failure.
#include "report/fix_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Rule RuleOf(std::string_view id, RuleSubject subject,
                      RuleStatus status = RuleStatus::kActive) {
  Rule rule;
  rule.id = id;
  rule.status = status;
  rule.subject = subject;
  return rule;
}

constexpr Rule kDriver = RuleOf("AAA-001", RuleSubject::kDriver);
constexpr Rule kToo = RuleOf("AAA-002", RuleSubject::kDriver);
constexpr Rule kCore = RuleOf("BBB-001", RuleSubject::kPerfCore);
constexpr Rule kDraft = RuleOf("CCC-001", RuleSubject::kSuite, RuleStatus::kDraft);

Report Failed(const std::vector<std::string>& rules) {
  Report report;
  report.cases.push_back({"Suite.Name", Result::kFail, 0.25, "count was 7", rules});
  report.rules = {
      {kDriver, RuleResult::kFailed}, {kToo, RuleResult::kFailed}, {kCore, RuleResult::kFailed}};
  return report;
}

TEST(FixIn, NamesTheOneSubject) {
  EXPECT_EQ(FixIn({&kDriver, &kToo}), "fix in: driver");
  EXPECT_EQ(FixIn({&kCore}), "fix in: perf core");
  EXPECT_EQ(FixIn({}), "");
}

TEST(FixIn, NamesTheRulesOfEachSubject) {
  EXPECT_EQ(FixIn({&kDriver, &kCore, &kToo}),
            "fix in: driver (AAA-001, AAA-002), perf core (BBB-001)");
}

TEST(FixIn, SubjectsHaveTheNamesOfTheCatalogue) {
  EXPECT_EQ(ToString(RuleSubject::kDriver), "driver");
  EXPECT_EQ(ToString(RuleSubject::kPerfCore), "perf core");
  EXPECT_EQ(ToString(RuleSubject::kArchitecture), "architecture");
  EXPECT_EQ(ToString(RuleSubject::kSuite), "suite");
}

TEST(FixIn, FailureHasItInEveryFormat) {
  const Report report = Failed({"AAA-001"});
  EXPECT_THAT(Summary(report), HasSubstr("\n    fix in: driver\n"));
  EXPECT_THAT(ToKtap(report), HasSubstr("\n# fix in: driver\n"));
  EXPECT_THAT(ToJunit(report), HasSubstr("\nfix in: driver</failure>"));
  EXPECT_EQ(nlohmann::json::parse(ToJson(report))["rules"][2]["subject"], "perf core");
}

TEST(FixIn, SummaryCountsFailedRulesBySubject) {
  Report report = Failed({"AAA-001", "AAA-002", "BBB-001"});
  EXPECT_EQ(FailedBySubject(report), "  failed: 2 rules of the driver, 1 of the perf core\n");
  EXPECT_THAT(Summary(report), HasSubstr(FailedBySubject(report)));
  report.rules[0].result = RuleResult::kPassed;
  EXPECT_EQ(FailedBySubject(report), "  failed: 1 rule of the driver, 1 of the perf core\n");
  report.rules[1].result = report.rules[2].result = RuleResult::kWaived;
  EXPECT_EQ(FailedBySubject(report), "");
}

TEST(FixIn, DraftOfAFailureIsMarked) {
  Report report = Failed({"CCC-001"});
  report.rules.clear();
  EXPECT_THAT(Summary(report), Not(HasSubstr("draft")));
  report.drafts = {{kDraft, RuleResult::kFailed}};
  EXPECT_THAT(Summary(report), HasSubstr("\n    draft: CCC-001 decides no verdict\n"));
  EXPECT_THAT(Summary(report), HasSubstr("  drafts, which decide nothing: 1 failed\n"));
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["drafts"][0]["id"], "CCC-001");
  EXPECT_EQ(json["drafts"][0]["result"], "FAILED");
  EXPECT_EQ(json["rules"].size(), 0u);
}

}  // namespace
}  // namespace pmuconf
