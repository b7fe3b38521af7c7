// SPDX-License-Identifier: Apache-2.0
// Reads profiles.
#include "report/profile.h"

#include <algorithm>

#include "system/sysfs.h"
#include "target/target.h"
#include "target/toml_table.h"

namespace pmuconf {
namespace {

constexpr std::string_view kSuffix = ".toml";

std::string_view AreaOf(std::string_view rule) { return rule.substr(0, rule.find('-')); }

bool Names(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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
  const auto areas = table->StringsOr("areas", {});
  const auto extra = table->StringsOr("rules", {});
  const auto without = table->StringsOr("without", {});
  table->Finish();
  root.Finish();

  for (const std::string& area : areas) {
    if (std::none_of(catalogue.begin(), catalogue.end(),
                     [&](const Rule& r) { return AreaOf(r.id) == area; })) {
      table->Fail("areas", "names area '" + area + "', which has no rule");
    }
  }
  for (const auto& [key, ids] : {std::pair("rules", extra), std::pair("without", without)}) {
    for (const std::string& id : ids) {
      if (std::none_of(catalogue.begin(), catalogue.end(),
                       [&](const Rule& r) { return r.id == id; })) {
        table->Fail(key, "names unknown rule '" + id + "'");
      }
    }
  }
  for (const Rule& rule : catalogue) {
    const bool named = Names(areas, AreaOf(rule.id)) || Names(extra, rule.id);
    if (named && !Names(without, rule.id) && rule.status == RuleStatus::kActive) {
      profile.rules.push_back(rule);
    }
  }
  if (profile.rules.empty()) table->Fail("areas", "and 'rules' name no active rule");
  return profile;
}

Profile WholeCatalogue(std::span<const Rule> catalogue) {
  Profile profile;
  profile.text = "Every active rule of the catalogue.";
  for (const Rule& rule : catalogue) {
    if (rule.status == RuleStatus::kActive) profile.rules.push_back(rule);
  }
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
