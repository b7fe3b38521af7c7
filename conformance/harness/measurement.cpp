// SPDX-License-Identifier: Apache-2.0
// Keeps measurements within their limits, and encodes them.
#include "harness/measurement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "system/context.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 5> kMarks = {"line", "points", "bars", "steps", "spans"};

std::vector<Measurement>& Store() {
  static std::vector<Measurement> measurements;
  return measurements;
}

std::size_t CountPoints(const Measurement& measurement) {
  std::size_t points = 0;
  for (const Series& series : measurement.series) points += series.points.size();
  return points;
}

// Nine significant digits, so that the length of a number in JSON is bounded.
double Rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, 8 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(unit) ? std::round(value * unit) / unit : 0;
}

void RemoveInvalid(Measurement* measurement) {
  for (Series& series : measurement->series) {
    measurement->left_out += std::erase_if(series.points, [](const auto& point) {
      const auto valid = [](double value) { return std::abs(value) <= kMaxValue; };  // no NaN
      return !valid(point.first) || !valid(point.second);
    });
    for (auto& [x, y] : series.points) {
      x = Rounded(x);
      y = Rounded(y);
    }
  }
}

// Removes the last points of the longest series until at most `limit` points are left.
void Shorten(Measurement* measurement, std::size_t limit) {
  while (measurement->series.size() > kMaxSeries) {
    measurement->left_out += measurement->series.back().points.size();
    measurement->series.pop_back();
  }
  std::size_t most = limit;
  while (CountPoints(*measurement) > limit) {
    std::size_t kept = 0;
    for (const Series& series : measurement->series) kept += std::min(series.points.size(), most);
    if (kept > limit) {
      --most;
      continue;
    }
    for (Series& series : measurement->series) {
      const std::size_t n = std::min(series.points.size(), most);
      measurement->left_out += series.points.size() - n;
      series.points.resize(n);
    }
  }
}

void RequireShort(const std::string& text) {
  if (text.size() > kMaxText) throw std::runtime_error("a text of a measurement is too long");
}

bool IsName(std::string_view text) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto rest = [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && lower(text.front()) && std::ranges::all_of(text, rest);
}

Axis AxisFromJson(const Json& json) {
  Axis axis = {json.at("label").get<std::string>(), json.at("unit").get<std::string>()};
  RequireShort(axis.label);
  RequireShort(axis.unit);
  return axis;
}

Series SeriesFromJson(const Json& json) {
  Series series = {json.at("name").get<std::string>(), {}};
  RequireShort(series.name);
  for (const Json& point : json.at("points")) {
    if (point.size() != 2) throw std::runtime_error("a point of a measurement is not two numbers");
    series.points.emplace_back(point.at(0).get<double>(), point.at(1).get<double>());
  }
  return series;
}

Json OneToJson(const Measurement& measurement) {
  Json series = Json::array();
  for (const Series& one : measurement.series) {
    series.push_back({{"name", one.name}, {"points", Json::array()}});
    Json& points = series.back()["points"];
    for (const auto& [x, y] : one.points) points.push_back(Json::array({x, y}));
  }
  const auto axis = [](const Axis& one) { return Json{{"label", one.label}, {"unit", one.unit}}; };
  Json json = {{"name", measurement.name},           {"title", measurement.title},
               {"mark", ToString(measurement.mark)}, {"x", axis(measurement.x)},
               {"y", axis(measurement.y)},           {"series", series}};
  if (!measurement.at.empty()) json["at"] = measurement.at;
  if (measurement.left_out != 0) json["left_out"] = measurement.left_out;
  return json;
}

Measurement OneFromJson(const Json& json) {
  const auto mark_name = json.at("mark").get<std::string>();
  const auto* const mark = std::ranges::find(kMarks, mark_name);
  if (mark == kMarks.end()) throw std::runtime_error("unknown mark '" + mark_name + "'");
  Measurement measurement = {.name = json.at("name").get<std::string>(),
                             .title = json.at("title").get<std::string>(),
                             .mark = static_cast<Mark>(mark - kMarks.begin()),
                             .x = AxisFromJson(json.at("x")),
                             .y = AxisFromJson(json.at("y")),
                             .series = {},
                             .at = json.value("at", std::string()),
                             .left_out = json.value("left_out", std::size_t{0})};
  if (!IsName(measurement.name)) {
    throw std::runtime_error("invalid name '" + measurement.name + "' of a measurement");
  }
  RequireShort(measurement.name);
  RequireShort(measurement.title);
  for (const Json& one : json.at("series")) measurement.series.push_back(SeriesFromJson(one));
  if (measurement.series.size() > kMaxSeries || CountPoints(measurement) > kMaxPoints) {
    throw std::runtime_error("a measurement has too many points");
  }
  return measurement;
}

}  // namespace

std::string_view ToString(Mark mark) { return kMarks.at(static_cast<std::size_t>(mark)); }

void Attach(Measurement measurement) {
  measurement.at = context().current;
  RemoveInvalid(&measurement);
  std::vector<Measurement>& store = Store();
  std::size_t used = 0;
  Measurement* earlier = nullptr;
  for (Measurement& other : store) {
    if (other.name == measurement.name) {
      earlier = &other;
    } else {
      used += CountPoints(other);
    }
  }
  Shorten(&measurement, std::min(kMaxPoints, kMaxPointsOfCase - used));
  if (earlier != nullptr) {
    *earlier = std::move(measurement);
  } else if (store.size() < kMaxMeasurements) {
    store.push_back(std::move(measurement));
  }
}

const std::vector<Measurement>& Attached() { return Store(); }

Json ToJson(const std::vector<Measurement>& measurements) {
  Json json = Json::array();
  for (const Measurement& measurement : measurements) json.push_back(OneToJson(measurement));
  return json;
}

std::vector<Measurement> MeasurementsFromJson(const Json& json) {
  std::vector<Measurement> measurements;
  for (const Json& one : json) measurements.push_back(OneFromJson(one));
  if (measurements.size() > kMaxMeasurements) {
    throw std::runtime_error("a case has too many measurements");
  }
  return measurements;
}

}  // namespace pmuconf
