// SPDX-License-Identifier: Apache-2.0
// Names of skip reasons.
#include "system/obstacle.h"

#include <array>

namespace pmuconf {
namespace {

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

}  // namespace pmuconf
