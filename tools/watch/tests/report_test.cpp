// SPDX-License-Identifier: Apache-2.0
// The report of a watch.
#include "tools/watch/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Not;

WatchedCalls Calls(const std::string& name,
                   const std::vector<std::pair<int, std::uint64_t>>& buckets) {
  WatchedCalls calls;
  calls.name = name;
  calls.function = "driver_" + name;
  for (const auto& [bucket, n] : buckets) {
    calls.buckets[static_cast<std::size_t>(bucket)] = n;
    calls.calls += n;
    calls.longest = std::uint64_t{1} << bucket;
    calls.total += n << bucket;
  }
  return calls;
}

WatchedBreach Breach() {
  WatchedBreach breach;
  breach.name = "stop-running";
  breach.rule = "DRC-052";
  breach.text = "stop did not set STOPPED";
  breach.times = 2;
  breach.callback = "stop";
  breach.values = "hw.state: expected 1, found 0";
  breach.type = 11;
  breach.config = 0x1d0;
  breach.flags = 4;
  breach.cpu = 1;
  breach.pid = 77;
  breach.command = "workload";
  return breach;
}

TEST(Watch, DurationsHaveSuitableUnits) {
  EXPECT_EQ(Duration(0), "0 ns");
  EXPECT_EQ(Duration(999), "999 ns");
  EXPECT_EQ(Duration(1'300), "1.3 us");
  EXPECT_EQ(Duration(2'500'000), "2.5 ms");
  EXPECT_EQ(Duration(7'000'000'000), "7.0 s");
}

TEST(Watch, QuantilesComeFromHistogram) {
  const WatchedCalls calls = Calls("add", {{8, 60}, {10, 38}, {20, 2}});
  EXPECT_EQ(Below(calls, 0.5), 256u);
  EXPECT_EQ(Below(calls, 0.61), 1024u);
  EXPECT_EQ(Below(calls, 0.99), 1u << 20);
  EXPECT_EQ(Below(calls, 1.0), 1u << 20);
  EXPECT_EQ(Below(WatchedCalls(), 0.5), 0u);
}

TEST(Watch, CallbackLineHasHistogram) {
  Watched watched;
  watched.pmu = "refpmu";
  watched.calls = {Calls("add", {{8, 7}, {10, 70}}), Calls("del", {})};
  const std::string text = WatchText(watched);
  EXPECT_THAT(text, HasSubstr("add                  77    1.0 us   1.0 us   1.0 us   ▁ █"));
  EXPECT_THAT(text, HasSubstr("driver_add\n"));
  EXPECT_THAT(text, HasSubstr("driver_del\n"));
  EXPECT_THAT(text, HasSubstr("no breach of the driver contract was seen\n"));
}

TEST(Watch, UnwatchedCallbackHasReason) {
  Watched watched;
  watched.calls = {Calls("read", {})};
  watched.calls[0].unwatched = "no kprobe: Invalid argument";
  EXPECT_THAT(WatchText(watched), HasSubstr("read         not watched: no kprobe: Invalid"));
}

TEST(Watch, UnsupportedChecksAreReported) {
  Watched watched;
  EXPECT_THAT(WatchText(watched), Not(HasSubstr("not judged")));
  watched.unjudged = "this and that";
  EXPECT_THAT(WatchText(watched), HasSubstr("\nnot judged: this and that\nno breach"));
  EXPECT_EQ(nlohmann::json::parse(WatchJson(watched))["unjudged"], "this and that");
}

TEST(Watch, BreachNamesRulePlaceAndValues) {
  Watched watched;
  watched.breaches = {Breach()};
  const std::string text = WatchText(watched);
  EXPECT_THAT(text, HasSubstr("BREACH  DRC-052 stop-running: stop did not set STOPPED, 2 times\n"
                              "    first in stop (flags 0x4) on CPU 1, in process 77 (workload), "
                              "event type 11 config 0x1d0; hw.state: expected 1, found 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("no breach")));
}

TEST(Watch, JsonHasSameResults) {
  Watched watched;
  watched.pmu = "refpmu";
  watched.seconds = 1.5;
  watched.calls = {Calls("add", {{8, 7}})};
  watched.breaches = {Breach()};
  const auto json = nlohmann::json::parse(WatchJson(watched));
  EXPECT_EQ(json["pmu"], "refpmu");
  EXPECT_EQ(json["calls"][0]["calls"], 7);
  EXPECT_EQ(json["calls"][0]["below_power_of_2_ns"][8], 7);
  EXPECT_EQ(json["breaches"][0]["rule"], "DRC-052");
  EXPECT_EQ(json["breaches"][0]["times"], 2);
}

TEST(Watch, CheckPassesOnlyIfItsCallsHappened) {
  Watched watched;
  watched.calls = {Calls("add", {{8, 7}}), Calls("del", {{8, 6}}), Calls("stop", {})};
  watched.breaches = {Breach()};
  std::map<std::string, WatchedCheck> checks;
  for (const WatchedCheck& check : Checks(watched)) checks[check.name] = check;
  EXPECT_EQ(checks.at("add-running").message, "no breach in 7 calls");
  EXPECT_EQ(checks.at("add-running").rule, "DRC-047");
  EXPECT_TRUE(checks.at("pmu-on").passed);
  EXPECT_EQ(checks.at("pmu-on").message, "no breach in 13 calls");
  EXPECT_FALSE(checks.at("stop-running").passed);
  EXPECT_THAT(checks.at("stop-running").message, HasSubstr("BREACH  DRC-052 stop-running: "));
  EXPECT_FALSE(checks.contains("stop-stale"));  // no call of stop
  watched.unjudged = "whether the PMU is disabled";
  checks.clear();
  for (const WatchedCheck& check : Checks(watched)) checks[check.name] = check;
  EXPECT_FALSE(checks.contains("pmu-on"));
}

TEST(Watch, JsonStatesTheMachineAndTheChecksAsTestsOfRules) {
  Watched watched;
  watched.pmu = "refpmu";
  watched.release = "6.12.1";
  watched.arch = "x86_64";
  watched.calls = {Calls("start_txn", {{8, 7}})};
  const auto json = nlohmann::json::parse(WatchJson(watched));
  EXPECT_EQ(json["layer"], "watch");
  EXPECT_EQ(json["release"], "6.12.1");
  EXPECT_EQ(json["arch"], "x86_64");
  EXPECT_EQ(json["cases"], nlohmann::json::parse(R"([{"id": "watch.txn-nested", "result": "PASS",
            "message": "no breach in 7 calls", "rules": ["DRC-082"]}])"));
}

}  // namespace
}  // namespace pmuconf
