// SPDX-License-Identifier: Apache-2.0
// Waivers: failures that somebody owns until a date.
#ifndef PMUCONF_REPORT_WAIVER_H_
#define PMUCONF_REPORT_WAIVER_H_

#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace pmuconf {

struct Waiver {
  std::string id;     // "WVR-001"
  std::string owner;  // who answers for it
  std::string reason;
  std::string link;     // the bug
  std::string expires;  // YYYY-MM-DD, its last day
  // Scope: which failures it covers.
  std::vector<std::string> cases;    // globs
  std::vector<std::string> targets;  // globs
  std::string kernels;               // as in a rule; ">=6.1" for all
  std::string arch;                  // "aarch64", as uname -m has it; empty for all
  std::vector<Result> results = {Result::kFail};

  bool Covers(std::string_view case_id, std::string_view target_name, std::string_view release,
              std::string_view machine) const;
  // Whether it is about a case that came to that.
  bool Excuses(Result result) const;
  bool ExpiredOn(std::string_view today) const { return today > expires; }
};

// A file of [[waiver]] tables. Throws ConfigError (file, line, key).
std::vector<Waiver> ParseWaivers(std::string_view text, const std::string& path);

// All *.toml of a folder; none if there is no such folder.
std::vector<Waiver> LoadWaivers(const std::string& folder);

std::string Today();  // YYYY-MM-DD, UTC

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_WAIVER_H_
