// SPDX-License-Identifier: Apache-2.0
// Waivers: accepted known failures, with an owner whom a reader can ask, and an expiry date.
#ifndef PMUCONF_REPORT_WAIVER_H_
#define PMUCONF_REPORT_WAIVER_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "report/kernel_bug.h"

namespace pmuconf {

// Those who can be asked about a waiver: an entry of MAINTAINERS or a role, and its address.
struct Owner {
  std::string name;     // "perf"
  std::string contact;  // "linux-perf-users@vger.kernel.org"
  std::string who;      // "PERFORMANCE EVENTS SUBSYSTEM in MAINTAINERS of Linux"
};

struct Waiver {
  std::string id;     // "WVR-001"
  std::string owner;  // name of an Owner
  std::string reason;
  std::string link;     // to the bug report
  std::string expires;  // last valid day, YYYY-MM-DD
  // The scope of the waiver.
  std::vector<std::string> cases;    // globs
  std::vector<std::string> targets;  // globs
  std::string kernels;               // as in a rule; ">=6.1": all
  std::string arch;                  // as uname -m prints it, e.g. "aarch64"; empty: all
  std::vector<Result> results = {Result::kFail};
  std::string contact;  // of the owner
  // The bug of the kernel that causes the failure. It replaces `kernels`. Without it, the failure
  // is expected on each kernel of the scope.
  std::optional<KernelBug> bug = std::nullopt;

  // Returns whether the scope includes a case of a run; the versions of `bug` do not count.
  bool Covers(std::string_view case_id, std::string_view target_name, std::string_view release,
              std::string_view machine) const;
  // Returns whether the waiver accepts this result.
  bool Accepts(Result result) const;
  // Returns lines for reports: the versions of `bug`, the reason with the link, and the owner with
  // the contact.
  std::string Text() const;
  bool ExpiredOn(std::string_view today) const { return today > expires; }
};

// The file of owners in a directory of waivers, without .toml.
inline constexpr std::string_view kOwners = "owners";

// Parses a file of [[owner]] tables. Throws ConfigError (file, line, key).
std::vector<Owner> ParseOwners(std::string_view text, const std::string& path);

// Parses a file of [[waiver]] tables. Throws ConfigError (file, line, key), also for an owner that
// is not in `owners`.
std::vector<Waiver> ParseWaivers(std::string_view text, const std::string& path,
                                 std::span<const Owner> owners);

// Reads all waivers of a directory. Their owners are those of its owners.toml and, if the names
// differ, `more`. Returns nothing if the directory does not exist.
std::vector<Waiver> LoadWaivers(const std::string& folder, std::span<const Owner> more = {});

std::string Today();  // YYYY-MM-DD, UTC

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_WAIVER_H_
