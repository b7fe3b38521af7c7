// SPDX-License-Identifier: Apache-2.0
// The parser of target files is strict, and its errors name file, line and key.
// Longer than 500 lines: each key of a target file has its tests here.
#include "target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "arch/arch.h"

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

TEST(TargetFile, FixedCountersCanHaveAnotherWidth) {
  EventSpec fixed, either;
  fixed.counters = 1ULL << 32;
  either.counters = 1ULL << 32 | 1;
  const Target same = Target::Parse(kGood, "toy.toml");
  EXPECT_EQ(same.width(fixed), 48u);
  const Target wider = Target::Parse(With("fixed = 3", "fixed = 3\nfixed_width = 64"), "toy.toml");
  EXPECT_EQ(wider.width(fixed), 64u);
  EXPECT_EQ(wider.counter_mask(fixed), ~0ULL);
  EXPECT_EQ(wider.width(either), 48u);
}

TEST(TargetFile, EventThatThePortCannotCauseIsLeftOut) {
  const std::string text = With("stimulus = \"clock\"\nticks = 2\n", "");
  EXPECT_FALSE(Target::Parse(text, "toy.toml").Claims(Cap::kFixedCounters));
}

TEST(TargetFile, RefusalsCanDependOnMachine) {
  const auto on = [](std::string_view machine) {
    const std::string text = "{ " + std::string(machine) + " = \"EINVAL\" }";
    return Target::Parse(With("\"EOPNOTSUPP\"", text), "toy.toml").refusal("branch");
  };
  const bool x86 = processor::kMachine == "x86_64";
  EXPECT_EQ(on(processor::kMachine), EINVAL);
  EXPECT_EQ(on(x86 ? "aarch64" : "x86_64"), std::nullopt);
}

TEST(TargetFile, ClaimsCapabilities) {
  const Target target = Target::Parse(kGood, "toy.toml");
  for (const Cap cap :
       {Cap::kStimulus, Cap::kSampling, Cap::kManualClock, Cap::kFixedCounters, Cap::kConstraints,
        Cap::kGenericEvents, Cap::kGroups, Cap::kCounters3, Cap::kPrecise, Cap::kBranches}) {
    EXPECT_TRUE(target.Claims(cap)) << ToString(cap);
  }
  EXPECT_FALSE(target.Claims(Cap::kFrequency));
  EXPECT_FALSE(target.Claims(Cap::kExcludes));
}

TEST(TargetFile, StatesHowCountersAreReadAndShared) {
  const Target plain = Target::Parse(kGood, "toy.toml");
  EXPECT_FALSE(plain.Claims(Cap::kPolled));
  EXPECT_TRUE(plain.Claims(Cap::kOwnCounters));
  const Target polled = Target::Parse(With("width = 48", "width = 48\nread_by = \"timer\""), "");
  EXPECT_TRUE(polled.Claims(Cap::kPolled));
  const Target shared = Target::Parse(With("[features]", "[features]\nshared_counters = true"), "");
  EXPECT_FALSE(shared.Claims(Cap::kOwnCounters));
  EXPECT_THAT(ErrorOf(With("width = 48", "width = 48\nread_by = \"poll\"")),
              HasSubstr("key 'counters.read_by' must be interrupt, timer or nothing"));
}

TEST(TargetFile, CanClaimThatGroupsAreRefused) {
  const Target single = Target::Parse(With("[features]", "[features]\ngroups = false"), "toy.toml");
  EXPECT_EQ(single.general(), 4u);
  EXPECT_FALSE(single.Claims(Cap::kGroups));
  EXPECT_FALSE(single.Claims(Cap::kCounters3));
}

TEST(TargetFile, MayAcceptFindingsOfTheSourceReview) {
  const std::string accepted = "[[review]]\ncheck = \"identifier\"\nreason = \"One version.\"\n";
  EXPECT_EQ(Target::Parse(kGood + accepted, "toy.toml").general(), 4u);
  EXPECT_THAT(ErrorOf(kGood + std::string("[[review]]\ncheck = \"identifier\"\n")),
              HasSubstr("review.reason"));
  EXPECT_THAT(ErrorOf(kGood + accepted + "rule = 1\n"), HasSubstr("review.rule' is unknown"));
}

TEST(TargetFile, ErrorIsOneLine) {
  EXPECT_EQ(ErrorOf("\"a\\nb\" = 1\n").substr(0, 16), "toy.toml:1: key ");
  EXPECT_THAT(ErrorOf(With("name = \"toy\"", "name = \"toy\"\n\"a\\nb\" = 1")),
              HasSubstr("toy.toml:3: key 'target.a?b' is unknown"));
}

