// SPDX-License-Identifier: Apache-2.0
#include "scaffold/checkout.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "scaffold/change.h"
#include "target/target.h"
#include "target/toml_table.h"

namespace pmuconf::scaffold {
namespace {

namespace fs = std::filesystem;

using Found = std::sregex_iterator;

const std::regex& CaseHead() {
  static const std::regex kHead(R"(\bCONFORMANCE_CASE\(\s*(\w+)\s*,\s*(\w+))");
  return kHead;
}

}  // namespace

Checkout::Checkout(std::string root) : root_(std::move(root)) {
  for (const char* const folder : {kRules, kCases, kTargets}) {
    if (fs::is_directory(Path(folder))) continue;
    throw ConfigError("'" + root_ + "' is not a checkout of pmuconf, it has no folder " + folder +
                      ": change to a checkout, or name one with --root");
  }
}

std::string Checkout::Read(const std::string& path) const {
  auto text = ReadWhole(Path(path));
  if (!text) throw ConfigError(Path(path) + ": cannot be read");
  return *std::move(text);
}

bool Checkout::Exists(const std::string& path) const { return fs::exists(Path(path)); }

std::vector<std::string> Checkout::Stems(const std::string& folder) const {
  std::vector<std::string> stems;
  for (const auto& entry : fs::directory_iterator(Path(folder))) {
    if (entry.path().extension() == ".toml") stems.push_back(entry.path().stem());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

std::vector<std::string> Checkout::RuleAreas() const { return Stems(kRules); }

std::vector<std::string> Checkout::Targets() const { return Stems(kTargets); }

std::map<std::string, std::string> Checkout::RuleStatuses(const std::string& area) const {
  const std::string path = Path(std::string(kRules) + "/" + area + ".toml");
  const toml::table file = ParseTomlFile(path);
  std::map<std::string, std::string> statuses;
  TomlTable root(file, path, "");
  for (TomlTable& rule : root.Tables("rule")) {
    const std::string id = rule.String("id");
    statuses[id] = rule.String("status");
  }
  return statuses;
}

std::map<std::string, std::string> Checkout::RuleStatuses() const {
  std::map<std::string, std::string> statuses;
  for (const std::string& area : RuleAreas()) statuses.merge(RuleStatuses(area));
  return statuses;
}

std::vector<std::string> Checkout::CaseFolders() const {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(Path(kCases))) {
    if (entry.is_directory()) folders.push_back(entry.path().filename());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::string> Checkout::CaseFiles() const {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(Path(kCases))) {
    if (entry.path().string().ends_with("_test.cpp")) {
      files.push_back(fs::relative(entry.path(), root_).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<SourceCase> Checkout::Cases() const {
  std::vector<SourceCase> cases;
  for (const std::string& file : CaseFiles()) {
    const std::string text = Read(file);
    for (Found found(text.begin(), text.end(), CaseHead()), end; found != end; ++found) {
      cases.push_back({(*found)[1], (*found)[2], file});
    }
  }
  return cases;
}

std::map<std::string, std::string> Checkout::RenamedIds() const {
  const std::string path = "conformance/renamed.toml";
  std::map<std::string, std::string> renamed;
  if (!Exists(path)) return renamed;
  const toml::table file = ParseTomlFile(Path(path));
  TomlTable root(file, Path(path), "");
  for (TomlTable& entry : root.Tables("case")) {
    const std::string old_id = entry.String("old");
    renamed[old_id] = entry.String("new");
  }
  return renamed;
}

std::string Checkout::SuiteFor(const std::string& rule_area) const {
  std::map<std::string, int> uses;
  const std::regex use(R"(\bCONFORMANCE_CASE\(\s*(\w+)|\brule::()" + rule_area + ")_[0-9]{3}");
  for (const std::string& file : CaseFiles()) {
    const std::string text = Read(file);
    std::string suite;
    for (Found found(text.begin(), text.end(), use), end; found != end; ++found) {
      if ((*found)[1].matched) {
        suite = (*found)[1];
      } else if (!suite.empty()) {
        ++uses[suite];
      }
    }
  }
  const auto most = std::max_element(
      uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == uses.end() ? "" : most->first;
}

}  // namespace pmuconf::scaffold
