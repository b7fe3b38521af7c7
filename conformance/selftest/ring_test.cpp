// SPDX-License-Identifier: Apache-2.0
// ExtractRecords() returns only whole records, for any content of the ring buffer.
#include "perf/ring.h"

#include <gtest/gtest.h>

#include "selftest/words.h"

namespace pmuconf {
namespace {

TEST(ExtractRecords, ReturnsRecordsInOrder) {
  const auto data = Bytes({Header(9, 2, 16), 111, Header(2, 0, 24), 7, 8, 0, 0, 0});
  const ExtractedRecords extracted = ExtractRecords(data, 0, 40);
  EXPECT_TRUE(extracted.ok);
  EXPECT_EQ(extracted.tail, 40u);
  ASSERT_EQ(extracted.records.size(), 2u);
  EXPECT_EQ(extracted.records[0].type, 9u);
  EXPECT_EQ(extracted.records[0].misc, 2u);
  EXPECT_EQ(extracted.records[0].body, Bytes({111}));
  EXPECT_EQ(extracted.records[1].body, Bytes({7, 8}));
}

TEST(ExtractRecords, JoinsRecordThatWraps) {
  const auto data = Bytes({8, 9, 0, Header(2, 0, 24)});
  const ExtractedRecords extracted = ExtractRecords(data, 24, 48);
  EXPECT_TRUE(extracted.ok);
  ASSERT_EQ(extracted.records.size(), 1u);
  EXPECT_EQ(extracted.records[0].body, Bytes({8, 9}));
}

TEST(ExtractRecords, HandlesOverflowOfPositions) {
  const auto data = Bytes({Header(2, 0, 8), 0, 0, Header(1, 0, 8)});
  const ExtractedRecords extracted = ExtractRecords(data, ~0ULL - 7, 8);
  EXPECT_TRUE(extracted.ok);
  ASSERT_EQ(extracted.records.size(), 2u);
  EXPECT_EQ(extracted.records[0].type, 1u);
  EXPECT_EQ(extracted.records[1].type, 2u);
}

TEST(ExtractRecords, StopsAtRecordShorterThanHeader) {
  for (const std::uint16_t size : {0, 4, 12}) {
    const ExtractedRecords extracted = ExtractRecords(Bytes({Header(9, 0, size), 0}), 0, 16);
    EXPECT_FALSE(extracted.ok) << size;
    EXPECT_EQ(extracted.tail, 0u);
    EXPECT_TRUE(extracted.records.empty());
  }
}

TEST(ExtractRecords, StopsAtRecordLongerThanRemainingBytes) {
  const ExtractedRecords extracted =
      ExtractRecords(Bytes({Header(9, 0, 8), Header(9, 0, 32)}), 0, 16);
  EXPECT_FALSE(extracted.ok);
  EXPECT_EQ(extracted.tail, 8u);
  EXPECT_EQ(extracted.records.size(), 1u);
}

TEST(ExtractRecords, RejectsHeadBeyondRingSize) {
  EXPECT_FALSE(ExtractRecords(Bytes({0, 0}), 0, 24).ok);
  EXPECT_FALSE(ExtractRecords(Bytes({0, 0}), 8, 0).ok);
}

TEST(ExtractRecords, ReturnsNothingForEmptyRing) {
  EXPECT_TRUE(ExtractRecords(Bytes({0, 0}), 16, 16).ok);
  EXPECT_TRUE(ExtractRecords({}, 0, 0).ok);
  EXPECT_FALSE(ExtractRecords({}, 0, 8).ok);
}

}  // namespace
}  // namespace pmuconf
