// SPDX-License-Identifier: Apache-2.0
// Reads profiles.
#include "report/profile.h"

#include <algorithm>
#include <iterator>

#include "system/sysfs.h"
#include "target/target.h"
#include "target/toml_table.h"

namespace pmuconf {
namespace {

constexpr std::string_view kSuffix = ".toml";

std::vector<Rule> Drafts(std::span<const Rule> catalogue) {
  std::vector<Rule> drafts;
  std::copy_if(catalogue.begin(), catalogue.end(), std::back_inserter(drafts),
               [](const Rule& rule) { return rule.status == RuleStatus::kDraft; });
  return drafts;
}

}  // namespace

bool Profile::Contains(std::string_view rule) const {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& r) { return r.id == rule; });
}

Profile ParseProfile(std::string_view text, const std::string& path,
                     std::span<const Rule> catalogue) {
  const toml::table file = ParseToml(text, path);
  TomlTable root(file, path, "");
  auto table = root.Table("profile");
  if (!table) root.Fail("profile", "is missing");
  Profile profile;
  profile.name = table->String("name") + "-" + table->String("version");
  profile.text = table->String("text");
  const auto ids = table->StringsOr("rules", {});
  table->Finish();
  root.Finish();

  std::string_view last;
  for (const std::string& id : ids) {
    if (id <= last) table->Fail("rules", "must be sorted, each rule once: '" + id + "'");
    last = id;
    const auto rule = std::find_if(catalogue.begin(), catalogue.end(),
                                   [&](const Rule& one) { return one.id == id; });
    if (rule == catalogue.end()) table->Fail("rules", "names unknown rule '" + id + "'");
    if (rule->status == RuleStatus::kDraft) table->Fail("rules", "names draft '" + id + "'");
    if (rule->status == RuleStatus::kActive) profile.rules.push_back(*rule);
  }
  if (profile.rules.empty()) table->Fail("rules", "names no active rule");
  profile.drafts = Drafts(catalogue);
  return profile;
}

Profile WholeCatalogue(std::span<const Rule> catalogue) {
  Profile profile;
  profile.text = "Every active rule of the catalogue.";
  for (const Rule& rule : catalogue) {
    if (rule.status == RuleStatus::kActive) profile.rules.push_back(rule);
  }
  profile.drafts = Drafts(catalogue);
  return profile;
}

Profile LoadProfile(const std::string& folder, const std::string& name,
                    std::span<const Rule> catalogue) {
  if (name.empty()) return WholeCatalogue(catalogue);
  std::string known;
  for (const std::string& file : ListFolder(folder)) {
    if (!file.ends_with(kSuffix)) continue;
    const std::string stem = file.substr(0, file.size() - kSuffix.size());
    const std::string path = folder + "/" + file;
    if (stem != name) {
      known += (known.empty() ? "" : ", ") + stem;
      continue;
    }
    const auto text = ReadFile(path);
    if (!text) throw ConfigError(path + ": cannot be read");
    Profile profile = ParseProfile(*text, path, catalogue);
    if (profile.name != stem)
      throw ConfigError(path + ": profile.name and version are " + profile.name +
                        ", not the file's name");
    return profile;
  }
  throw ConfigError("unknown profile '" + name + "' (known: " + known + ")");
}

}  // namespace pmuconf
