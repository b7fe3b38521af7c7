// SPDX-License-Identifier: Apache-2.0
// Orders versions of kernels by series.
#include "report/kernel_bug.h"

#include <algorithm>
#include <regex>

#include "target/toml_table.h"

namespace pmuconf {
namespace {

// Returns whether `version` is `entry` or a later version that follows from it.
Affected Reached(const KernelVersion& entry, const KernelVersion& version) {
  if (!entry.patch) return version.series >= entry.series ? Affected::kYes : Affected::kOutside;
  if (version.series != entry.series) return Affected::kOutside;
  if (!version.patch) return Affected::kMaybe;
  return *version.patch >= *entry.patch ? Affected::kYes : Affected::kOutside;
}

Affected ReachedAny(const std::vector<std::string>& entries, const KernelVersion& version) {
  Affected reached = Affected::kOutside;
  for (const std::string& entry : entries) {
    if (const auto parsed = ParseKernelVersion(entry))
      reached = std::max(reached, Reached(*parsed, version));
  }
  return reached;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<std::string> Versions(TomlTable* table, const char* key) {
  static const std::regex kVersion("[1-9][0-9]*\\.[0-9]+(\\.[1-9][0-9]*)?");
  std::vector<std::string> versions = table->StringsOr(key, {});
  for (const std::string& version : versions) {
    if (!std::regex_match(version, kVersion))
      table->Fail(key, "must be versions like \"6.17\" or \"6.17.8\"");
  }
  return versions;
}

std::string Commit(TomlTable* table, const char* key) {
  static const std::regex kCommit("([0-9a-f]{12} )?\\(\".+\"\\)");
  std::string commit = table->StringOr(key, "");
  if (!commit.empty() && !std::regex_match(commit, kCommit))
    table->Fail(key,
                "must be like '123456789abc (\"perf: subject\")'; without the id if it is unknown");
  return commit;
}

}  // namespace

std::optional<KernelVersion> ParseKernelVersion(std::string_view release) {
  static const std::regex kRelease("([0-9]+)\\.([0-9]+)(\\.([0-9]+))?(-[0-9])?.*");
  const std::string text(release);
  std::smatch match;
  if (!std::regex_match(text, match, kRelease)) return std::nullopt;
  KernelVersion version{{std::stoi(match[1]), std::stoi(match[2])}, std::nullopt};
  const bool numbered_by_distribution = match[4] == "0" && match[5].matched;
  if (match[4].matched && !numbered_by_distribution) version.patch = std::stoi(match[4]);
  return version;
}

std::string StableVersion(const std::string& release, const std::string& version) {
  static const std::regex kPackage(".* Debian ([0-9]+\\.[0-9]+\\.[0-9]+)-.*");
  std::smatch match;
  return std::regex_match(version, match, kPackage) ? match[1].str() : release;
}

Affected KernelBug::In(const KernelVersion& version) const {
  const Affected wrong = ReachedAny(since, version);
  const Affected right = ReachedAny(fixed, version);
  if (wrong == Affected::kOutside || right == Affected::kYes) return Affected::kOutside;
  return right == Affected::kMaybe ? Affected::kMaybe : wrong;
}

std::string KernelBug::Fixed() const {
  if (fixed.empty()) return "no fix is known";
  return "fixed in " + Joined(fixed) + (fix.empty() ? "" : " by " + fix);
}

std::string KernelBug::Range() const { return "from " + Joined(since) + " on, " + Fixed(); }

KernelBug ReadKernelBug(TomlTable* table) {
  KernelBug bug;
  bug.since = Versions(table, "since");
  if (bug.since.empty()) table->Fail("since", "is missing: the first versions with the bug");
  bug.fixed = Versions(table, "fixed");
  bug.cause = Commit(table, "cause");
  bug.fix = Commit(table, "fix");
  if (!bug.fix.empty() && bug.fixed.empty())
    table->Fail("fixed", "is missing: the versions that have the fix");
  return bug;
}

}  // namespace pmuconf
