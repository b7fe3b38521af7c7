// SPDX-License-Identifier: Apache-2.0
// A profile: a versioned list of rules that a target conforms to, or not.
#ifndef PMUCONF_REPORT_PROFILE_H_
#define PMUCONF_REPORT_PROFILE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmuconf/rule.h"

namespace pmuconf {

struct Profile {
  std::string name;  // "sampling-1.0"
  std::string text;
  std::vector<Rule> rules;  // active ones, in order of id

  bool Contains(std::string_view rule) const;
};

// Throws ConfigError (file, line, key), also for an area or a rule that `catalogue` does not have.
Profile ParseProfile(std::string_view text, const std::string& path,
                     std::span<const Rule> catalogue);

// All active rules: what is judged when no profile is named. Its name is empty.
Profile WholeCatalogue(std::span<const Rule> catalogue);

// <folder>/<name>.toml; an unknown name throws ConfigError that names the known ones. Empty name:
// the whole catalogue.
Profile LoadProfile(const std::string& folder, const std::string& name,
                    std::span<const Rule> catalogue);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_PROFILE_H_
