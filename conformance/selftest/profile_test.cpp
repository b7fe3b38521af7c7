// SPDX-License-Identifier: Apache-2.0
// A profile is a sorted list of active rules.
#include "report/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "selftest/refusal.h"
#include "selftest/toy_suite.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;

Rule Retired(std::string_view id) {
  Rule rule;
  rule.id = id;
  rule.status = RuleStatus::kRetired;
  rule.layer = "case";
  return rule;
}

const std::string kProfileHead = "[profile]\nname = \"p\"\nversion = \"1.0\"\ntext = \"t\"\n";

TEST(Profiles, HaveTheListedRulesAlone) {
  std::vector<Rule> catalogue(std::begin(kRules), std::end(kRules));
  catalogue.push_back(Retired("EEE-001"));
  const Profile profile = ParseProfile(
      kProfileHead + "rules = [\"AAA-001\", \"BBB-001\", \"EEE-001\"]\n", "p.toml", catalogue);
  EXPECT_EQ(profile.name, "p-1.0");
  EXPECT_EQ(profile.rules.size(), 2u) << "a retired rule is left out";
  EXPECT_TRUE(profile.Contains("AAA-001"));
  EXPECT_TRUE(profile.Contains("BBB-001"));
  EXPECT_FALSE(profile.Contains("AAA-002"));
  ASSERT_EQ(profile.drafts.size(), 1u);
  EXPECT_EQ(profile.drafts[0].id, "BBB-002");
}

TEST(Profiles, RejectOtherListsThanSortedActiveRules) {
  const std::pair<const char*, const char*> wrong[] = {
      {"rules = [\"AAA-009\"]\n", "names unknown rule 'AAA-009'"},
      {"rules = [\"AAA-002\", \"AAA-001\"]\n", "must be sorted, each rule once: 'AAA-001'"},
      {"rules = [\"AAA-001\", \"AAA-001\"]\n", "must be sorted, each rule once: 'AAA-001'"},
      {"rules = [\"AAA-001\", \"BBB-002\"]\n", "names draft 'BBB-002'"},
      {"rules = []\n", "names no active rule"},
      {"areas = [\"AAA\"]\n", "areas"}};
  for (const auto& entry : wrong) {
    EXPECT_THAT(Refusal([&] { ParseProfile(kProfileHead + entry.first, "p.toml", kRules); }),
                HasSubstr(entry.second));
  }
}

TEST(Profiles, ProjectProfilesAreValid) {
  const std::string folder = PMUCONF_CONFORMANCE_DIR "/profiles";
  const std::pair<const char*, std::size_t> profiles[] = {
      {"counting-1.0", 283}, {"driver-1.0", 352}, {"sampling-1.0", 491},  {"software-1.0", 416},
      {"trace-1.0", 138},    {"uncore-1.0", 248}, {"tracepoint-1.0", 425}};
  for (const auto& [name, rules] : profiles) {
    const Profile profile = LoadProfile(folder, name, AllRules());
    EXPECT_EQ(profile.name, name);
    EXPECT_EQ(profile.rules.size(), rules) << name;
  }
  for (const Rule& rule : LoadProfile(folder, "driver-1.0", AllRules()).rules) {
    EXPECT_EQ(rule.subject, RuleSubject::kDriver) << rule.id;
    EXPECT_EQ(rule.level, Level::kMust) << rule.id;
    EXPECT_NE(rule.layer, "review") << rule.id;
  }
  const Profile counting = LoadProfile(folder, "counting-1.0", AllRules());
  const Profile sampling = LoadProfile(folder, "sampling-1.0", AllRules());
  for (const Rule& rule : counting.rules) EXPECT_TRUE(sampling.Contains(rule.id)) << rule.id;
  try {
    LoadProfile(PMUCONF_CONFORMANCE_DIR "/profiles", "nosuch", AllRules());
    FAIL() << "an unknown profile was loaded";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown profile 'nosuch' (known: counting-1.0, driver-1.0, sampling-1.0, "
                 "software-1.0, trace-1.0, tracepoint-1.0, uncore-1.0)");
  }
}

}  // namespace
}  // namespace pmuconf
