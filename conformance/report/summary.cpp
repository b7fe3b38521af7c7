// SPDX-License-Identifier: Apache-2.0
// The summary that a person reads at the end of a run.
#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "report/fix_in.h"
#include "report/formats.h"
#include "report/joined.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

// Messages come from the guest. They must not control the terminal or look like the verdict.
void Indented(const std::string& text, std::ostream& os) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) os << "    " << OneLine(line) << "\n";
}

const Rule* RuleOf(const Report& report, std::string_view id) {
  for (const auto* rows : {&report.rules, &report.drafts}) {
    for (const RuleRow& row : *rows) {
      if (row.rule.id == id) return &row.rule;
    }
  }
  return FindRule(id);
}

std::string CountsLine(const std::string& head, const std::map<std::string, int>& counts) {
  std::string text = head;
  const char* separator = "";
  for (const auto& [what, n] : counts) {
    if (n == 0) continue;
    text += separator + std::to_string(n) + " " + what;
    separator = ", ";
  }
  return text + "\n";
}

// Returns the names of cases, or the number per suite if there are many. results.json has all
// names.
std::string JoinedIds(const std::vector<std::string>& ids) {
  constexpr std::size_t kNames = 5;
  std::string text;
  if (ids.size() <= kNames) {
    for (const std::string& id : ids) text += " " + id;
    return text + "\n";
  }
  std::map<std::string, int> suites;
  for (const std::string& id : ids) ++suites[id.substr(0, id.find('.'))];
  return CountsLine(" ", suites);
}

// Lists all skipped cases by reason, so that no skip goes unnoticed.
std::string Skips(const Report& report) {
  std::map<std::pair<SkipReason, std::string>, std::vector<std::string>> by_reason;
  for (const CaseResult& row : report.cases) {
    if (row.result == Result::kSkip)
      by_reason[{row.skip_reason, WhySkipped(row)}].push_back(row.id);
  }
  std::string text;
  for (const auto& [reason, ids] : by_reason)
    text += "  skipped, " + OneLine(reason.second) + ":" + JoinedIds(ids);
  return text;
}

// Lists the cases that were run again because tasks or interrupts disturbed them. This changes no
// results.
std::string PreemptedCases(const Report& report) {
  std::vector<std::string> ids;
  for (const CaseResult& row : report.cases) {
    if (row.runs > 1) ids.push_back(row.id);
  }
  return ids.empty() ? "" : "  run again, because they were disturbed:" + JoinedIds(ids);
}

// Lists the numbers of rules that each layer judged, and of those that miss a layer.
std::string RulesOfLayers(const Report& report) {
  const LayerCounts counts = CountLayers(report, false);
  const std::string judged = JudgedText(counts);
  std::string text = "  rules judged: " + (judged.empty() ? "none" : judged) + "\n";
  if (!counts.not_run.empty()) text += "  not run: " + RulesByLayer(counts.not_run, false) + "\n";
  if (!counts.without_it.empty()) {
    text +=
        "  not run, but judged by other layers: " + RulesByLayer(counts.without_it, false) + "\n";
  }
  if (counts.review > 0) {
    text += "  not testable by a program: " + std::to_string(counts.review) +
            ", reasons in conformance/untested.toml and results.json\n";
  }
  return text;
}

// The first line of the report on a kernel that is newer than the rules.
std::string NewerKernel(const Report& report) {
  if (report.newest_kernel.empty()) return "";
  const auto n =
      std::ranges::count(report.cases, SkipReason::kKernelNewer, &CaseResult::skip_reason);
  return "Linux " + OneLine(report.release) + " is newer than " + report.newest_kernel +
         ", the newest that the rules describe: " + std::to_string(n) +
         (n == 1 ? " case that failed is" : " cases that failed are") +
         " not judged (kernel_newer)\n";
}

// Lists the cases that pass although this kernel should have a known bug. Its fix may be
// backported.
std::string PassedInSpiteOfBugs(const Report& report) {
  std::string text;
  for (const CaseResult& row : report.cases) {
    if (row.result == Result::kPass && !row.message.empty())
      text += "  " + row.id + " " + OneLine(row.message) + "\n";
  }
  return text;
}

