// SPDX-License-Identifier: Apache-2.0
// Tests of the measurements of a case: their limits, and the way to results.json.
#include "harness/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/executor.h"
#include "report/stream.h"
#include "system/context.h"
#include "target/target.h"
#include "text/json_line.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;
using testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Measurement Named(const std::string& name, std::vector<Series> series) {
  return {.name = name,
          .title = "Title",
          .mark = Mark::kSteps,
          .x = {"time", "ms"},
          .y = {"count", "events"},
          .series = std::move(series)};
}

Series Points(std::size_t n) {
  Series series = {"s", {}};
  for (std::size_t i = 0; i < n; ++i) series.points.emplace_back(-1.0e-29 / 3, 1.0e30 / 7);
  return series;
}

// The attached measurement with this name. Each test uses its own name, because they share a
// process.
const Measurement* Find(const std::string& name) {
  for (const Measurement& one : Attached()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

TEST(Measurement, LaterCombinationReplacesEarlierOne) {
  context().current = "cpu=0";
  Attach(Named("turns", {{"a", {{1, 2}}}}));
  context().current = "cpu=1";
  Attach(Named("turns", {{"b", {{3, 4}}}}));
  context().current.clear();
  EXPECT_EQ(Attached().size(), 1u);
  EXPECT_EQ(Find("turns")->at, "cpu=1");
  EXPECT_EQ(Find("turns")->series[0].name, "b");
}

TEST(Measurement, PointsThatAreNotFiniteOrTooLargeAreLeftOut) {
  Attach(Named("turns", {{"a", {{1, kInfinity}, {-kInfinity, 2}, {kNan, 5}, {1e31, 1}, {3, 4}}}}));
  EXPECT_THAT(Find("turns")->series[0].points, testing::ElementsAre(Pair(3, 4)));
  EXPECT_EQ(Find("turns")->left_out, 4u);
}

TEST(Measurement, LongestSeriesIsShortenedFirst) {
  Attach(Named("turns", {Points(700), Points(12)}));
  EXPECT_EQ(Find("turns")->series[0].points.size(), 500u);
  EXPECT_EQ(Find("turns")->series[1].points.size(), 12u);
  EXPECT_EQ(Find("turns")->left_out, 200u);
}

TEST(Measurement, SeriesBeyondTheLimitAreLeftOut) {
  Attach(Named("turns", std::vector<Series>(17, {"s", {{1, 1}, {2, 2}}})));
  EXPECT_EQ(Find("turns")->series.size(), 16u);
  EXPECT_EQ(Find("turns")->left_out, 2u);
}

TEST(Measurement, FullestCaseFitsIntoALine) {
  for (const char* name : {"turns", "b", "c", "d", "e"}) {
    Attach(Named(name, std::vector<Series>(16, Points(60))));
  }
  EXPECT_EQ(Attached().size(), 4u);
  EXPECT_EQ(Find("e"), nullptr);
  std::size_t points = 0;
  for (const Measurement& one : Attached()) {
    for (const Series& series : one.series) points += series.points.size();
  }
  EXPECT_EQ(points, 1'024u);
  const CaseResult result = {
      .id = "A.B", .message = std::string(100'000, 'm'), .rules = {}, .measurements = Attached()};
  const std::string line = EncodeResult(result);
  EXPECT_THAT(line, HasSubstr(R"("result":)"));
  CaseResult decoded;
  ASSERT_TRUE(DecodeResult(line, &decoded));
  EXPECT_EQ(decoded.measurements.size(), 4u);
  for (const char* name : {"turns", "b", "c", "d"}) Attach(Named(name, {}));  // for the other tests
}

TEST(Measurement, DecodesToWhatWasEncoded) {
  Measurement one = Named("error", {{"cycles", {{1, -2.5}, {3, 4}}}});
  one.at = "cpu=1";
  one.left_out = 7;
  const auto json = ToJson({one});
  EXPECT_EQ(json, nlohmann::json::parse(R"([{
    "name": "error", "title": "Title", "mark": "steps", "at": "cpu=1", "left_out": 7,
    "x": {"label": "time", "unit": "ms"}, "y": {"label": "count", "unit": "events"},
    "series": [{"name": "cycles", "points": [[1.0, -2.5], [3.0, 4.0]]}]}])"));
  EXPECT_EQ(ToJson(MeasurementsFromJson(json)), json);
}

TEST(Measurement, StreamRefusesWhatExceedsTheLimits) {
  const auto error_of = [](const nlohmann::json& measurements) -> std::string {
    const nlohmann::json line = {{"t", "result"},
                                 {"id", "A.B"},
                                 {"result", "PASS"},
                                 {"duration_s", 0},
                                 {"message", ""},
                                 {"rules", {"CNT-001"}},
                                 {"measurements", measurements}};
    try {
      ParseStream(
          R"({"t":"run","target":"t","kernel":"6.1","release":"6.1","arch":"x","selected":[],"partial":false})"
          "\n" +
              line.dump() + "\n",
          "s");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  nlohmann::json good = ToJson({Named("error", {{"cycles", {{1, 2}}}})});
  EXPECT_EQ(error_of(good), "no error");

  nlohmann::json bad = good;
  bad[0]["mark"] = "pie";
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: unknown mark 'pie'"));
  bad = good;
  bad[0]["name"] = "Error";
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: invalid name 'Error' of a measurement"));
  bad = good;
  bad[0]["title"] = std::string(201, 'x');
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: a text of a measurement is too long"));
  bad = good;
  bad[0]["series"][0]["points"][0] = {1, 2, 3};
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: a point of a measurement is not two numbers"));
  bad = ToJson({Named("error", std::vector<Series>(17, {"s", {}}))});
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: a measurement has too many points"));
  bad = ToJson({Named("error", {Points(513)})});
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: a measurement has too many points"));
  bad = ToJson(std::vector<Measurement>(5, Named("error", {})));
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: a case has too many measurements"));
  bad = good;
  bad[0].erase("x");
  EXPECT_THAT(error_of(bad), HasSubstr("s:2: "));
}

}  // namespace
}  // namespace pmuconf
