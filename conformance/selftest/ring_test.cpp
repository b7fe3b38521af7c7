// SPDX-License-Identifier: Apache-2.0
// TakeRecords() returns only whole records, for any content of the ring buffer.
#include "perf/ring.h"

#include <gtest/gtest.h>

#include "selftest/words.h"

namespace pmuconf {
namespace {

TEST(TakeRecords, TakesRecordsInOrder) {
  const auto data = Bytes({Header(9, 2, 16), 111, Header(2, 0, 24), 7, 8, 0, 0, 0});
  const TakenRecords taken = TakeRecords(data, 0, 40);
  EXPECT_TRUE(taken.ok);
  EXPECT_EQ(taken.tail, 40u);
  ASSERT_EQ(taken.records.size(), 2u);
  EXPECT_EQ(taken.records[0].type, 9u);
  EXPECT_EQ(taken.records[0].misc, 2u);
  EXPECT_EQ(taken.records[0].body, Bytes({111}));
  EXPECT_EQ(taken.records[1].body, Bytes({7, 8}));
}

TEST(TakeRecords, JoinsARecordThatWrapsAround) {
  const auto data = Bytes({8, 9, 0, Header(2, 0, 24)});
  const TakenRecords taken = TakeRecords(data, 24, 48);
  EXPECT_TRUE(taken.ok);
  ASSERT_EQ(taken.records.size(), 1u);
  EXPECT_EQ(taken.records[0].body, Bytes({8, 9}));
}

TEST(TakeRecords, WorksWhereThePositionsWrapAround) {
  const auto data = Bytes({Header(2, 0, 8), 0, 0, Header(1, 0, 8)});
  const TakenRecords taken = TakeRecords(data, ~0ULL - 7, 8);
  EXPECT_TRUE(taken.ok);
  ASSERT_EQ(taken.records.size(), 2u);
  EXPECT_EQ(taken.records[0].type, 1u);
  EXPECT_EQ(taken.records[1].type, 2u);
}

TEST(TakeRecords, StopsAtARecordShorterThanItsHeader) {
  for (const std::uint16_t size : {0, 4, 12}) {
    const TakenRecords taken = TakeRecords(Bytes({Header(9, 0, size), 0}), 0, 16);
    EXPECT_FALSE(taken.ok) << size;
    EXPECT_EQ(taken.tail, 0u);
    EXPECT_TRUE(taken.records.empty());
  }
}

TEST(TakeRecords, StopsAtARecordLongerThanWhatIsThere) {
  const TakenRecords taken = TakeRecords(Bytes({Header(9, 0, 8), Header(9, 0, 32)}), 0, 16);
  EXPECT_FALSE(taken.ok);
  EXPECT_EQ(taken.tail, 8u);
  EXPECT_EQ(taken.records.size(), 1u);
}

TEST(TakeRecords, RefusesAHeadThatIsFurtherThanTheRingIsLong) {
  EXPECT_FALSE(TakeRecords(Bytes({0, 0}), 0, 24).ok);
  EXPECT_FALSE(TakeRecords(Bytes({0, 0}), 8, 0).ok);
}

TEST(TakeRecords, GivesNothingForAnEmptyRing) {
  EXPECT_TRUE(TakeRecords(Bytes({0, 0}), 16, 16).ok);
  EXPECT_TRUE(TakeRecords({}, 0, 0).ok);
  EXPECT_FALSE(TakeRecords({}, 0, 8).ok);
}

}  // namespace
}  // namespace pmuconf
