// SPDX-License-Identifier: Apache-2.0
// Target files are read strictly, and errors name file, line and key.
#include "pmuconf/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <set>

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
[features]
precise = 2
branches = 16
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
  EXPECT_EQ(target.precise(), 2u);
  EXPECT_EQ(target.branches(), 16u);
  EXPECT_EQ(target.refusal("branch"), EOPNOTSUPP);
  EXPECT_EQ(target.refusal("other"), std::nullopt);
  ASSERT_EQ(target.claims().size(), 2u);
  EXPECT_EQ(target.claims()[1].counters, 0b11ULL | 1ULL << 32);
  EXPECT_EQ(target.claims()[1].accuracy.abs, 3u);
  EXPECT_EQ(target.claims()[1].generic, 0u);
}

TEST(TargetFile, GivesCapabilities) {
  const Target target = Target::Parse(kGood, "toy.toml");
  for (const Cap cap :
       {Cap::kStimulus, Cap::kSampling, Cap::kManualClock, Cap::kFixedCounters, Cap::kConstraints,
        Cap::kGenericEvents, Cap::kGroups, Cap::kCounters3, Cap::kPrecise, Cap::kBranches}) {
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
              HasSubstr("toy.toml:19: key 'event.stimulus' must be one of"));
  EXPECT_THAT(ErrorOf(With("\"0-3\"", "\"0-4\"")), HasSubstr("toy.toml:20: key 'event.counters'"));
  EXPECT_THAT(ErrorOf(With("EOPNOTSUPP", "ENOSUCH")),
              HasSubstr("toy.toml:16: key 'refusals.branch'"));
  EXPECT_THAT(ErrorOf(With("\"cpu-cycles\"", "\"cpu\"")), HasSubstr("key 'event.generic'"));
  EXPECT_THAT(ErrorOf(With("{ abs = 3 }", "\"about\"")), HasSubstr("key 'event.accuracy'"));
  EXPECT_THAT(ErrorOf(With("name = \"c\"", "name = \"a\"")), HasSubstr("'a' stands twice"));
  EXPECT_THAT(ErrorOf(With("kind = \"core\"", "kind = \"cor\"")),
              HasSubstr("toy.toml:4: key 'target.kind'"));
  EXPECT_THAT(ErrorOf(With("name = \"toy\"\n", "")), HasSubstr("key 'target.name' is missing"));
}

constexpr const char* kSoftware = R"([target]
name = "software"
match = "software"
kind = "software"
[sampling]
[[event]]
name = "page-faults"
stimulus = "page_faults"
accuracy = "exact"
[[event]]
name = "context-switches"
stimulus = "context_switches"
accuracy = { abs = 3 }
)";

TEST(TargetFile, NeedsNoCountersForSoftware) {
  const Target target = Target::Parse(kSoftware, "software.toml");
  EXPECT_EQ(target.general(), 0u);
  for (const Cap cap : {Cap::kStimulus, Cap::kSampling, Cap::kGroups, Cap::kCounters3, Cap::kTasks,
                        Cap::kSoftware, Cap::kBpf}) {
    EXPECT_TRUE(target.Claims(cap)) << ToString(cap);
  }
  for (const Cap cap : {Cap::kPort, Cap::kCounters, Cap::kSeveralEvents, Cap::kQuietFork,
                        Cap::kMultiplexing, Cap::kLongPeriods, Cap::kTracepoint}) {
    EXPECT_FALSE(target.Claims(cap)) << ToString(cap);
  }
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = kSoftware;
    text.replace(text.find(from), from.size(), to);
    return ErrorOf(text);
  };
  EXPECT_THAT(refused("\"page-faults\"", "\"page-fault\""), HasSubstr("must be one of cpu-clock"));
  EXPECT_THAT(refused("\"page_faults\"", "\"port\""), HasSubstr("needs target.port"));
}

constexpr const char* kTracepoints = R"([target]
name = "tracepoint"
match = "tracepoint"
kind = "tracepoint"
[[event]]
name = "syscalls:sys_enter_getppid"
stimulus = "syscalls"
syscall = "getppid"
accuracy = "exact"
[[event]]
name = "syscalls:sys_exit_getppid"
stimulus = "syscalls"
syscall = "getppid"
accuracy = "exact"
[[event]]
name = "syscalls:sys_enter_getuid"
stimulus = "syscalls"
syscall = "getuid"
accuracy = "exact"
)";

TEST(TargetFile, TellsWhichEventsAreIndependent) {
  const Target two = Target::Parse(kTracepoints, "tracepoint.toml");
  EXPECT_TRUE(two.Claims(Cap::kQuietFork));
  EXPECT_FALSE(two.Claims(Cap::kSeveralEvents));
  const std::string third =
      "[[event]]\nname = \"a:b\"\nstimulus = \"syscalls\"\nsyscall = \"getgid\"\n"
      "accuracy = \"exact\"\n";
  EXPECT_TRUE(Target::Parse(kTracepoints + third, "t.toml").Claims(Cap::kSeveralEvents));
  std::string unknown = kTracepoints;
  unknown.replace(unknown.find("\"getuid\""), 8, "\"reboot\"");
  EXPECT_THAT(ErrorOf(unknown), HasSubstr("key 'event.syscall'"));
}

