// SPDX-License-Identifier: Apache-2.0
// A model of counters states exactly the numbers that were measured.
#include "target/probe/counter_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(CounterModel, EventsThatShareNothingHaveDifferentCounters) {
  EXPECT_THAT(AssignCounters(4, {{2, {}}, {1, {0}}}), Optional(ElementsAre(0x3, 0x4)));
}

TEST(CounterModel, SubsetIsInside) {
  EXPECT_THAT(AssignCounters(4, {{2, {}}, {1, {1}}}), Optional(ElementsAre(0x3, 0x1)));
}

TEST(CounterModel, OverlapHasTheMeasuredSize) {
  EXPECT_THAT(AssignCounters(6, {{3, {}}, {3, {1}}, {2, {1, 1}}}),
              Optional(ElementsAre(0x7, 0x19, 0x21)));
}

// The first choice for the third event is 0x9, which leaves no counter for the fourth.
TEST(CounterModel, SearchGoesBackWhereALaterEventHasNoCounter) {
  EXPECT_THAT(AssignCounters(4, {{2, {}}, {2, {1}}, {2, {1, 1}}, {1, {1, 1, 0}}}),
              Optional(ElementsAre(0x3, 0x5, 0x6, 0x1)));
}

TEST(CounterModel, ImpossibleNumbersHaveNoModel) {
  EXPECT_EQ(AssignCounters(4, {{3, {}}, {3, {1}}}), std::nullopt) << "3 + 3 - 1 > 4";
  EXPECT_EQ(AssignCounters(4, {{5, {}}}), std::nullopt);
  EXPECT_EQ(AssignCounters(4, {{1, {}}, {1, {0}}, {1, {0, 0}}, {1, {0, 0, 0}}, {1, {0, 0, 0, 0}}}),
            std::nullopt);
}

TEST(CounterModel, LargePmuHasAModel) {
  const auto sets = AssignCounters(32, {{16, {}}, {16, {8}}, {16, {8, 8}}, {16, {8, 8, 8}}});
  ASSERT_TRUE(sets.has_value());
  EXPECT_EQ((*sets)[0], 0xffffU);
  for (std::size_t i = 0; i < sets->size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(std::popcount((*sets)[i] & (*sets)[j]), 8);
  }
}

TEST(CounterModel, GroupFitsIfEachEventFindsACounter) {
  EXPECT_EQ(PredictFitting({0x1, 0x3, 0x3}), 2U);
  EXPECT_EQ(PredictFitting({0x3, 0x1, 0x4}), 3U) << "the first event moves to the second counter";
  EXPECT_EQ(PredictFitting({0x7, 0x7, 0x1, 0x1}), 3U);
  EXPECT_EQ(PredictFitting({0x1, 0x1'0000'0001}), 2U) << "the second uses a fixed counter";
  EXPECT_EQ(PredictFitting({}), 0U);
}

TEST(CounterModel, MostFrequentNumberIsTheSmallestOfSeveral) {
  EXPECT_EQ(MostFrequent({7, 6, 7, 6}), 6U);
  EXPECT_EQ(MostFrequent({4, 2, 5, 4}), 4U);
  EXPECT_EQ(MostFrequent({}), 0U);
}

TEST(CounterModel, SetsAreWrittenAsInTargetFiles) {
  EXPECT_EQ(CountersText(0xf), "0-3");
  EXPECT_EQ(CountersText(0x1'0000'000b), "0-1,3,f0");
  EXPECT_EQ(CountersText(0x2'0000'0000), "f1");
  EXPECT_EQ(CountersText(0xffff'ffff), "0-31");
  EXPECT_EQ(CountersText(0x8000'0000'8000'0000), "31,f31");
  EXPECT_EQ(CountersText(0), "");
}

}  // namespace
}  // namespace pmuconf
