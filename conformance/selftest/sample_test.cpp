// SPDX-License-Identifier: Apache-2.0
// Records are parsed by their attr, and a body that does not match it is rejected.
#include "perf/sample.h"

#include <gtest/gtest.h>

#include "perf/ring.h"
#include "selftest/words.h"

namespace pmuconf {
namespace {

perf_event_attr AttrOf(std::uint64_t sample_type) {
  perf_event_attr attr = {};
  attr.sample_type = sample_type;
  return attr;
}

Record SampleOf(std::initializer_list<std::uint64_t> words) {
  return {PERF_RECORD_SAMPLE, 2, Bytes(words)};
}

TEST(ParseSample, ParsesFixedFieldsInOrder) {
  const auto sample =
      ParseSample(SampleOf({1, 2, Pair(3, 4), 5, 6, 7, 8, Pair(9, 0), 10}),
                  AttrOf(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                         PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                         PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD));
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->misc, 2u);
  EXPECT_EQ(sample->identifier, 1u);
  EXPECT_EQ(sample->ip, 2u);
  EXPECT_EQ(sample->pid, 3u);
  EXPECT_EQ(sample->tid, 4u);
  EXPECT_EQ(sample->time, 5u);
  EXPECT_EQ(sample->addr, 6u);
  EXPECT_EQ(sample->id, 7u);
  EXPECT_EQ(sample->stream_id, 8u);
  EXPECT_EQ(sample->cpu, 9u);
  EXPECT_EQ(sample->period, 10u);
  EXPECT_FALSE(sample->callchain);
}

TEST(ParseSample, ParsesReadCallchainRawAndBranches) {
  perf_event_attr attr =
      AttrOf(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK);
  attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  const auto sample =
      ParseSample(SampleOf({1, 50, 60, 2, 0x1000, 0x2000, Pair(4, 0xabcd), 1, 5, 6, 0}), attr);
  ASSERT_TRUE(sample);
  ASSERT_TRUE(sample->read_group);
  EXPECT_EQ(sample->read_group->entries.front().value, 50u);
  EXPECT_EQ(*sample->callchain, (std::vector<std::uint64_t>{0x1000, 0x2000}));
  EXPECT_EQ(sample->raw->size(), 4u);
  ASSERT_EQ(sample->branches->size(), 1u);
  EXPECT_EQ(sample->branches->front().from, 5u);
}

TEST(ParseSample, ParsesRegistersAndStack) {
  perf_event_attr attr =
      AttrOf(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR);
  attr.sample_regs_user = 0b101;
  attr.sample_regs_intr = 0b1;
  const auto sample = ParseSample(SampleOf({2, 11, 12, 16, 0, 0, 8, 0}), attr);
  ASSERT_TRUE(sample);
  EXPECT_EQ(*sample->regs_user, (std::vector<std::uint64_t>{11, 12}));
  EXPECT_EQ(sample->stack_user->size(), 8u);
  EXPECT_EQ(sample->regs_intr_abi, 0u);
  EXPECT_TRUE(sample->regs_intr->empty());
}

TEST(ParseSample, RejectsWrongSizeOfRecord) {
  const perf_event_attr attr = AttrOf(PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
  EXPECT_TRUE(ParseSample(SampleOf({1, 2}), attr));
  EXPECT_FALSE(ParseSample(SampleOf({1}), attr));
  EXPECT_FALSE(ParseSample(SampleOf({1, 2, 3}), attr));
}

TEST(ParseSample, RejectsCountsBeyondSize) {
  EXPECT_FALSE(ParseSample(SampleOf({~0ULL, 1}), AttrOf(PERF_SAMPLE_CALLCHAIN)));
  EXPECT_FALSE(ParseSample(SampleOf({1ULL << 61, 1}), AttrOf(PERF_SAMPLE_CALLCHAIN)));
  EXPECT_FALSE(ParseSample(SampleOf({~0ULL, 1}), AttrOf(PERF_SAMPLE_BRANCH_STACK)));
  EXPECT_FALSE(ParseSample(SampleOf({Pair(~0U, 0)}), AttrOf(PERF_SAMPLE_RAW)));
  EXPECT_FALSE(ParseSample(SampleOf({~0ULL, 1}), AttrOf(PERF_SAMPLE_STACK_USER)));
}

TEST(ParseSample, RejectsOtherRecords) {
  EXPECT_FALSE(ParseSample({PERF_RECORD_LOST, 0, Bytes({1})}, AttrOf(PERF_SAMPLE_IP)));
}

TEST(ParseLost, ParsesTrailer) {
  perf_event_attr attr = AttrOf(PERF_SAMPLE_TID | PERF_SAMPLE_CPU);
  attr.sample_id_all = 1;
  const auto lost = ParseLost({PERF_RECORD_LOST, 0, Bytes({5, 3, Pair(1, 2), Pair(1, 0)})}, attr);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->id, 5u);
  EXPECT_EQ(lost->lost, 3u);
  EXPECT_EQ(lost->trailer.tid, 2u);
  EXPECT_EQ(lost->trailer.cpu, 1u);
  EXPECT_FALSE(ParseLost({PERF_RECORD_LOST, 0, Bytes({5, 3})}, attr));
}

TEST(ParseThrottle, SeparatesThrottleFromUnthrottle) {
  const perf_event_attr attr = AttrOf(0);
  EXPECT_TRUE(ParseThrottle({PERF_RECORD_THROTTLE, 0, Bytes({1, 2, 3})}, attr)->throttle);
  EXPECT_FALSE(ParseThrottle({PERF_RECORD_UNTHROTTLE, 0, Bytes({1, 2, 3})}, attr)->throttle);
  EXPECT_FALSE(ParseThrottle({PERF_RECORD_THROTTLE, 0, Bytes({1, 2})}, attr));
}

TEST(ParseReadRecord, ParsesReading) {
  perf_event_attr attr = AttrOf(0);
  attr.read_format = kReadTimes;
  const auto read = ParseReadRecord({PERF_RECORD_READ, 0, Bytes({Pair(8, 9), 100, 2, 1})}, attr);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tid, 9u);
  EXPECT_EQ(read->read->value, 100u);
}

TEST(ParseDeferred, ParsesAddressesAndTrailer) {
  perf_event_attr attr = AttrOf(PERF_SAMPLE_TID);
  attr.sample_id_all = 1;
  const auto body = Bytes({7, 2, 0x10, 0x20, Pair(8, 9)});
  const auto deferred =
      ParseDeferred({PERF_RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER, body}, attr);
  ASSERT_TRUE(deferred);
  EXPECT_EQ(deferred->misc, PERF_RECORD_MISC_USER);
  EXPECT_EQ(deferred->cookie, 7u);
  EXPECT_EQ(deferred->ips, (std::vector<std::uint64_t>{0x10, 0x20}));
  EXPECT_EQ(deferred->trailer.tid, 9u);
  EXPECT_FALSE(ParseDeferred({PERF_RECORD_CALLCHAIN_DEFERRED, 0, Bytes({7, 9, 0x10})}, attr));
  EXPECT_FALSE(ParseDeferred({PERF_RECORD_SAMPLE, 0, body}, attr));
}

}  // namespace
}  // namespace pmuconf