constexpr const char* kCache = R"([[cache]]
name = "LL write miss"
code = 0x1b7
response = 6
counters = "0-1"
accuracy = "exact"
)";

TEST(TargetFile, ClaimsEventsOfTheCacheTable) {
  const Target target = Target::Parse(std::string(kGood) + kCache, "toy.toml");
  EXPECT_TRUE(target.Claims(Cap::kCacheEvents));
  EXPECT_FALSE(Target::Parse(kGood, "toy.toml").Claims(Cap::kCacheEvents));
  const std::vector<EventSpec> events = target.CacheEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, static_cast<std::uint32_t>(PERF_TYPE_HW_CACHE));
  EXPECT_EQ(events[0].config, 0x010102u);
  EXPECT_EQ(events[0].code, 0x1b7);
  EXPECT_EQ(events[0].response, 6u);
  EXPECT_EQ(events[0].counters, 3u);
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = kGood;
    text += kCache;
    text.replace(text.find(from), from.size(), to);
    return ErrorOf(text);
  };
  EXPECT_THAT(refused("LL write miss", "LL write hit"), HasSubstr("key 'cache.name' must be"));
  EXPECT_THAT(refused("code = 0x1b7", "code = 0x10000"), HasSubstr("key 'cache.code'"));
  EXPECT_THAT(ErrorOf(std::string(kGood) + kCache + kCache), HasSubstr("stands twice"));
}

TEST(TargetFile, TellsWhatAnEventTakes) {
  const Target target = Target::Parse(
      With("stimulus = \"port\"", "stimulus = \"port\"\nlatency = 7\nresponse = 5\nwide = true"),
      "toy.toml");
  EXPECT_EQ(target.claims()[0].latency, 7u);
  EXPECT_EQ(target.claims()[0].response, 5u);
  EXPECT_TRUE(target.claims()[0].wide);
  for (const Cap cap : {Cap::kOffCore, Cap::kLoadLatency, Cap::kWide}) {
    EXPECT_TRUE(target.Claims(cap)) << ToString(cap);
    EXPECT_FALSE(Target::Parse(kGood, "toy.toml").Claims(cap)) << ToString(cap);
  }
  EventSpec spec;
  spec.latency = 7;
  spec.response = 5;
  const PulseOptions met = Meeting(spec, {.latency = 9});
  EXPECT_EQ(met.latency, 9u);
  EXPECT_EQ(met.response, 5u);
}

TEST(TargetFile, NamesTheLineOfASyntaxError) {
  EXPECT_THAT(ErrorOf(With("general = 4", "general = = 4")), HasSubstr("toy.toml:7: "));
}

TEST(TargetFile, OfTheReferencePmuIsRight) {
  const Target target = Target::Load(PMUCONF_CONFORMANCE_DIR "/targets/refpmu.toml");
  EXPECT_EQ(target.claims().size(), 17u);
  EXPECT_EQ(target.CacheEvents().size(), 22u);
  // What makes a PMU one of another kind.
  const std::set<Cap> others = {Cap::kSystemWide, Cap::kTrace,    Cap::kTraceExcludes,
                                Cap::kTracePause, Cap::kSoftware, Cap::kTracepoint,
                                Cap::kUserReads};
  for (const Cap cap : AllCaps())
    EXPECT_EQ(target.Claims(cap), !others.contains(cap)) << ToString(cap);
}

TEST(TargetFile, TellKindsOfTheReferencePmuApart) {
  const auto claims = [](const std::string& name, Cap cap) {
    return Target::Load(PMUCONF_CONFORMANCE_DIR "/targets/" + name + ".toml").Claims(cap);
  };
  for (const Cap cap : {Cap::kPrecise, Cap::kBranches, Cap::kOffCore, Cap::kLoadLatency}) {
    EXPECT_TRUE(claims("refpmu_big", cap)) << ToString(cap);
    for (const char* without : {"refpmu_plain", "refpmu_little", "refpmu_uncore"}) {
      EXPECT_FALSE(claims(without, cap)) << without << " " << ToString(cap);
    }
  }
  EXPECT_TRUE(claims("refpmu_plain", Cap::kCounters3));
  EXPECT_FALSE(claims("refpmu_little", Cap::kCounters3));
  EXPECT_TRUE(claims("refpmu_little", Cap::kGroups));
  EXPECT_TRUE(claims("refpmu_uncore", Cap::kSystemWide));
  EXPECT_TRUE(claims("refpmu_uncore_scope", Cap::kSystemWide));
  EXPECT_TRUE(claims("refpmu_trace", Cap::kTrace));
  EXPECT_TRUE(claims("software", Cap::kSoftware));
  EXPECT_TRUE(claims("tracepoint", Cap::kTracepoint));
  EXPECT_TRUE(claims("tracepoint", Cap::kSeveralEvents));
}

TEST(Cap, NamesGoBothWays) {
  for (const Cap cap : AllCaps()) EXPECT_EQ(CapFromString(ToString(cap)), cap);
  EXPECT_EQ(CapFromString("telepathy"), std::nullopt);
}

}  // namespace
}  // namespace pmuconf
