// SPDX-License-Identifier: Apache-2.0
// Selects the cases of a run.
#ifndef PMUCONF_REPORT_SELECT_H_
#define PMUCONF_REPORT_SELECT_H_

#include <span>
#include <string>
#include <vector>

#include "report/profile.h"
#include "report/verdict.h"

namespace pmuconf {

struct Selection {
  std::string case_glob = {};  // empty: all
  std::string rule = {};       // id or glob; empty: all
  bool partial() const { return !case_glob.empty() || !rule.empty(); }
};

// Returns the ids of the cases of `suite` that verify a rule of `profile` and match the selection.
// If a name is unknown or nothing matches, throws ConfigError with the nearest known names.
std::vector<std::string> Select(const Selection& selection, const Profile& profile,
                                std::span<const KnownCase> suite, std::span<const Rule> catalogue);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_SELECT_H_
