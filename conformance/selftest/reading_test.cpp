// SPDX-License-Identifier: Apache-2.0
// Readings are parsed exactly as read_format defines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/event.h"
#include "perf/matchers.h"
#include "selftest/words.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kAll = kReadTimes | PERF_FORMAT_ID | PERF_FORMAT_LOST;

TEST(Reading, ParsesFieldsInDocumentedOrder) {
  const auto reading = ParseReading(Bytes({1, 2, 3, 4, 5}), kAll);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->value, 1u);
  EXPECT_EQ(reading->time_enabled, 2u);
  EXPECT_EQ(reading->time_running, 3u);
  EXPECT_EQ(reading->id, 4u);
  EXPECT_EQ(reading->lost, 5u);
}

TEST(Reading, OmitsFieldsThatWereNotRequested) {
  const auto reading = ParseReading(Bytes({7, 9}), PERF_FORMAT_ID);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->value, 7u);
  EXPECT_EQ(reading->time_enabled, 0u);
  EXPECT_EQ(reading->id, 9u);
}

TEST(Reading, RejectsWrongSize) {
  EXPECT_FALSE(ParseReading(Bytes({1, 2, 3, 4}), kAll));
  EXPECT_FALSE(ParseReading(Bytes({1, 2, 3, 4, 5, 6}), kAll));
  EXPECT_FALSE(ParseReading({}, 0));
  EXPECT_FALSE(ParseReading(Bytes({1}), PERF_FORMAT_GROUP));
}

TEST(GroupReading, ParsesEveryMember) {
  const auto reading =
      ParseGroupReading(Bytes({2, 10, 11, 100, 1, 0, 200, 2, 5}), kAll | PERF_FORMAT_GROUP);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->time_enabled, 10u);
  EXPECT_EQ(reading->time_running, 11u);
  ASSERT_EQ(reading->entries.size(), 2u);
  EXPECT_EQ(reading->entries[1].value, 200u);
  EXPECT_EQ(reading->entries[1].id, 2u);
  EXPECT_EQ(reading->entries[1].lost, 5u);
}

TEST(GroupReading, RejectsMemberCountBeyondSize) {
  EXPECT_FALSE(ParseGroupReading(Bytes({~0ULL, 1, 2}), PERF_FORMAT_GROUP));
  EXPECT_FALSE(ParseGroupReading(Bytes({1, 1, 2}), PERF_FORMAT_GROUP));
}

TEST(Counted, IsExactUnlessTargetStatesAccuracy) {
  EventSpec spec;
  EXPECT_TRUE(WithinAccuracy(spec, 1000, 1000));
  EXPECT_FALSE(WithinAccuracy(spec, 1000, 1001));
  EXPECT_FALSE(WithinAccuracy(spec, 1000, 999));
  spec.accuracy.abs = 3;
  EXPECT_TRUE(WithinAccuracy(spec, 1000, 1003));
  EXPECT_FALSE(WithinAccuracy(spec, 1000, 996));
  spec.accuracy = {.abs = 0, .rel = 0.02};
  EXPECT_TRUE(WithinAccuracy(spec, 1000, 980));
  EXPECT_FALSE(WithinAccuracy(spec, 1000, 1021));
}

TEST(Counted, EachEventAddsTheStepThatTheTargetStates) {
  EventSpec spec;
  spec.accuracy.step = 2;
  EXPECT_TRUE(spec.accuracy.exact());
  EXPECT_TRUE(WithinAccuracy(spec, 1000, 2000));
  EXPECT_FALSE(WithinAccuracy(spec, 1000, 1000));
  EXPECT_FALSE(WithinAccuracy(spec, 1000, 2001));
}

TEST(Counted, FailureReportsValueAndBounds) {
  EventSpec spec;
  testing::StringMatchResultListener exact;
  EXPECT_FALSE(testing::ExplainMatchResult(Counted(spec, 1000), std::uint64_t{999}, &exact));
  EXPECT_EQ(exact.str(), "counted 999, wanted 1000");
  spec.accuracy.abs = 3;
  testing::StringMatchResultListener bounds;
  EXPECT_FALSE(testing::ExplainMatchResult(Counted(spec, 1000), std::uint64_t{990}, &bounds));
  EXPECT_EQ(bounds.str(), "counted 990, wanted 997 to 1003");
}

TEST(Counted, HandlesLimitsOfRange) {
  EventSpec spec;
  spec.accuracy.abs = 10;
  EXPECT_TRUE(WithinAccuracy(spec, 3, 0));
  EXPECT_TRUE(WithinAccuracy(spec, ~0ULL, ~0ULL));
}

TEST(FailsWith, NamesErrnos) {
  EXPECT_EQ(ErrnoName(EINVAL), "EINVAL");
  EXPECT_EQ(ErrnoName(9999), "errno 9999");
  EXPECT_THAT((SysResult{-1, EBUSY}), FailsWith(EBUSY));
  EXPECT_THAT((SysResult{-1, EBUSY}), testing::Not(FailsWith(EINVAL)));
  EXPECT_THAT((SysResult{0, 0}), testing::Not(FailsWith(EINVAL)));
}

TEST(Describe, ShowsFieldsThatAreNotZero) {
  perf_event_attr attr = {};
  attr.type = 17;
  attr.config = 0x1d0;
  attr.sample_period = 1000;
  attr.disabled = 1;
  EXPECT_EQ(Describe(attr), "type=17 config=0x1d0 sample_period=1000 disabled");
}

TEST(MakeAttr, OpensDisabledWithBothTimes) {
  EventSpec spec;
  spec.type = 9;
  const perf_event_attr attr = MakeAttr(spec, {.sample_freq = 50, .wakeup_watermark = 64});
  EXPECT_EQ(attr.type, 9u);
  EXPECT_TRUE(attr.disabled);
  EXPECT_TRUE(attr.freq);
  EXPECT_EQ(attr.sample_freq, 50u);
  EXPECT_TRUE(attr.watermark);
  EXPECT_EQ(attr.read_format, kReadTimes);
}

}  // namespace
}  // namespace pmuconf
