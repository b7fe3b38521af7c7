// SPDX-License-Identifier: Apache-2.0
// Groups failures by the subject of their rules.
#include "report/fix_in.h"

#include <cctype>
#include <map>

namespace pmuconf {

std::string FixIn(const std::vector<const Rule*>& rules) {
  std::map<RuleSubject, std::string> ids;
  for (const Rule* rule : rules) {
    std::string& text = ids[rule->subject];
    text += (text.empty() ? "" : ", ") + std::string(rule->id);
  }
  if (ids.empty()) return "";
  if (ids.size() == 1) return "fix in: " + std::string(ToString(ids.begin()->first));
  std::string text;
  for (const auto& [subject, list] : ids) {
    text += (text.empty() ? "fix in: " : ", ") + std::string(ToString(subject)) + " (" + list + ")";
  }
  return text;
}

std::string FailedBySubject(const Report& report) {
  std::map<RuleSubject, int> failed;
  for (const RuleRow& row : report.rules) {
    if (row.result == RuleResult::kFailed) ++failed[row.rule.subject];
  }
  std::string text;
  for (const auto& [subject, n] : failed) {
    text += (text.empty() ? "  failed: " : ", ") + std::to_string(n);
    if (subject == failed.begin()->first) text += n == 1 ? " rule" : " rules";
    text += " of the " + std::string(ToString(subject));
  }
  return text.empty() ? "" : text + "\n";
}

std::string DraftResults(const Report& report) {
  std::map<std::string, int> results;
  for (const RuleRow& row : report.drafts) {
    std::string name(ToString(row.result));
    for (char& c : name) c = c == '_' ? ' ' : static_cast<char>(std::tolower(c));
    ++results[name];
  }
  std::string text;
  for (const auto& [name, n] : results) {
    text +=
        (text.empty() ? "  drafts, which decide nothing: " : ", ") + std::to_string(n) + " " + name;
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace pmuconf
