// SPDX-License-Identifier: Apache-2.0
// The sysfs parsers follow the kernel's ABI documents.
#include "system/sysfs.h"

#include <gtest/gtest.h>

#include "harness/kmsg.h"

namespace pmuconf {
namespace {

TEST(ParseFormat, EncodesValueIntoItsBits) {
  const auto field = ParseFormat("config1:0-7,32-35");
  ASSERT_TRUE(field);
  EXPECT_EQ(field->config, 1);
  EXPECT_EQ(field->width(), 12);
  EXPECT_EQ(field->Encode(0xabc), 0xa'0000'00bcULL);
  EXPECT_FALSE(field->Encode(0x1000));
}

TEST(ParseFormat, AcceptsOneBitAndAllBits) {
  EXPECT_EQ(ParseFormat("config:63")->Encode(1), 1ULL << 63);
  EXPECT_EQ(ParseFormat("config2:0-63")->Encode(~0ULL), ~0ULL);
}

TEST(ParseFormat, AcceptsRangesInAnyOrder) {
  const auto field = ParseFormat("config:32-35,0-7");
  ASSERT_TRUE(field);
  EXPECT_EQ(field->Encode(0xabc), 0xa'0000'00bcULL);
}

TEST(ParseFormat, RejectsInvalidFormats) {
  for (const char* text :
       {"", "config", "config:", "config:a", "config:3-1", "config:0-64", "config5:0", "configs:0",
        "foo:0-7", "config:0-63,0-63", "config:0-3,2", "config:8,0-8"}) {
    EXPECT_FALSE(ParseFormat(text)) << text;
  }
}

TEST(ParseTerms, ParsesHexDecimalAndBareNames) {
  EXPECT_EQ(*ParseTerms("event=0x3c,umask=1,any"),
            (Terms{{"event", 0x3c}, {"umask", 1}, {"any", 1}}));
}

TEST(ParseFormat, AcceptsEachWordOfTheAttr) {
  EXPECT_EQ(ParseFormat("config3:0-7")->config, 3);
  EXPECT_EQ(ParseFormat("config4:1,6-10,44")->config, 4);
}

TEST(ParseTerms, GivesParametersOfTheUserTheValueZero) {
  EXPECT_EQ(*ParseTerms("domain=0x1,core=?"), (Terms{{"domain", 1}, {"core", 0}}));
  EXPECT_FALSE(ParseTerms("core=??"));
}

TEST(ParseTerms, RejectsInvalidTerms) {
  for (const char* text : {"", "=1", "event=", "event=0x", "event=1x", "event=1,,any"}) {
    EXPECT_FALSE(ParseTerms(text)) << text;
  }
}

TEST(EncodeTerms, AcceptsWordsOfTheAttrWithoutFormat) {
  const auto configs = EncodeTerms({{"config", 0x80}, {"config1", ~0ULL}, {"config4", 2}}, {});
  ASSERT_TRUE(configs);
  EXPECT_EQ(configs->config, 0x80u);
  EXPECT_EQ(configs->config1, ~0ULL);
  EXPECT_EQ(configs->config4, 2u);
  EXPECT_FALSE(EncodeTerms({{"config5", 1}}, {}));
}

TEST(EncodeTerms, PrefersDeclaredFormatToWordOfTheAttr) {
  const auto configs = EncodeTerms({{"config", 1}}, {{"config", *ParseFormat("config2:4-7")}});
  ASSERT_TRUE(configs);
  EXPECT_EQ(configs->config, 0u);
  EXPECT_EQ(configs->config2, 0x10u);
}

TEST(EncodeTerms, CombinesTerms) {
  const std::map<std::string, FormatField> formats = {{"event", *ParseFormat("config:0-7")},
                                                      {"umask", *ParseFormat("config:8-15")},
                                                      {"extra", *ParseFormat("config1:0-63")}};
  const auto configs = EncodeTerms({{"event", 0xd0}, {"umask", 1}, {"extra", 5}}, formats);
  ASSERT_TRUE(configs);
  EXPECT_EQ(configs->config, 0x1d0u);
  EXPECT_EQ(configs->config1, 5u);
  EXPECT_FALSE(EncodeTerms({{"unknown", 1}}, formats));
  EXPECT_FALSE(EncodeTerms({{"event", 0x100}}, formats));
}

TEST(ParseCpuList, ParsesRanges) {
  EXPECT_EQ(*ParseCpuList("0-2,7"), (std::vector<int>{0, 1, 2, 7}));
  EXPECT_EQ(*ParseCpuList("7,0-2"), (std::vector<int>{0, 1, 2, 7}));
  EXPECT_TRUE(ParseCpuList("")->empty());
  for (const char* text : {"x", "2-1", "0-", "-1", "0-99999999", "0,0", "0-2,1", "0-65535,0"}) {
    EXPECT_FALSE(ParseCpuList(text)) << text;
  }
}

TEST(Kmsg, ReturnsTextOfRecord) {
  EXPECT_EQ(KmsgText("4,1075,5000,-;WARNING: CPU: 0 PID: 1\n SUBSYSTEM=cpu\n"),
            "WARNING: CPU: 0 PID: 1");
}

TEST(Kmsg, FindsReports) {
  const std::vector<std::string> bad = {
      "WARNING: CPU: 1 PID: 99 at kernel/events/core.c:1 perf_foo+0x1/0x2",
      "BUG: kernel NULL pointer dereference, address: 0000000000000008",
      "Oops: 0000 [#1] PREEMPT SMP",
      "watchdog: BUG: soft lockup - CPU#0 stuck for 26s!",
      "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
      "INFO: possible recursive locking detected",
      "Uhhuh. NMI received for unknown reason 2c on CPU 0.",
      "general protection fault, probably for non-canonical address",
      "INFO: task pmuconf:12 blocked for more than 120 seconds."};
  EXPECT_EQ(FindReports(bad), bad);
}

TEST(Kmsg, IgnoresOrdinaryLines) {
  EXPECT_TRUE(FindReports({"refpmu: loading out-of-tree module taints kernel.",
                           "perf: Dynamic interrupt throttling disabled, can hang your system!",
                           "traps: sh[71] general protection fault ip:ad6422 sp:7ffd22 error:402",
                           "Spectre V2 : WARNING: Unprivileged eBPF is enabled",
                           "clocksource: tsc: mask", "refpmu: 4 general, 3 fixed counters"})
                  .empty());
}

}  // namespace
}  // namespace pmuconf
