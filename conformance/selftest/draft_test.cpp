// SPDX-License-Identifier: Apache-2.0
// A draft contains the findings of a probe and loads as a target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "report/choose.h"
#include "target/probe.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

EventFacts EventWith(const std::string& name, std::uint64_t counters) {
  EventFacts event;
  event.name = name;
  event.counters = counters;
  event.counters_how = "they fit";
  event.counts = "counted 1";
  return event;
}

// A calibration of instructions with some counts.
Calibration Work(std::optional<std::uint32_t> extra, std::optional<Accuracy> bound) {
  return {.kind = WorkKind::kInstructions,
          .extra = extra,
          .bound = bound,
          .text = "counted 303 in 303"};
}

PmuFacts Facts() {
  PmuFacts facts;
  facts.device = "toy";
  facts.kind = "core";
  facts.kind_how = "sysfs has no cpumask";
  facts.general = {4, 0, "they fit"};
  facts.fixed = {2, 0, "two more"};
  facts.width = {48, 0, "pmc_width"};
  facts.shortest_period = {8, 0, "the shortest that opens"};
  facts.user_reads = {1, 0, "cap_user_rdpmc", Sure::kRead};
  facts.refused = {{"clock", {0, EINVAL, "a clock"}}, {"exclude_idle", {0, EOPNOTSUPP, "idle"}}};
  facts.precise = {2, 0, "the highest"};
  facts.branches = {0, EOPNOTSUPP, "refused"};
  facts.exclusive_formats = {"a", "b"};
  facts.events = {EventWith("cycles", 0x10000000f), EventWith("config-7", 0xf),
                  EventWith("ref-cycles", 0x200000000)};
  facts.events[0].generic = "cpu-cycles";
  facts.events[1].code = 7;
  facts.events[2].generic = "ref-cycles";
  facts.omitted = {{"odd", "2 fit into a group"}};
  return facts;
}

TEST(Draft, LoadsAndStatesFindings) {
  const Target target = Target::Parse(WriteDraft(Facts()), "draft");
  EXPECT_EQ(target.match(), "toy");
  EXPECT_EQ(target.general(), 4u);
  EXPECT_EQ(target.fixed(), 2u);
  EXPECT_EQ(target.width(), 48u);
  EXPECT_EQ(target.min_period(), 8u);
  EXPECT_EQ(target.precise(), 2u);
  EXPECT_EQ(target.branches(), 0u);
  EXPECT_THAT(target.exclusive_formats(), ElementsAre("a", "b"));
  ASSERT_EQ(target.claims().size(), 3u);
  EXPECT_EQ(target.claims()[0].counters, 0x10000000fULL);
  EXPECT_TRUE(target.claims()[0].generic.has_value());
  EXPECT_EQ(target.claims()[1].code, 7u);
  EXPECT_EQ(target.claims()[1].counters, 0xfULL);
  EXPECT_EQ(target.claims()[2].counters, 0x200000000ULL) << "no general counter has it";
  EXPECT_TRUE(target.Claims(Cap::kUserReads));
}

TEST(Draft, ClaimsNoGroupsIfTheDriverRefusesEachGroup) {
  PmuFacts facts = Facts();
  EXPECT_TRUE(Target::Parse(WriteDraft(facts), "draft").Claims(Cap::kGroups));
  facts.groups = false;
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(target.general(), 4u);
  EXPECT_FALSE(target.Claims(Cap::kGroups));
  EXPECT_FALSE(target.Claims(Cap::kCounters3));
}

TEST(Draft, ClaimsThatEventsShareCounter) {
  PmuFacts facts = Facts();
  EXPECT_TRUE(Target::Parse(WriteDraft(facts), "draft").Claims(Cap::kOwnCounters));
  facts.shared_counters = true;
  EXPECT_FALSE(Target::Parse(WriteDraft(facts), "draft").Claims(Cap::kOwnCounters));
}

TEST(Draft, StatesThatTheDriverLooksAtTheCpuAlone) {
  PmuFacts facts = Facts();
  facts.kind = "uncore";
  facts.no_cpu = {0, EOPNOTSUPP, "an event of a task gives EOPNOTSUPP"};
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(target.refusal("no_cpu"), EOPNOTSUPP);
  EXPECT_EQ(target.refusal("task"), std::nullopt);
}

TEST(Draft, StatesWhoRefusesSampling) {
  PmuFacts facts = Facts();
  facts.sampling = {0, EOPNOTSUPP, "a period gives EOPNOTSUPP"};
  const Target by_driver = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(by_driver.refusal("sampling"), EOPNOTSUPP);
  EXPECT_EQ(by_driver.refusal("no_interrupt"), std::nullopt);
  facts.core_refuses_sampling = true;
  const Target by_core = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(by_core.refusal("sampling"), std::nullopt);
  EXPECT_EQ(by_core.refusal("no_interrupt"), EOPNOTSUPP);
}

