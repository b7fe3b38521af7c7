// SPDX-License-Identifier: Apache-2.0
// Prints rules.
#include "report/explain.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace pmuconf {
namespace {

std::string_view ToString(RuleStatus status) {
  switch (status) {
    case RuleStatus::kDraft:
      return "draft";
    case RuleStatus::kActive:
      return "active";
    case RuleStatus::kRetired:
      return "retired";
  }
  return "?";
}

std::string_view AreaOf(std::string_view id) { return id.substr(0, id.find('-')); }

// Returns "attr_size is 128 on <6.12, 136 on >=6.12".
std::string ByKernel(const Rule& rule) {
  std::string text;
  std::string_view last;
  for (const RuleValue& value : rule.by_kernel) {
    text +=
        value.name == last ? ", " : (text.empty() ? "" : "; ") + std::string(value.name) + " is ";
    text += std::to_string(value.value) + " on " + std::string(value.kernels);
    last = value.name;
  }
  return text;
}

std::vector<const CasePlace*> CasesOf(const Rule& rule, std::span<const CasePlace> cases) {
  std::vector<const CasePlace*> found;
  for (const CasePlace& place : cases) {
    if (std::find(place.rules.begin(), place.rules.end(), rule.id) != place.rules.end()) {
      found.push_back(&place);
    }
  }
  return found;
}

// Escapes Markdown syntax in a table or paragraph.
std::string Markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<' || c == '*' || c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Returns ", for each cpu, member", or nothing.
std::string ForEach(const CasePlace& place) {
  std::string text;
  for (const std::string& dimension : place.dimensions) {
    text += (text.empty() ? ", for each " : ", ") + dimension;
  }
  return text;
}

std::string LinkTo(const std::string& name, std::string_view file, int line) {
  return "[" + name + "](../../" + std::string(file) +
         (line == 0 ? "" : "#L" + std::to_string(line)) + ")";
}

}  // namespace

std::string ExplainRule(const Rule& rule, std::span<const CasePlace> cases,
                        const Evidence& evidence) {
  std::ostringstream os;
  os << rule.id << "  " << pmuconf::ToString(rule.level) << ", " << ToString(rule.status) << "\n"
     << "  " << rule.text << "\n"
     << "why:      " << rule.why << "\n"
     << "source:   " << rule.source << "\n"
     << "applies:  " << rule.applies << "\n"
     << "kernels:  " << rule.kernels << "\n";
  if (!rule.by_kernel.empty()) os << "differs:  " << ByKernel(rule) << "\n";
  os << "layer:    " << rule.layer << "\n";
  bool any = false;
  for (const CasePlace* place : CasesOf(rule, cases)) {
    os << "case:     " << place->id << "  " << place->file << ":" << place->line << ForEach(*place)
       << "\n";
    any = true;
  }
  for (const OtherTest& test : evidence.tests) {
    if (test.rule != rule.id) continue;
    any = true;
    os << (test.layer == "kunit" ? "KUnit:    " : "pytest:   ") << test.name << "  " << test.file
       << "\n";
  }
  for (const UntestedRule& untested : evidence.untested) {
    if (untested.rule != rule.id) continue;
    any = true;
    os << "untested: " << untested.reason << "\n";
  }
  if (!evidence.known) {
    os << "others:   not listed: there is no evidence.json next to the program\n";
  } else if (!any && rule.status == RuleStatus::kActive) {
    os << "untested: no reason is given\n";
  }
  return os.str();
}

std::string ExplainAll(std::span<const Rule> rules, std::span<const CasePlace> cases,
                       const Evidence& evidence) {
  std::map<std::string_view, int> areas;
  for (const Rule& rule : rules) ++areas[AreaOf(rule.id)];
  std::ostringstream os;
  os << "# The rules\n\n`make rules` generates this page from the catalogue and the tests. "
     << rules.size() << " rules in " << areas.size() << " areas:";
  for (const auto& [area, n] : areas) os << " [" << area << "](#" << area << ") " << n;
  os << ".\n";
  std::string_view area;
  for (const Rule& rule : rules) {
    if (AreaOf(rule.id) != area) {
      area = AreaOf(rule.id);
      os << "\n## " << area << "\n";
    }
    os << "\n### " << rule.id << "\n\n**" << pmuconf::ToString(rule.level) << "**"
       << (rule.status == RuleStatus::kActive ? ""
                                              : " (" + std::string(ToString(rule.status)) + ")")
       << " " << Markdown(rule.text) << "\n\n- Why: " << Markdown(rule.why)
       << "\n- Source: " << Markdown(rule.source) << "\n- Applies to: `" << rule.applies
       << "`, kernels `" << rule.kernels << "`\n";
    if (!rule.by_kernel.empty()) os << "- By kernel: " << Markdown(ByKernel(rule)) << "\n";
    for (const CasePlace* place : CasesOf(rule, cases)) {
      os << "- Case " << LinkTo(place->id, place->file, place->line) << ForEach(*place) << "\n";
    }
    for (const OtherTest& test : evidence.tests) {
      if (test.rule != rule.id) continue;
      os << "- " << (test.layer == "kunit" ? "KUnit " : "pytest ")
         << LinkTo(test.name, test.file, 0) << "\n";
    }
    for (const UntestedRule& untested : evidence.untested) {
      if (untested.rule == rule.id) os << "- Untested: " << Markdown(untested.reason) << "\n";
    }
  }
  return os.str();
}

}  // namespace pmuconf