TEST(TargetFile, SlownessAndAccuracyAreNumbers) {
  EXPECT_THAT(ErrorOf(With("kind = \"core\"", "kind = \"core\"\nslowness = inf")),
              HasSubstr("key 'target.slowness' must be a number that is not negative"));
  EXPECT_THAT(ErrorOf(With("{ abs = 3 }", "{ rel = inf }")),
              HasSubstr("'event.accuracy.rel' must be a number that is not negative"));
}

TEST(TargetFile, NonAsciiIsAllowedInStringsAndCommentsOnly) {
  EXPECT_EQ(ErrorOf(With("[sampling]", "# \u00e4 'x\n[sampling]")), "no error");
  EXPECT_EQ(Target::Parse(With("\"toy*\"", "'t\u00e4\"y'"), "toy.toml").match(), "t\u00e4\"y");
  EXPECT_EQ(Target::Parse(With("\"toy*\"", "\"\"\"\\\"\"\u00e4\"\"\"\"\""), "toy.toml").match(),
            "\"\"\u00e4\"\"");
  EXPECT_EQ(ErrorOf(With("width = 48", "width = 48 \u00e4")),
            "toy.toml:9: only strings and comments may have characters beyond ASCII");
}

TEST(TargetFile, ErrorNamesFileLineAndKey) {
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
  EXPECT_THAT(ErrorOf(With("\"EOPNOTSUPP\"", "{ arm64 = \"EINVAL\" }")),
              HasSubstr("toy.toml:16: key 'refusals.branch.arm64' must be a machine"));
  EXPECT_THAT(ErrorOf(With("\"EOPNOTSUPP\"", "{ aarch64 = \"ENOSUCH\" }")),
              HasSubstr("toy.toml:16: key 'refusals.branch.aarch64' must be the name of an errno"));
  EXPECT_THAT(ErrorOf(With("[refusals]", "[vm]\nicount = 0\n[refusals]")),
              HasSubstr("key 'vm.icount' must be an integer from 1 to 10"));
  EXPECT_THAT(ErrorOf(With("\"cpu-cycles\"", "\"cpu\"")), HasSubstr("key 'event.generic'"));
  EXPECT_THAT(ErrorOf(With("{ abs = 3 }", "\"about\"")), HasSubstr("key 'event.accuracy'"));
  EXPECT_THAT(ErrorOf(With("name = \"c\"", "name = \"a\"")), HasSubstr("'a' is defined twice"));
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

TEST(TargetFile, SoftwareNeedsNoCounters) {
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

TEST(TargetFile, CountersThatLimitNoEventsMayHaveAWidth) {
  const std::string head = "[target]\nname = \"free\"\nmatch = \"free\"\nkind = \"uncore\"\n";
  const std::string event = "[[event]]\nname = \"energy\"\naccuracy = { step = 2 }\n";
  const std::string counters = "[counters]\ngeneral = 0\nread_by = \"timer\"\n";
  const Target target = Target::Parse(head + counters + "width = 32\n" + event, "free.toml");
  EXPECT_EQ(target.width(), 32u);
  EXPECT_TRUE(target.Claims(Cap::kPolled));
  EXPECT_FALSE(target.Claims(Cap::kCounters));
  EXPECT_EQ(target.claims().at(0).accuracy.step, 2u);
}

constexpr const char* kWithoutPort = R"([target]
name = "core"
match = "core"
kind = "core"
[counters]
general = 6
fixed = 1
width = 32
[[event]]
name = "cycles"
counters = "all,f0"
generic = "cpu-cycles"
accuracy = "exact"
[[event]]
name = "increments"
code = 0
stimulus = "increments"
counters = "all"
accuracy = "exact"
)";

TEST(TargetFile, EventsWithStimulusExcludeOthers) {
  const Target target = Target::Parse(kWithoutPort, "core.toml");
  for (const Cap cap : {Cap::kStimulus, Cap::kCounters, Cap::kQuietFork, Cap::kGroups}) {
    EXPECT_TRUE(target.Claims(cap)) << ToString(cap);
  }
  for (const Cap cap : {Cap::kPort, Cap::kFixedCounters, Cap::kGenericEvents}) {
    EXPECT_FALSE(target.Claims(cap)) << ToString(cap);
  }
  std::string text = kWithoutPort;
  text.replace(text.find("stimulus = \"increments\""), 23, "");
  const Target idle = Target::Parse(text, "core.toml");
  EXPECT_FALSE(idle.Claims(Cap::kStimulus));
  EXPECT_TRUE(idle.Claims(Cap::kFixedCounters));
  EXPECT_TRUE(idle.Claims(Cap::kGenericEvents));
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

TEST(TargetFile, SeparatesIndependentEvents) {
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

TEST(TargetFile, SystemCallIsNotTheCodeOfTheEvent) {
  const std::string sysfs =
      "[target]\nname = \"core\"\nmatch = \"core\"\nkind = \"core\"\n"
      "[counters]\ngeneral = 4\nwidth = 64\n"
      "[[event]]\nname = \"calls\"\ncounters = \"all\"\naccuracy = \"exact\"\n"
      "stimulus = \"syscalls\"\nsyscall = \"getuid\"\n";
  const Target named = Target::Parse(sysfs, "core.toml");
  EXPECT_EQ(named.claims()[0].syscall, SYS_getuid);
  EXPECT_EQ(named.claims()[0].code, std::nullopt) << "sysfs states it";
  const Target numbered = Target::Parse(sysfs + "code = 7\n", "core.toml");
  EXPECT_EQ(numbered.claims()[0].syscall, SYS_getuid);
  EXPECT_EQ(numbered.claims()[0].code, 7u);
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
  EXPECT_EQ(events[0].code, 0x1b7u);
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
  EXPECT_THAT(ErrorOf(std::string(kGood) + kCache + kCache), HasSubstr("is defined twice"));
}

TEST(TargetFile, ReadsRequirementsOfEvent) {
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
  const PulseOptions met = WithRequirements(spec, {.latency = 9});
  EXPECT_EQ(met.latency, 9u);
  EXPECT_EQ(met.response, 5u);
}

// Parses a target with these possible bases: "a" (kGood), "b" (based on a), and "loop" (based on
// itself, through "back").
Target Built(const std::string& text) {
  static const std::map<std::string, std::string> kFiles = {
      {"a", kGood},
      {"b", "base = \"a\"\n[target]\nname = \"b\"\n[counters]\nfixed = 1\n"},
      {"loop", "base = \"back\"\n[target]\nname = \"loop\"\n"},
      {"back", "base = \"loop\"\n[target]\nname = \"back\"\n"},
      {"bad", "[target]\nname = \"bad\"\nmatch = 3\n"},
  };
  return Target::Parse(text, "toy.toml", [](const std::string& name, const std::string&) {
    const auto file = kFiles.find(name);
    return file == kFiles.end() ? std::nullopt
                                : std::optional(TargetText{name + ".toml", file->second});
  });
}

std::string ErrorOfBuilt(const std::string& text) {
  try {
    Built(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

constexpr const char* kNamed = "[target]\nname = \"toy2\"\n";

TEST(TargetFile, InheritsClaimsOfBase) {
  const Target target = Built(std::string("base = \"b\"\n") + kNamed +
                              "[[event]]\nname = \"new\"\ncounters = \"all\"\naccuracy = "
                              "\"exact\"\n[[event]]\nname = \"c\"\ncounters = \"all,f0\"\n"
                              "accuracy = { rel = 0.5 }\n");
  EXPECT_EQ(target.name(), "toy2");
  EXPECT_EQ(target.match(), "toy*");
  EXPECT_EQ(target.general(), 4u);
  EXPECT_EQ(target.fixed(), 1u);  // from b
  ASSERT_EQ(target.claims().size(), 3u);
  EXPECT_EQ(target.claims()[0].name, "a");
  EXPECT_EQ(target.claims()[1].name, "c");
  EXPECT_EQ(target.claims()[1].ticks, 2u);  // from a
  EXPECT_EQ(target.claims()[1].counters, 0b1111ULL | 1ULL << 32);
  EXPECT_EQ(target.claims()[1].accuracy.abs, 0u);  // replaced, not merged
  EXPECT_EQ(target.claims()[1].accuracy.rel, 0.5);
  EXPECT_EQ(target.claims()[2].name, "new");
}

TEST(TargetFile, CanRemoveClaimsOfBase) {
  const Target target =
      Built(std::string("base = \"a\"\n"
                        "without = [\"sampling\", \"features.precise\", \"event.[b-d]\"]\n") +
            kNamed);
  EXPECT_FALSE(target.Claims(Cap::kSampling));
  EXPECT_EQ(target.precise(), 0u);
  EXPECT_EQ(target.branches(), 16u);
  EXPECT_EQ(target.claims().size(), 1u);
  // An empty list counts as absent.
  EXPECT_THAT(ErrorOfBuilt(std::string("base = \"a\"\nwithout = [\"event.*\"]\n") + kNamed),
              HasSubstr("key 'event' is missing"));
}

TEST(TargetFile, ErrorInBaseNamesFileAndKey) {
  const std::string on_a = "base = \"a\"\n";
  EXPECT_THAT(ErrorOfBuilt(on_a), HasSubstr("key 'target.name' is missing"));
  EXPECT_THAT(ErrorOfBuilt(std::string("base = \"x\"\n") + kNamed),
              HasSubstr("toy.toml:1: key 'base' must be a target beside this one"));
  EXPECT_THAT(ErrorOfBuilt(std::string("base = 3\n") + kNamed),
              HasSubstr("toy.toml:1: key 'base' must be a string"));
  EXPECT_EQ(ErrorOfBuilt(std::string("base = \"loop\"\n") + kNamed),
            "back.toml:1: key 'base' leads back to where it came from: toy.toml, loop.toml, "
            "back.toml, loop.toml");
  EXPECT_THAT(ErrorOfBuilt(std::string("base = \"bad\"\n") + kNamed),
              HasSubstr("bad.toml:3: key 'target.match' must be a string"));
  EXPECT_THAT(ErrorOfBuilt(on_a + kNamed + "[counters]\nwidth = 1\n"),
              HasSubstr("toy.toml:5: key 'counters.width' must be"));
  EXPECT_THAT(ErrorOfBuilt(on_a + kNamed + "[[event]]\nname = \"a\"\n[[event]]\nname = \"a\"\n"),
              HasSubstr("key 'event."));
  for (const char* what : {"x", "features.x", "event.x*", "name.x", "target.match", "vm"}) {
    EXPECT_THAT(ErrorOfBuilt(on_a + "without = [\"" + what + "\"]\n" + kNamed),
                HasSubstr(std::string("toy.toml:2: key 'without' cannot take '") + what + "' out"));
  }
  // The port can be removed, together with the events that it generates.
  EXPECT_THAT(ErrorOfBuilt(on_a + "without = [\"target.port\"]\n" + kNamed),
              HasSubstr("a.toml:19: key 'event.stimulus' needs target.port"));
  EXPECT_THAT(ErrorOf(std::string("without = [\"event.a\"]\n") + kGood),
              HasSubstr("toy.toml:1: key 'without' needs a 'base'"));
}

TEST(TargetFile, SyntaxErrorNamesLine) {
  EXPECT_THAT(ErrorOf(With("general = 4", "general = = 4")), HasSubstr("toy.toml:7: "));
}

TEST(TargetFile, ReferencePmuFileIsValid) {
  const Target target = Target::Load(PMUCONF_CONFORMANCE_DIR "/targets/refpmu.toml");
  EXPECT_EQ(target.claims().size(), 17u);
  EXPECT_EQ(target.CacheEvents().size(), 22u);
  // Capabilities of other kinds of PMUs.
  const std::set<Cap> others = {Cap::kSystemWide, Cap::kTrace,    Cap::kTraceExcludes,
                                Cap::kTracePause, Cap::kSoftware, Cap::kTracepoint,
                                Cap::kUserReads,  Cap::kPolled};
  for (const Cap cap : AllCaps())
    EXPECT_EQ(target.Claims(cap), !others.contains(cap)) << ToString(cap);
}

TEST(TargetFile, ReferencePmuFilesDifferByKind) {
  const auto claims = [](const std::string& name, Cap cap) {
    return Target::Load(PMUCONF_CONFORMANCE_DIR "/targets/" + name + ".toml").Claims(cap);
  };
  for (const Cap cap : {Cap::kPrecise, Cap::kBranches, Cap::kOffCore, Cap::kLoadLatency}) {
    EXPECT_TRUE(claims("refpmu_big", cap)) << ToString(cap);
    for (const char* without : {"refpmu_plain", "refpmu_little", "refpmu_uncore"}) {
      EXPECT_FALSE(claims(without, cap)) << without << " " << ToString(cap);
    }
  }
  EXPECT_TRUE(claims("refpmu_irq_work", Cap::kPrecise));
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

TEST(Cap, NamesParseToTheirCapability) {
  for (const Cap cap : AllCaps()) EXPECT_EQ(CapFromString(ToString(cap)), cap);
  EXPECT_EQ(CapFromString("telepathy"), std::nullopt);
}

}  // namespace
}  // namespace pmuconf
