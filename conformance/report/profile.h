// SPDX-License-Identifier: Apache-2.0
// A profile: a versioned list of rules that a driver must pass to be conformant.
#ifndef PMUCONF_REPORT_PROFILE_H_
#define PMUCONF_REPORT_PROFILE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/rule.h"

namespace pmuconf {

struct Profile {
  std::string name;  // "sampling-1.0"
  std::string text;
  std::vector<Rule> rules;  // active ones, in order of id

  bool Contains(std::string_view rule) const;
};

// Throws ConfigError (file, line, key), also if `catalogue` lacks an area or a rule.
Profile ParseProfile(std::string_view text, const std::string& path,
                     std::span<const Rule> catalogue);

// Returns a profile with all active rules and an empty name. A run without a named profile uses it.
Profile WholeCatalogue(std::span<const Rule> catalogue);

// Reads <folder>/<name>.toml. Throws ConfigError with the known names if there is no such profile.
// An empty name selects the whole catalogue.
Profile LoadProfile(const std::string& folder, const std::string& name,
                    std::span<const Rule> catalogue);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_PROFILE_H_