void Unpassed(const Report& report, const std::string& prefix, const CaseResult& row,
              std::ostream& os) {
  if (row.result == Result::kPass || row.result == Result::kSkip) return;
  os << "\n" << ToString(row.result) << "  " << OneLine(prefix + row.id) << "\n";
  Indented(Failure(report, row, prefix.empty()), os);
}

}  // namespace

std::string WhySkipped(const CaseResult& row) {
  const std::string first = row.message.substr(0, row.message.find('\n'));
  const std::string phrase(Phrase(row.skip_reason));
  return phrase + (phrase.empty() || first.empty() ? "" : ": ") + first;
}

std::string Failure(const Report& report, const CaseResult& row, bool of_suite) {
  const bool waived = row.result == Result::kWaived && row.waiver;
  std::string text = waived ? row.waiver->text + "\n" + row.message : row.message;
  std::vector<const Rule*> rules;
  for (const std::string& id : row.rules) {
    const Rule* const rule = RuleOf(report, id);
    if (rule == nullptr) continue;
    rules.push_back(rule);
    if (row.message.find("rule " + id + " (") == std::string::npos) {
      text += "\nrule " + id + " (" + std::string(ToString(rule->level)) +
              "): " + std::string(rule->text);
    }
    text += "\nwhy " + id + ": " + std::string(rule->why);
    if (rule->status == RuleStatus::kDraft) text += "\ndraft: " + id + " decides no verdict";
  }
  if (const std::string fix = FixIn(rules); !fix.empty()) text += "\n" + fix;
  if (of_suite && !report.repro_command.empty())
    text += "\nrepro: " + report.repro_command + row.id;
  return text;
}

std::vector<std::string> VerdictLines(const Report& report) {
  const auto phrase = [](Verdict verdict, const std::string& reason) {
    std::string text(ToString(verdict));
    for (char& c : text) c = c == '_' ? ' ' : c;
    return text + ": " + reason;
  };
  std::vector<std::string> lines;
  bool decides = false;
  for (const SubjectVerdict& one : report.verdicts) {
    lines.push_back(std::string(ToString(one.subject)) + ": " + phrase(one.verdict, one.reason));
    decides = decides || (one.verdict == report.verdict && one.reason == report.reason);
  }
  if (!decides) lines.push_back("all: " + phrase(report.verdict, report.reason));
  return lines;
}

std::string Summary(const Report& report) {
  std::ostringstream os;
  os << NewerKernel(report);
  for (const CaseResult& row : report.cases) Unpassed(report, "", row, os);
  for (const LayerResults& layer : report.layers) {
    for (const CaseResult& row : layer.cases) Unpassed(report, layer.layer + " ", row, os);
  }
  const Totals& t = report.totals;
  std::map<std::string, int> rules;
  for (const RuleRow& row : report.rules) {
    std::string name(ToString(row.result));
    for (char& c : name) c = c == '_' ? ' ' : static_cast<char>(std::tolower(c));
    ++rules[name];
  }
  os << "\n"
     << OneLine(report.target) << " on Linux " << OneLine(report.release) << " ("
     << OneLine(report.arch) << "), "
     << (report.profile.empty() ? "whole catalogue" : "profile " + report.profile) << "\n";
  if (!report.counts.empty()) os << "  " << report.counts << "\n";
  os << CountsLine("  cases " + std::to_string(t.cases) + ": ", {{"passed", t.passed},
                                                                 {"failed", t.failed},
                                                                 {"skipped", t.skipped},
                                                                 {"waived", t.waived},
                                                                 {"broken", t.broken},
                                                                 {"timed out", t.timeout},
                                                                 {"crashed", t.crash},
                                                                 {"lost", t.lost}});
  std::map<std::string, int> skip_reasons;
  for (const auto& [skip_reason, n] : t.skip_reasons)
    skip_reasons[std::string(Phrase(skip_reason))] = n;
  if (!skip_reasons.empty()) os << CountsLine("  without an answer: ", skip_reasons);
  os << CountsLine("  rules " + std::to_string(t.rules) + ": ", rules);
  os << FailedBySubject(report) << DraftResults(report) << RulesOfLayers(report);
  os << Skips(report) << PreemptedCases(report) << PassedInSpiteOfBugs(report);
  for (const std::string& problem : report.problems)
    os << "  problem: " << OneLine(problem) << "\n";
  for (const std::string& line : VerdictLines(report)) os << line << "\n";
  return os.str();
}

}  // namespace pmuconf
