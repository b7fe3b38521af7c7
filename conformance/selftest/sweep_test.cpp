// SPDX-License-Identifier: Apache-2.0
// Combinations of dimensions: products, covers of all pairs, restrictions and missing capabilities.
#include "harness/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "harness/dimensions.h"

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Dimension Letters(const std::string& name, const std::string& letters) {
  Dimension dimension{name, {}};
  for (const char letter : letters) {
    dimension.values.push_back({std::string(1, letter), static_cast<int>(dimension.values.size())});
  }
  return dimension;
}

std::vector<std::string> Texts(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> texts;
  for (const Combination& combination : Combinations(dimensions)) {
    texts.push_back(ToString(combination));
  }
  return texts;
}

TEST(Sweep, ProductHasEachCombinationOnceInOrder) {
  EXPECT_THAT(Texts({Letters("x", "ab"), Letters("y", "pq")}),
              ElementsAre("x=a,y=p", "x=a,y=q", "x=b,y=p", "x=b,y=q"));
}

TEST(Sweep, NoDimensionRunsOnce) { EXPECT_THAT(Texts({}), ElementsAre("")); }

TEST(Sweep, DimensionWithoutValueRunsNever) {
  EXPECT_THAT(Texts({Letters("x", "ab"), Letters("y", "")}), IsEmpty());
}

TEST(Sweep, ProductOfTwelveRunsWhole) {
  EXPECT_EQ(Texts({Letters("x", "abc"), Letters("y", "pqrs")}).size(), 12u);
}

TEST(Sweep, LargeProductCoversEachPair) {
  const std::vector<Dimension> dimensions = {Letters("x", "abc"), Letters("y", "pqr"),
                                             Letters("z", "tuv"), Letters("w", "mn")};
  const std::vector<Combination> chosen = Combinations(dimensions);
  EXPECT_EQ(Texts(dimensions), Texts(dimensions));
  EXPECT_LT(chosen.size(), 54u / 4);  // the product has 54
  EXPECT_GE(chosen.size(), 9u);       // two dimensions of three values need nine
  std::set<std::string> pairs;
  for (const Combination& one : chosen) {
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (std::size_t j = i + 1; j < one.size(); ++j) {
        pairs.insert(ToString({one[i], one[j]}));
      }
    }
  }
  EXPECT_EQ(pairs.size(), 3u * (3 * 3) + 3u * (3 * 2));
}

TEST(Sweep, RestrictKeepsTheNamedValue) {
  const std::vector<Dimension> dimensions = {Letters("x", "ab"), Letters("y", "pq")};
  EXPECT_THAT(Texts(Restrict(dimensions, "y=q,x=b")), ElementsAre("x=b,y=q"));
  EXPECT_THAT(Texts(Restrict(dimensions, "y=q")), ElementsAre("x=a,y=q", "x=b,y=q"));
  EXPECT_EQ(Texts(Restrict(dimensions, "")).size(), 4u);
}

TEST(Sweep, RestrictedCombinationNeedNotBeInTheCover) {
  const std::vector<Dimension> dimensions = {Letters("x", "abc"), Letters("y", "pqr"),
                                             Letters("z", "tuv")};
  std::set<std::string> missing;
  for (const Combination& one : Combinations({Letters("x", "abc"), Letters("y", "pqr")})) {
    for (const char z : std::string("tuv")) missing.insert(ToString(one) + ",z=" + z);
  }
  for (const std::string& chosen : Texts(dimensions)) missing.erase(chosen);
  ASSERT_FALSE(missing.empty());
  for (const std::string& at : missing) {
    EXPECT_THAT(Texts(Restrict(dimensions, at)), ElementsAre(at));
  }
}

std::string ErrorOf(std::string_view at) {
  try {
    Restrict({Letters("x", "ab"), Letters("y", "pq")}, at);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Sweep, BadRestrictionNamesWhatWouldBeRight) {
  EXPECT_EQ(ErrorOf("x"), "--at: 'x' is not DIMENSION=VALUE");
  EXPECT_EQ(ErrorOf("z=a"), "--at: the case has no dimension 'z', only: x, y");
  EXPECT_EQ(ErrorOf("x=c"), "--at: x has no value 'c', only: a, b");
  EXPECT_EQ(ErrorOf("x=a,x=b"), "--at: x has no value 'b', only: a");
}

TEST(Sweep, MissingCapabilityRemovesItsValues) {
  const auto has = [](Cap cap) { return cap != Cap::kCpus2 && cap != Cap::kFixedCounters; };
  EXPECT_THAT(Texts(Available({Over<dim::Cpu>(), Over<dim::Counter>()}, has)),
              ElementsAre("cpu=0,counter=first", "cpu=0,counter=last"));
}

TEST(Sweep, OverKeepsOnlyTheNamedValues) {
  EXPECT_THAT(Texts({Over(dim::Member::kLast, dim::Member::kAlone)}),
              ElementsAre("member=last", "member=alone"));
}

// At<>() returns an enumerator by its number, so the two lists must agree.
TEST(Sweep, NumbersAreThoseOfTheEnumerators) {
  const std::vector<Dimension> all = {
      Over<dim::Cpu>(),    Over<dim::Scope>(), Over<dim::Member>(),    Over<dim::Counter>(),
      Over<dim::Before>(), Over<dim::Left>(),  Over<dim::Interrupt>(), Over<dim::Start>()};
  for (const Dimension& dimension : all) {
    for (std::size_t i = 0; i < dimension.values.size(); ++i) {
      EXPECT_EQ(dimension.values[i].number, static_cast<int>(i)) << dimension.name;
    }
  }
}

}  // namespace
}  // namespace pmuconf
