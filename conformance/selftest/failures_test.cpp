// SPDX-License-Identifier: Apache-2.0
// Failed assertions of GoogleTest are attributed to the rules that they print.
#include "harness/failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Rule RuleOf(std::string_view id, std::string_view text) {
  Rule rule;
  rule.id = id;
  rule.text = text;
  return rule;
}

const Rule kFirst = RuleOf("AAA-001", "A count MUST be exact.");
const Rule kSecond = RuleOf("AAA-002", "A count MUST NOT fall.");
const Rule kOther = RuleOf("BBB-001", "An event MUST end.");

// Returns the failures of `assertions`.
template <typename Assertions>
Failures FailuresOf(Assertions assertions) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    assertions();
  }
  Failures failures;
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) {
      failures.Add(results.GetTestPartResult(i).message());
    }
  }
  return failures;
}

std::vector<std::string> Ids(const std::vector<Rule>& rules) {
  std::vector<std::string> ids;
  for (const Rule& rule : rules) ids.emplace_back(rule.id);
  return ids;
}

TEST(Failures, BelongToTheOnlyRuleWhateverTheyPrint) {
  const std::vector<Rule> rules = {kFirst};
  for (const Failures& failures :
       {FailuresOf([] { EXPECT_EQ(1, 2); }), FailuresOf([] { EXPECT_EQ(1, 2) << kFirst; }),
        FailuresOf([] { EXPECT_EQ(1, 2) << kOther; })}) {
    EXPECT_THAT(failures.Named(rules), ElementsAre("AAA-001"));
    EXPECT_THAT(Ids(failures.Violated(rules)), ElementsAre("AAA-001"));
    EXPECT_THAT(failures.ViolatedAlone(rules), IsEmpty());
  }
}

TEST(Failures, BelongToTheRulesThatTheyPrint) {
  const std::vector<Rule> rules = {kFirst, kSecond, kOther};
  const Failures one = FailuresOf([] {
    EXPECT_EQ(1, 2) << kSecond;
    EXPECT_EQ(1, 1) << kOther;
  });
  EXPECT_THAT(one.Named(rules), ElementsAre("AAA-002"));
  EXPECT_THAT(Ids(one.Violated(rules)), ElementsAre("AAA-002"));
  EXPECT_THAT(one.ViolatedAlone(rules), ElementsAre("AAA-002"));

  const Failures two = FailuresOf([] {
    EXPECT_EQ(1, 2) << kOther << ", in a sentence";
    EXPECT_EQ(1, 2) << "at 3: " << kFirst;
  });
  EXPECT_THAT(two.ViolatedAlone(rules), ElementsAre("AAA-001", "BBB-001"));
}

TEST(Failures, BelongToAllRulesIfOnePrintsNone) {
  const std::vector<Rule> rules = {kFirst, kSecond};
  const Failures mixed = FailuresOf([] {
    EXPECT_EQ(1, 2) << kSecond;
    EXPECT_EQ(1, 2);
  });
  EXPECT_THAT(mixed.Named(rules), ElementsAre("AAA-002"));
  EXPECT_THAT(mixed.ViolatedAlone(rules), IsEmpty());

  const Failures silent = FailuresOf([] { EXPECT_EQ(1, 2) << kOther; });
  EXPECT_THAT(silent.Named(rules), IsEmpty());
  EXPECT_THAT(Ids(silent.Violated(rules)), ElementsAre("AAA-001", "AAA-002"));
  EXPECT_THAT(silent.ViolatedAlone(rules), IsEmpty());
}

TEST(Failures, OfCasesThatPassBelongToNoRule) {
  const Failures none = FailuresOf([] { EXPECT_EQ(1, 1) << kFirst; });
  EXPECT_THAT(none.Named({kFirst}), IsEmpty());
  EXPECT_THAT(none.Named({kFirst, kSecond}), IsEmpty());
}

TEST(Failures, AreListedOnceWithTheirNumber) {
  Failures failures;
  failures.Add("x\n");
  failures.Add("y\n");
  failures.Add("x\n");
  EXPECT_EQ(failures.ToString(), "x\n(2 times)\ny\n");
}

}  // namespace
}  // namespace pmuconf
