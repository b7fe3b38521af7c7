// SPDX-License-Identifier: Apache-2.0
// Waivers: accepted known failures, with an owner and an expiry date.
#ifndef PMUCONF_REPORT_WAIVER_H_
#define PMUCONF_REPORT_WAIVER_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"

namespace pmuconf {

struct Waiver {
  std::string id;     // "WVR-001"
  std::string owner;  // responsible person
  std::string reason;
  std::string link;     // to the bug report
  std::string expires;  // last valid day, YYYY-MM-DD
  // The scope of the waiver.
  std::vector<std::string> cases;    // globs
  std::vector<std::string> targets;  // globs
  std::string kernels;               // as in a rule; ">=6.1": all
  std::string arch;                  // as uname -m prints it, e.g. "aarch64"; empty: all
  std::vector<Result> results = {Result::kFail};

  bool Covers(std::string_view case_id, std::string_view target_name, std::string_view release,
              std::string_view machine) const;
  // Returns whether the waiver accepts this result.
  bool Accepts(Result result) const;
  bool ExpiredOn(std::string_view today) const { return today > expires; }
};

// Parses a file of [[waiver]] tables. Throws ConfigError (file, line, key).
std::vector<Waiver> ParseWaivers(std::string_view text, const std::string& path);

// Reads all *.toml of a directory. Returns nothing if the directory does not exist.
std::vector<Waiver> LoadWaivers(const std::string& folder);

std::string Today();  // YYYY-MM-DD, UTC

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_WAIVER_H_
