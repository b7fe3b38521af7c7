// SPDX-License-Identifier: Apache-2.0
// Target files are read strictly, and errors name file, line and key.
#include "pmuconf/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pmuconf {
namespace {

using testing::HasSubstr;

constexpr const char* kGood = R"([target]
name = "toy"
match = "toy*"
kind = "core"
port = "/dev/toy"
[counters]
general = 4
fixed = 3
width = 48
[sampling]
min_period = 2
[refusals]
branch = "EOPNOTSUPP"
[[event]]
name = "a"
stimulus = "port"
counters = "0-3"
accuracy = "exact"
[[event]]
name = "c"
stimulus = "clock"
ticks = 2
counters = "0-1,f0"
generic = "cpu-cycles"
accuracy = { abs = 3 }
)";

std::string ErrorOf(const std::string& text) {
  try {
    Target::Parse(text, "toy.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string With(const std::string& from, const std::string& to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(TargetFile, IsRead) {
  const Target target = Target::Parse(kGood, "toy.toml");
  EXPECT_EQ(target.name(), "toy");
  EXPECT_EQ(target.general(), 4u);
  EXPECT_EQ(target.counter_mask(), (1ULL << 48) - 1);
  EXPECT_EQ(target.min_period(), 2u);
  EXPECT_EQ(target.refusal("branch"), EOPNOTSUPP);
  EXPECT_EQ(target.refusal("other"), std::nullopt);
  ASSERT_EQ(target.claims().size(), 2u);
  EXPECT_EQ(target.claims()[1].counters, 0b11ULL | 1ULL << 32);
  EXPECT_EQ(target.claims()[1].accuracy.abs, 3u);
  EXPECT_EQ(target.claims()[1].generic, 0u);
}

TEST(TargetFile, GivesCapabilities) {
  const Target target = Target::Parse(kGood, "toy.toml");
  for (const Cap cap : {Cap::kStimulus, Cap::kSampling, Cap::kManualClock, Cap::kFixedCounters,
                        Cap::kConstraints, Cap::kGenericEvents, Cap::kGroups}) {
    EXPECT_TRUE(target.Claims(cap)) << ToString(cap);
  }
  EXPECT_FALSE(target.Claims(Cap::kFrequency));
  EXPECT_FALSE(target.Claims(Cap::kExcludes));
}

TEST(TargetFile, NamesFileLineAndKeyOfAnError) {
  EXPECT_EQ(ErrorOf(With("width = 48", "width = 480")),
            "toy.toml:9: key 'counters.width' must be an integer from 16 to 64");
  EXPECT_EQ(ErrorOf(With("width = 48", "width = \"48\"")),
            "toy.toml:9: key 'counters.width' must be an integer from 16 to 64");
  EXPECT_THAT(ErrorOf(With("fixed = 3", "fixd = 3")),
              HasSubstr("toy.toml:8: key 'counters.fixd' is unknown"));
  EXPECT_THAT(ErrorOf(With("\"port\"", "\"pulse\"")),
              HasSubstr("toy.toml:16: key 'event.stimulus' must be one of"));
  EXPECT_THAT(ErrorOf(With("\"0-3\"", "\"0-4\"")), HasSubstr("toy.toml:17: key 'event.counters'"));
  EXPECT_THAT(ErrorOf(With("EOPNOTSUPP", "ENOSUCH")),
              HasSubstr("toy.toml:13: key 'refusals.branch'"));
  EXPECT_THAT(ErrorOf(With("\"cpu-cycles\"", "\"cpu\"")), HasSubstr("key 'event.generic'"));
  EXPECT_THAT(ErrorOf(With("{ abs = 3 }", "\"about\"")), HasSubstr("key 'event.accuracy'"));
  EXPECT_THAT(ErrorOf(With("name = \"c\"", "name = \"a\"")), HasSubstr("'a' stands twice"));
  EXPECT_THAT(ErrorOf(With("kind = \"core\"", "kind = \"cor\"")),
              HasSubstr("toy.toml:4: key 'target.kind'"));
  EXPECT_THAT(ErrorOf(With("name = \"toy\"\n", "")), HasSubstr("key 'target.name' is missing"));
}

TEST(TargetFile, NamesTheLineOfASyntaxError) {
  EXPECT_THAT(ErrorOf(With("general = 4", "general = = 4")), HasSubstr("toy.toml:7: "));
}

TEST(TargetFile, OfTheReferencePmuIsRight) {
  const Target target = Target::Load(PMUCONF_CONFORMANCE_DIR "/targets/refpmu.toml");
  EXPECT_EQ(target.claims().size(), 11u);
  for (const Cap cap : AllCaps()) EXPECT_TRUE(target.Claims(cap)) << ToString(cap);
}

TEST(Cap, NamesGoBothWays) {
  for (const Cap cap : AllCaps()) EXPECT_EQ(CapFromString(ToString(cap)), cap);
  EXPECT_EQ(CapFromString("telepathy"), std::nullopt);
}

}  // namespace
}  // namespace pmuconf
