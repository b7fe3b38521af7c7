// SPDX-License-Identifier: Apache-2.0
// A draft contains the findings of a probe and loads as a target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <sstream>

#include "report/choose.h"
#include "target/probe.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PmuFacts Facts() {
  PmuFacts facts;
  facts.device = "toy";
  facts.kind = "core";
  facts.kind_how = "sysfs has no cpumask";
  facts.general = {4, 0, "they fit"};
  facts.fixed = {2, 0, "two more"};
  facts.width = {48, 0, "pmc_width"};
  facts.min_period = {16, 0, "the shortest"};
  facts.refused = {{"clock", {0, EINVAL, "a clock"}}, {"exclude_idle", {0, EOPNOTSUPP, "idle"}}};
  facts.precise = {2, 0, "the highest"};
  facts.branches = {0, EOPNOTSUPP, "refused"};
  facts.exclusive_formats = {"a", "b"};
  facts.events = {{"cycles", {}, 5, true, "cpu-cycles", "counted 1", "none", {}},
                  {"config-7", 7, 4, false, "", "counted 0", "none", {}},
                  {"ref-cycles", {}, 1, true, "ref-cycles", "counted 1", "none", {}}};
  facts.skipped = {"odd: 2 fit into a group"};
  return facts;
}

TEST(Draft, LoadsAndStatesFindings) {
  const Target target = Target::Parse(WriteDraft(Facts()), "draft");
  EXPECT_EQ(target.match(), "toy");
  EXPECT_EQ(target.general(), 4u);
  EXPECT_EQ(target.fixed(), 2u);
  EXPECT_EQ(target.width(), 48u);
  EXPECT_EQ(target.min_period(), 16u);
  EXPECT_EQ(target.precise(), 2u);
  EXPECT_EQ(target.branches(), 0u);
  EXPECT_THAT(target.exclusive_formats(), ElementsAre("a", "b"));
  ASSERT_EQ(target.claims().size(), 3u);
  EXPECT_EQ(target.claims()[0].counters, 0x10000000fULL);
  EXPECT_TRUE(target.claims()[0].generic.has_value());
  EXPECT_EQ(target.claims()[1].code, 7);
  EXPECT_EQ(target.claims()[1].counters, 0xfULL);
  EXPECT_EQ(target.claims()[2].counters, 0x200000000ULL) << "no general counter has it";
}

TEST(Draft, StatesRefusals) {
  PmuFacts facts = Facts();
  facts.kind = "uncore";
  facts.sampling = {0, EOPNOTSUPP, "sample_period gives EOPNOTSUPP"};
  facts.task = {0, EINVAL, "an event of a task gives EINVAL"};
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_FALSE(target.Claims(Cap::kSampling));
  EXPECT_EQ(target.refusal("sampling"), EOPNOTSUPP);
  EXPECT_EQ(target.refusal("task"), EINVAL);
  EXPECT_EQ(target.refusal("clock"), EINVAL);
  EXPECT_EQ(target.refusal("exclude_idle"), EOPNOTSUPP);
}

TEST(Draft, HasTheRequestedNameAndSlowness) {
  PmuFacts facts = Facts();
  facts.name = "other";
  facts.slowness = 2.5;
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(target.name(), "other");
  EXPECT_EQ(target.match(), "toy");
  EXPECT_EQ(target.slowness(), 2.5);
  EXPECT_EQ(Target::Parse(WriteDraft(Facts()), "draft").name(), "toy");
}

TEST(Draft, EachLineHasComment) {
  std::istringstream lines(WriteDraft(Facts()));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '[') continue;
    EXPECT_THAT(line, HasSubstr("# "));
  }
}

TEST(Draft, DraftOfTracePmuLoads) {
  PmuFacts facts = Facts();
  facts.kind = "trace";
  facts.refused = {{"exclusive", {0, EBUSY, "a second event of the same CPU gives EBUSY"}}};
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_TRUE(target.Claims(Cap::kTrace));
  EXPECT_EQ(target.refusal("exclusive"), EBUSY);
}

TEST(Choose, FindsBuiltInTargetForPmu) {
  EXPECT_EQ(TargetForPmu("refpmu"), "refpmu");  // although other targets match it too
  EXPECT_EQ(TargetForPmu("refpmu_trace"), "refpmu_trace");
  EXPECT_EQ(TargetForPmu("nosuch"), "");
  EXPECT_EQ(TargetForPmu("cpu"), "") << "intel and amd are called so, and have a port";
  EXPECT_EQ(LoadTarget("refpmu_trace").kind(), "trace");
  EXPECT_EQ(LoadTarget("refpmu_little").width(), 40u);  // its bases are built in, too
  EXPECT_THROW(LoadTarget("nosuch"), ConfigError);
}

TEST(Choose, FindsBuiltInProfiles) {
  EXPECT_EQ(ChooseProfile("refpmu", "counting-1.0").name, "counting-1.0");
  EXPECT_EQ(ChooseProfile("/nowhere/x.toml", "counting-1.0").name, "counting-1.0");
  EXPECT_THROW(ChooseProfile("refpmu", "nosuch"), ConfigError);
  EXPECT_TRUE(ChooseProfile("refpmu", "").name.empty());
}

}  // namespace
}  // namespace pmuconf
