// SPDX-License-Identifier: Apache-2.0
#include "scaffold/new_case.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "report/select.h"
#include "scaffold/case_text.h"
#include "scaffold/names.h"
#include "target/target.h"

namespace pmuconf::scaffold {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 5;

// Splits the id. Throws ConfigError if it cannot be the id of a new case.
CaseText Named(const Checkout& checkout, const std::string& id) {
  CaseText text;
  const std::size_t dot = id.find('.');
  text.suite = id.substr(0, dot);
  if (dot != std::string::npos) text.name = id.substr(dot + 1);
  if (!IsUpperCamelCase(text.suite) || !IsClaim(text.name)) {
    throw ConfigError("case id '" + id +
                      "' must be an area and a claim in UpperCamelCase, like "
                      "Counting.DisabledTimeIsNotCounted");
  }
  if (!Fits(text)) throw ConfigError("case id '" + id + "' is too long for a line of source");
  for (const SourceCase& known : checkout.Cases()) {
    if (known.Id() == id) throw ConfigError("case " + id + " exists already: " + known.file);
  }
  const auto renamed = checkout.RenamedIds();
  if (const auto old = renamed.find(id); old != renamed.end()) {
    throw ConfigError("case id " + id + " is the old id of " + old->second +
                      " in conformance/renamed.toml: choose another");
  }
  return text;
}

// Returns the folder of the suite: the one of that name, or else the one with most of its cases.
std::string FolderOf(const Checkout& checkout, const std::string& suite) {
  const std::vector<std::string> folders = checkout.CaseFolders();
  std::string lower;
  for (const char c : suite) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (std::find(folders.begin(), folders.end(), lower) != folders.end()) return lower;
  std::map<std::string, int> counts;
  std::set<std::string> suites;
  for (const SourceCase& known : checkout.Cases()) {
    suites.insert(known.suite);
    if (known.suite == suite) ++counts[fs::path(known.file).parent_path().filename()];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != counts.end()) return most->first;
  throw ConfigError("unknown area '" + suite +
                    "' (known: " + Joined({suites.begin(), suites.end()}) + ")");
}

void CheckRules(const std::map<std::string, std::string>& statuses,
                const std::vector<std::string>& rules) {
  if (rules.empty()) throw ConfigError("no rule: name with --rule what the case verifies");
  std::vector<std::string> known;
  for (const auto& [id, status] : statuses) known.push_back(id);
  for (const std::string& id : rules) {
    const auto rule = statuses.find(id);
    if (rule == statuses.end()) {
      throw ConfigError("unknown rule '" + id +
                        "'; nearest: " + Joined(Nearest(id, known, kNamed)));
    }
    if (rule->second == "retired") throw ConfigError("rule " + id + " is retired");
    if (std::count(rules.begin(), rules.end(), id) > 1) {
      throw ConfigError("rule " + id + " is named twice");
    }
  }
}

// Returns all needs of the case. Without a stimulus nothing would happen to the event.
std::vector<std::string> NeedsOf(const std::vector<std::string>& wanted) {
  std::vector<std::string> known;
  for (const Cap cap : AllCaps()) known.emplace_back(ToString(cap));
  std::vector<std::string> needs;
  const bool trace = std::find(wanted.begin(), wanted.end(), "trace") != wanted.end();
  if (!trace) needs.emplace_back(ToString(Cap::kStimulus));
  for (const std::string& name : wanted) {
    if (!CapFromString(name)) {
      throw ConfigError("unknown capability '" + name + "'; nearest: " +
                        Joined(Nearest(name, known, kNamed)) + " (docs/targets.md lists all)");
    }
    if (std::find(needs.begin(), needs.end(), name) == needs.end()) needs.push_back(name);
  }
  return needs;
}

// Returns the path, from the root, of the existing file of cases that the user named.
std::string ExistingFile(const Checkout& checkout, const std::string& file) {
  const fs::path root = fs::weakly_canonical(checkout.root());
  const fs::path path = fs::weakly_canonical(root / file);
  const std::string relative = path.lexically_relative(root).string();
  if (!fs::is_regular_file(path) || !relative.starts_with(std::string(kCases) + "/") ||
      !relative.ends_with("_test.cpp")) {
    throw ConfigError("--file '" + file + "' must be an existing file " + kCases +
                      "/<area>/<topic>_test.cpp, by its path from the root of the checkout");
  }
  return relative;
}

}  // namespace

Scaffold NewCase(const Checkout& checkout, const CaseRequest& request) {
  CaseText text = Named(checkout, request.id);
  const std::string folder = FolderOf(checkout, text.suite);
  const auto statuses = checkout.RuleStatuses();
  CheckRules(statuses, request.rules);
  text.rules = request.rules;
  text.needs = NeedsOf(request.needs);

  Scaffold scaffold;
  if (request.file.empty()) {
    const std::string path =
        std::string(kCases) + "/" + folder + "/" + SnakeCase(text.name) + "_test.cpp";
    if (checkout.Exists(path)) {
      throw ConfigError(path + " exists already: append to it with --file " + path);
    }
    scaffold.changes.push_back({path, NewFile(text), true});
  } else {
    const std::string path = ExistingFile(checkout, request.file);
    scaffold.changes.push_back({path, Appended(checkout.Read(path), text, path), false});
  }

  std::vector<std::string> drafts;
  for (const std::string& id : request.rules) {
    if (statuses.at(id) == "draft") drafts.push_back(id);
  }
  if (!drafts.empty()) {
    scaffold.notes.push_back("still a draft, until make activate: " + Joined(drafts));
  }
  scaffold.notes.push_back("replace FAIL() in the case by its expectation");
  scaffold.next = "make run CASE=" + request.id;
  return scaffold;
}

}  // namespace pmuconf::scaffold
