// SPDX-License-Identifier: Apache-2.0
// Names of results and skip reasons.
#include "lib/result.h"

#include <array>
#include <utility>

namespace pmuconf {
namespace {

constexpr std::array<std::pair<Result, std::string_view>, 9> kNames = {{
    {Result::kPass, "PASS"},
    {Result::kFail, "FAIL"},
    {Result::kSkip, "SKIP"},
    {Result::kWaived, "WAIVED"},
    {Result::kBroken, "BROKEN"},
    {Result::kTimeout, "TIMEOUT"},
    {Result::kCrash, "CRASH"},
    {Result::kNotRun, "NOT_RUN"},
    {Result::kUnexpectedPass, "UNEXPECTED_PASS"},
}};

struct ObstacleName {
  Obstacle obstacle;
  std::string_view name;
  std::string_view phrase;
};
constexpr std::array<ObstacleName, 6> kObstacles = {{
    {Obstacle::kNone, "", ""},
    {Obstacle::kNotPermitted, "not_permitted", "not permitted here"},
    {Obstacle::kNoSuchPmu, "no_such_pmu", "no such PMU"},
    {Obstacle::kKernelLacks, "kernel_lacks", "kernel lacks it"},
    {Obstacle::kNotClaimed, "not_claimed", "target does not claim it"},
    {Obstacle::kBroken, "broken", "broken"},
}};

}  // namespace

std::string_view ToString(Obstacle obstacle) {
  for (const ObstacleName& known : kObstacles) {
    if (known.obstacle == obstacle) return known.name;
  }
  return "?";
}

std::string_view Phrase(Obstacle obstacle) {
  for (const ObstacleName& known : kObstacles) {
    if (known.obstacle == obstacle) return known.phrase;
  }
  return "?";
}

std::optional<Obstacle> ObstacleFromString(std::string_view name) {
  for (const ObstacleName& known : kObstacles) {
    if (known.name == name) return known.obstacle;
  }
  return std::nullopt;
}

std::string_view ToString(Result result) {
  for (const auto& [known, name] : kNames) {
    if (known == result) return name;
  }
  return "?";
}

std::optional<Result> ResultFromString(std::string_view name) {
  for (const auto& [result, known] : kNames) {
    if (known == name) return result;
  }
  return std::nullopt;
}

}  // namespace pmuconf
