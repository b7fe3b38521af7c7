// SPDX-License-Identifier: Apache-2.0
// Which cases a person asked for.
#ifndef PMUCONF_REPORT_SELECT_H_
#define PMUCONF_REPORT_SELECT_H_

#include <span>
#include <string>
#include <vector>

#include "report/builtin.h"
#include "report/profile.h"
#include "report/verdict.h"

namespace pmuconf {

struct Selection {
  std::string case_glob = {};  // empty: all
  std::string rule = {};       // id or glob; empty: all
  bool partial() const { return !case_glob.empty() || !rule.empty(); }
};

// Ids of the cases of `suite` that hold a rule of `profile` and fit the selection. Throws
// ConfigError, naming the nearest known ones, if a name is unknown or nothing fits. A glob that
// fits no case but old ids of `renamed` selects the cases that had them, and a line on standard
// error names each of them.
std::vector<std::string> Select(const Selection& selection, const Profile& profile,
                                std::span<const KnownCase> suite, std::span<const Rule> catalogue,
                                std::span<const RenamedCase> renamed = RenamedCases());

// The known names that are nearest to `name`, at most `n`.
std::vector<std::string> Nearest(const std::string& name, const std::vector<std::string>& known,
                                 std::size_t n);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_SELECT_H_
