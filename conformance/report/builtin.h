// SPDX-License-Identifier: Apache-2.0
// Files and facts that are compiled into the program, so that it runs without the rest of the
// suite.
#ifndef PMUCONF_REPORT_BUILTIN_H_
#define PMUCONF_REPORT_BUILTIN_H_

#include <span>
#include <string_view>

namespace pmuconf {

// A file of conformance/ at the time of the build.
struct BuiltinFile {
  std::string_view folder;  // "targets", "profiles", "waivers"
  std::string_view name;    // without ".toml"
  std::string_view text;
};
std::span<const BuiltinFile> BuiltinFiles();

// Returns the file, or null.
const BuiltinFile* FindBuiltin(std::string_view folder, std::string_view name);

// The reason why no test verifies a rule (conformance/untested.toml).
struct UntestedReasonOfRule {
  std::string_view rule;
  std::string_view reason;
};
std::span<const UntestedReasonOfRule> UntestedReasons();

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_BUILTIN_H_
