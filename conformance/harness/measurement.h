// SPDX-License-Identifier: Apache-2.0
// Measurements that a case attaches to its result, to be drawn (docs/results.md). They never change
// the result.
#ifndef PMUCONF_HARNESS_MEASUREMENT_H_
#define PMUCONF_HARNESS_MEASUREMENT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pmuconf {

// How the points of a series are drawn.
enum class Mark {
  kLine,
  kPoints,
  kBars,
  kSteps,
  kSpans,  // a point is the begin and the end of a span on the x axis; each series is a row
};

std::string_view ToString(Mark mark);  // "line"

struct Axis {
  std::string label;
  std::string unit;  // "ns"; "" for a plain number
};

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x and y
};

// Use designated initialisers, in this order.
struct Measurement {
  std::string name;   // unique in the case: [a-z][a-z0-9_]*
  std::string title;  // of the picture
  Mark mark = Mark::kLine;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::string at = {};       // the combination of dimensions of the case; Attach() sets it
  std::size_t left_out = 0;  // number of points beyond the limits
};

// A result must fit into one line of the channel (text/json_line.h).
inline constexpr std::size_t kMaxMeasurements = 4;      // of a case
inline constexpr std::size_t kMaxSeries = 16;           // of a measurement
inline constexpr std::size_t kMaxPoints = 512;          // of a measurement
inline constexpr std::size_t kMaxPointsOfCase = 1'024;  // attached by a case, in all measurements
inline constexpr std::size_t kMaxText = 200;            // bytes of a name, title, label or unit
inline constexpr double kMaxValue = 1e30;

// Attaches a measurement to the result of the case that runs in this process. It replaces an
// earlier one of the same name, so a case with dimensions shows its last combination. If there are
// too many points, each series keeps its first ones.
void Attach(Measurement measurement);

// Returns what the case has attached so far, in the order of the first calls.
const std::vector<Measurement>& Attached();

// Encode and decode the measurements of a case as results.json and the channel have them. The
// decoder throws std::exception if `json` is no list of measurements within the limits.
nlohmann::json ToJson(const std::vector<Measurement>& measurements);
std::vector<Measurement> MeasurementsFromJson(const nlohmann::json& json);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_MEASUREMENT_H_
