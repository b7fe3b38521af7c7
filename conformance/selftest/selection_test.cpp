// SPDX-License-Identifier: Apache-2.0
// The selection of cases by glob, rule and profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/select.h"
#include "selftest/toy_suite.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Selection, AcceptsGlobsAndRules) {
  const Profile all = WholeCatalogue(kRules);
  EXPECT_THAT(Select({.case_glob = "One.*"}, all, kSuite, kRules),
              ElementsAre("One.Holds", "One.Too"));
  EXPECT_THAT(Select({.rule = "AAA-002"}, all, kSuite, kRules), ElementsAre("One.Too"));
  EXPECT_THAT(Select({.case_glob = "Two.*", .rule = "AAA-*"}, all, kSuite, kRules),
              ElementsAre("Two.Should"));
  EXPECT_EQ(Select({}, all, kSuite, kRules).size(), kSuite.size());
}

TEST(Selection, SelectsWithinProfile) {
  Profile profile = WholeCatalogue(kRules);
  profile.name = "p-1.0";
  profile.rules = {kRules[1]};
  EXPECT_THAT(Select({}, profile, kSuite, kRules), ElementsAre("One.Too"));
  EXPECT_THROW(Select({.case_glob = "One.Holds"}, profile, kSuite, kRules), ConfigError);
}

TEST(Selection, UnknownNameErrorListsNearestNames) {
  const auto error_of = [](const Selection& selection) -> std::string {
    try {
      Select(selection, WholeCatalogue(kRules), kSuite, kRules);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of({.case_glob = "One.Hold"}),
              HasSubstr("unknown case 'One.Hold'; nearest: One.Holds "));
  EXPECT_THAT(error_of({.rule = "AAB-001"}),
              HasSubstr("unknown rule 'AAB-001'; nearest: AAA-001 "));
  EXPECT_THAT(error_of({.rule = "AAB-001"}), HasSubstr("known: AAA-* BBB-*"));
  EXPECT_THAT(error_of({.case_glob = "One.*", .rule = "BBB-001"}),
              HasSubstr("no case is selected"));
}

}  // namespace
}  // namespace pmuconf
