// SPDX-License-Identifier: Apache-2.0
// Finds a target, its profile and its waivers: in files, or among the built-in ones.
#ifndef PMUCONF_REPORT_CHOOSE_H_
#define PMUCONF_REPORT_CHOOSE_H_

#include <string>
#include <vector>

#include "report/profile.h"
#include "report/waiver.h"
#include "target/target.h"

namespace pmuconf {

// `target` is a path (it contains '/' or ends in ".toml") or the name of a built-in target. Throws
// ConfigError with a list of the known names.
Target LoadTarget(const std::string& target);

// The text of a target file, and the places where its base is.
struct TargetSource {
  TargetText file;
  FindBase find_base;
};
// As LoadTarget(), but does not parse the file.
TargetSource FindTarget(const std::string& target);

// Returns the built-in target for a PMU: the target with the PMU's name, or the only matching one
// whose port, if it has one, exists. Never returns a target with a port page. Returns "" if there
// is none. Throws ConfigError if several match equally well.
std::string TargetForPmu(const std::string& pmu);

// Returns the profile `name` from ../profiles of the target's file, or the built-in one. An empty
// name selects the whole catalogue.
Profile ChooseProfile(const std::string& target, const std::string& name);

// Returns the waivers in ../waivers of the target's file, or the built-in ones if there is no such
// directory.
std::vector<Waiver> ChooseWaivers(const std::string& target);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_CHOOSE_H_