TEST(Draft, ExactEventHasWorkAndItsExtraEvents) {
  PmuFacts facts = Facts();
  facts.events[0].stimulus = "work";
  facts.events[0].work = Work(2, std::nullopt);
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(target.claims()[0].stimulus, StimulusKind::kWork);
  EXPECT_EQ(target.claims()[0].work, WorkKind::kInstructions);
  EXPECT_EQ(target.claims()[0].work_extra, 2U);
  EXPECT_TRUE(target.claims()[0].accuracy.exact());
}

TEST(Draft, EventsOfInterruptsAreStated) {
  PmuFacts facts = Facts();
  facts.events[0].stimulus = "work";
  facts.events[0].work = Work(0, std::nullopt);
  EXPECT_EQ(Target::Parse(WriteDraft(facts), "draft").claims()[0].work_interrupts, 0U);
  facts.events[0].work.interrupts = 3;
  EXPECT_EQ(Target::Parse(WriteDraft(facts), "draft").claims()[0].work_interrupts, 3U);
}

TEST(Draft, BoundedEventStatesItsBound) {
  PmuFacts facts = Facts();
  facts.events[0].stimulus = "work";
  facts.events[0].work = Work(std::nullopt, Accuracy{3, 0.0125});
  facts.events[1].work = Work(std::nullopt, Accuracy{0, 0.5});
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(target.claims()[0].stimulus, StimulusKind::kWork);
  EXPECT_EQ(target.claims()[0].accuracy.abs, 3U);
  EXPECT_EQ(target.claims()[0].accuracy.rel, 0.0125);
  EXPECT_EQ(target.claims()[1].stimulus, StimulusKind::kNone);
  EXPECT_EQ(target.claims()[1].accuracy.rel, 0.5);
}

TEST(Draft, OtherExactEventStaysWithoutStimulus) {
  PmuFacts facts = Facts();
  facts.events[0].work = Work(0, std::nullopt);
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(target.claims()[0].stimulus, StimulusKind::kNone);
  EXPECT_TRUE(target.claims()[0].accuracy.exact());
}

TEST(Draft, EventWithoutBoundClaimsNothing) {
  PmuFacts facts = Facts();
  facts.events[0].work = Work(std::nullopt, std::nullopt);
  const Target target = Target::Parse(WriteDraft(facts), "draft");
  EXPECT_EQ(target.claims()[0].stimulus, StimulusKind::kNone);
  EXPECT_EQ(target.claims()[0].accuracy.rel, 1.0);
  EXPECT_THAT(WriteDraft(facts), HasSubstr("# Work is not its stimulus: it counted 303 in 303"));
}

TEST(Draft, NotesAreCommentsOfTheFile) {
  PmuFacts facts = Facts();
  facts.sampling_notes = {{"skid", "0 to 3", "after the period"}};
  EXPECT_THAT(WriteDraft(facts), HasSubstr("\n# skid: 0 to 3 (after the period)\n"));
  EXPECT_EQ(Target::Parse(WriteDraft(facts), "draft").min_period(), 8U);
}

TEST(Explain, TableHasEachKeyOnceWithItsOrigin) {
  PmuFacts facts = Facts();
  facts.width = {64, 0, "unknown", Sure::kDefault};
  facts.sampling_notes = {{"skid", "0 to 3", "after the period"}};
  facts.events[0].counters_sure = Sure::kGuess;
  std::istringstream table(ExplainDraft(facts));
  std::vector<std::string> lines;
  for (std::string line; std::getline(table, line);) {
    lines.push_back(std::regex_replace(line, std::regex("  +"), "|"));
  }
  EXPECT_EQ(lines.front(), "key|value|sure|how it was found");
  EXPECT_THAT(lines, Contains("counters.general|4|measured|they fit"));
  EXPECT_THAT(lines, Contains("counters.width|64|default|unknown"));
  EXPECT_THAT(lines, Contains("features.user_reads|true|read|cap_user_rdpmc"));
  EXPECT_THAT(lines, Contains("sampling.skid|0 to 3|measured|after the period"));
  EXPECT_THAT(lines, Contains("refusals.clock|\"EINVAL\"|measured|a clock"));
  EXPECT_THAT(lines, Contains("event cycles: counters|\"0-3,f0\"|guess|they fit"));
  EXPECT_THAT(lines, Contains("event odd|left out|measured|2 fit into a group"));
  std::set<std::string> keys;
  for (const std::string& line : lines) {
    EXPECT_TRUE(keys.insert(line.substr(0, line.find('|'))).second) << line;
  }
}

TEST(Explain, JsonHasTheRowsOfTheTable) {
  const auto json = nlohmann::json::parse(ExplainDraftAsJson(Facts()));
  EXPECT_EQ(json["pmu"], "toy");
  const nlohmann::json want = {
      {"key", "counters.general"}, {"value", "4"}, {"sure", "measured"}, {"how", "they fit"}};
  EXPECT_THAT(json["lines"], Contains(want));
  const std::string table = ExplainDraft(Facts());
  EXPECT_EQ(json["lines"].size() + 1,
            static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')));
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
  EXPECT_EQ(target.refusal("no_cpu"), std::nullopt);
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
  EXPECT_EQ(TargetForPmu("cpu"), "") << "intel, amd and riscv_sbi are called so";
  EXPECT_EQ(TargetForPmu("msr"), "") << "that target is for a model";
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
