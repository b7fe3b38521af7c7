// SPDX-License-Identifier: Apache-2.0
// The skip reasons of a case.
#ifndef PMUCONF_SYSTEM_OBSTACLE_H_
#define PMUCONF_SYSTEM_OBSTACLE_H_

#include <optional>
#include <string_view>

namespace pmuconf {

// The skip reason of a SKIP or BROKEN case. A SKIP with one of the first two leaves its rules open,
// because they are facts about the process or machine. The next two make a rule not applicable.
enum class Obstacle {
  kNone,
  kNotPermitted,  // this process lacks the privileges that cases need
  kNoSuchPmu,     // the machine has no PMU that matches the target file
  kKernelLacks,   // the running kernel or machine lacks something that the case needs
  kNotClaimed,    // the target file does not claim the capability
  kBroken,        // the setup of the case failed
};

std::string_view ToString(Obstacle obstacle);  // "not_permitted"; "" for none
std::string_view Phrase(Obstacle obstacle);    // "not permitted here"
std::optional<Obstacle> ObstacleFromString(std::string_view name);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_OBSTACLE_H_
