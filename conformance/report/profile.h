// SPDX-License-Identifier: Apache-2.0
// A profile: a versioned, frozen list of rules that a driver must pass to be conformant.
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
  std::vector<Rule> rules;   // active ones, in order of id
  std::vector<Rule> drafts;  // all drafts of the catalogue: reported, without effect on a verdict

  bool Contains(std::string_view rule) const;
};

// Throws ConfigError (file, line, key), also if the ids are not sorted, or one of them is no rule
// of `catalogue` or is a draft. Leaves out retired rules: nothing verifies them.
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
