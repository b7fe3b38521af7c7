// SPDX-License-Identifier: Apache-2.0
// Where a target, its profile and its waivers come from: a file and what lies beside it, or the
// program itself.
#ifndef PMUCONF_REPORT_CHOOSE_H_
#define PMUCONF_REPORT_CHOOSE_H_

#include <string>
#include <vector>

#include "pmuconf/target.h"
#include "report/profile.h"
#include "report/waiver.h"

namespace pmuconf {

// `target` is the path of a file (it has a '/' or ends in ".toml") or the name of a built-in
// target. Throws ConfigError that names the known ones.
Target LoadTarget(const std::string& target);

// The built-in target that is meant for a PMU: the one of its name, or the only one that matches
// and whose port, if it has one, is there.
// "" if there is none; throws ConfigError if several are as good as each other.
std::string TargetForPmu(const std::string& pmu);

// The profile `name` beside the target's file, or the built-in one. "" is the whole catalogue.
Profile ChooseProfile(const std::string& target, const std::string& name);

// The waivers beside the target's file, or the built-in ones where there is no such folder.
std::vector<Waiver> ChooseWaivers(const std::string& target);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_CHOOSE_H_
