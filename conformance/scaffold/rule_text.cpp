// SPDX-License-Identifier: Apache-2.0
#include "scaffold/rule_text.h"

#include <algorithm>
#include <iterator>
#include <regex>
#include <sstream>

#include "scaffold/names.h"
#include "target/target.h"

namespace pmuconf::scaffold {
namespace {

constexpr std::size_t kMaxWords = 40;

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The keywords of a text: "MUST", "MUST NOT", ...
std::vector<std::string> Keywords(const std::string& text) {
  static const std::regex kKeyword(R"(\b(?:MUST|SHOULD|MAY)\b(?: NOT\b)?)");
  std::vector<std::string> found;
  for (std::sregex_iterator one(text.begin(), text.end(), kKeyword), end; one != end; ++one) {
    found.push_back(one->str());
  }
  return found;
}

void CheckText(const std::string& text, const std::string& level) {
  std::vector<std::string> fitting = {level};
  if (level != "MAY") fitting.push_back(level + " NOT");
  const auto used = Keywords(text);
  if (used.size() != 1) {
    throw ConfigError("--text must have exactly one MUST, SHOULD or MAY, not: " +
                      (used.empty() ? "none" : Joined(used)));
  }
  if (std::find(fitting.begin(), fitting.end(), used.front()) == fitting.end()) {
    throw ConfigError("--text has " + used.front() + ", but level " + level + " needs " +
                      Joined(fitting) + ": change --text or --level");
  }
  const auto words = Words(text);
  const auto ends = [](const std::string& word) {
    return word.ends_with('.') || word.ends_with('!') || word.ends_with('?');
  };
  if (std::any_of(words.begin(), words.end() - 1, ends) || !words.back().ends_with('.')) {
    throw ConfigError("--text must be one sentence that ends with a full stop");
  }
  const auto counted = std::count_if(words.begin(), words.end(), [](const std::string& word) {
    return std::any_of(word.begin(), word.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             c == '_' || static_cast<unsigned char>(c) >= 0x80;
    });
  });
  if (static_cast<std::size_t>(counted) > kMaxWords) {
    throw ConfigError("--text has " + std::to_string(counted) + " words, at most " +
                      std::to_string(kMaxWords) + " are allowed");
  }
}

bool IsBlank(const std::string& text) { return Words(text).empty(); }

}  // namespace

void CheckRule(const RuleText& rule) {
  static const std::regex kSource(
      R"(linux:[^#]+#.+|linux:Documentation/[^#]+|man:[\w.-]+\(\d\)#.+)");
  if (rule.level != "MUST" && rule.level != "SHOULD" && rule.level != "MAY") {
    throw ConfigError("--level '" + rule.level + "' must be one of MUST, SHOULD, MAY");
  }
  static const std::vector<std::string> kSubjects = {"driver", "perf core", "architecture",
                                                     "suite"};
  if (std::find(kSubjects.begin(), kSubjects.end(), rule.subject) == kSubjects.end()) {
    throw ConfigError("--subject '" + rule.subject + "' must be one of " + Joined(kSubjects));
  }
  CheckText(rule.text, rule.level);
  if (IsBlank(rule.why)) {
    throw ConfigError("--why must name the effect on a user if a driver violates the rule");
  }
  if (rule.source.empty()) throw ConfigError("no --source: name the contract");
  for (const std::string& source : rule.source) {
    if (!std::regex_match(source, kSource)) {
      throw ConfigError("--source '" + source +
                        "' must be linux:FILE#SYMBOL, linux:Documentation/FILE or "
                        "man:PAGE(2)#WORDS");
    }
  }
}

std::string DraftRule(const RuleText& rule) {
  std::string source;
  for (const std::string& one : rule.source)
    source += (source.empty() ? "" : ", ") + TomlString(one);
  return "[[rule]]\nid      = " + TomlString(rule.id) + "\nlevel   = " + TomlString(rule.level) +
         "\nstatus  = \"draft\"\nsubject = " + TomlString(rule.subject) +
         "\ntext    = " + TomlString(rule.text) + "\nwhy     = " + TomlString(rule.why) +
         "\nsource  = [" + source + "]\napplies = \"true\"\nkernels = \">=6.1\"\n";
}

}  // namespace pmuconf::scaffold
