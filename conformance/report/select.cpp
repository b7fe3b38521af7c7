// SPDX-License-Identifier: Apache-2.0
// Selection by glob, rule and profile.
#include "report/select.h"

#include <fnmatch.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "target/target.h"

namespace pmuconf {
namespace {

constexpr std::size_t kNamed = 5;

std::size_t Distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

bool Fits(const std::string& glob, const std::string& name) {
  return glob.empty() || fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

// Returns at most kNamed known names, the most similar to `name` first.
std::vector<std::string> Nearest(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> sorted = known;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const std::string& a, const std::string& b) {
    return Distance(name, a) < Distance(name, b);
  });
  sorted.resize(std::min(kNamed, sorted.size()));
  return sorted;
}

[[noreturn]] void Unknown(const char* what, const std::string& name, char separator,
                          const std::vector<std::string>& known) {
  std::string text = std::string("unknown ") + what + " '" + name + "'; nearest:";
  for (const std::string& near : Nearest(name, known)) text += " " + near;
  text += "; known:";
  std::set<std::string> families;
  for (const std::string& one : known) families.insert(one.substr(0, one.find(separator) + 1));
  for (const std::string& family : families) text += " " + family + "*";
  throw ConfigError(text);
}

}  // namespace

std::vector<std::string> Select(const Selection& selection, const Profile& profile,
                                std::span<const KnownCase> suite, std::span<const Rule> catalogue) {
  std::vector<std::string> case_ids, rule_ids;
  for (const KnownCase& info : suite) case_ids.push_back(info.id);
  for (const Rule& rule : catalogue) rule_ids.emplace_back(rule.id);
  const auto none = [](const std::vector<std::string>& names, const std::string& glob) {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return Fits(glob, name); });
  };
  if (none(case_ids, selection.case_glob)) Unknown("case", selection.case_glob, '.', case_ids);
  if (none(rule_ids, selection.rule)) Unknown("rule", selection.rule, '-', rule_ids);

  std::vector<std::string> ids;
  for (const KnownCase& info : suite) {
    if (!Fits(selection.case_glob, info.id)) continue;
    const bool wanted = std::any_of(info.rules.begin(), info.rules.end(), [&](const auto& rule) {
      const bool in_profile = profile.name.empty() || profile.Contains(rule);
      return in_profile && Fits(selection.rule, rule);
    });
    if (wanted) ids.push_back(info.id);
  }
  if (ids.empty())
    throw ConfigError("no case is selected: none matches all of --case, --rule and --profile");
  return ids;
}

}  // namespace pmuconf
