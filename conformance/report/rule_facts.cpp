// SPDX-License-Identifier: Apache-2.0
// Joins the facts about rules and tests.
#include "report/rule_facts.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace pmuconf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNamed = 4;
constexpr const char* kStates[] = {"seen", "claimed", "reason", "none"};
// In the order of the summary.
constexpr const char* kKinds[] = {"driver", "kernel", "answer", "target", "suite"};

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

template <typename Names, typename Name>
bool Contains(const Names& names, const Name& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  });
}

Json Split(std::string_view text, std::string_view separator) {
  Json parts = Json::array();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  return parts;
}

std::vector<const CasePlace*> CasesOf(std::string_view rule, const FactSources& sources) {
  std::vector<const CasePlace*> found;
  for (const CasePlace& place : sources.cases) {
    if (Contains(place.rules, rule)) found.push_back(&place);
  }
  return found;
}

bool Names(const Fault& fault, std::string_view rule, const FactSources& sources) {
  if (!fault.rules.empty()) return Contains(fault.rules, rule);
  const auto cases = CasesOf(rule, sources);
  return std::any_of(cases.begin(), cases.end(),
                     [&](const CasePlace* place) { return Contains(fault.cases, place->id); });
}

Json Row(const SeenFault& seen) {
  return {{"observer", seen.observer}, {"test", seen.test}, {"kernel", seen.kernel}};
}

Json Row(const Fault& fault) {
  return {{"kind", fault.kind},           {"id", fault.id},         {"text", fault.text},
          {"file", fault.file},           {"target", fault.target}, {"kernels", fault.kernels},
          {"observers", fault.observers}, {"seen", Json::array()}};
}

// The faults that name the rule or were seen to fail it, the latter first.
Json FaultsOf(std::string_view rule, const FactSources& sources) {
  std::map<std::pair<std::string, std::string>, Json> seen;
  for (const SeenFault& one : sources.recorded.seen) {
    if (one.rule == rule) {
      seen.try_emplace({one.kind, one.id}, Json::array()).first->second.push_back(Row(one));
    }
  }
  Json proven = Json::array(), claimed = Json::array();
  for (const Fault& fault : sources.evidence.faults) {
    const auto it = seen.find({fault.kind, fault.id});
    if (it != seen.end()) {
      proven.push_back(Row(fault));
      proven.back()["seen"] = it->second;
      seen.erase(it);
    } else if (Names(fault, rule, sources)) {
      claimed.push_back(Row(fault));
    }
  }
  for (const auto& [key, rows] : seen) {  // The file of the fault no longer exists.
    proven.push_back(Row(Fault{.kind = key.first, .id = key.second}));
    proven.back()["seen"] = rows;
  }
  for (Json& row : claimed) proven.push_back(std::move(row));
  return proven;
}

// Returns "2 driver faults (M01-1, M01-2) and 1 answer fault (count-is-high)".
std::string Counted(const Json& faults) {
  std::vector<std::string> parts;
  for (const std::string kind : kKinds) {
    std::string ids;
    std::size_t n = 0;
    for (const Json& fault : faults) {
      if (fault["kind"] != kind) continue;
      if (n++ < kNamed) ids += (ids.empty() ? "" : ", ") + fault["id"].get<std::string>();
    }
    if (n > kNamed) ids += ", and " + std::to_string(n - kNamed) + " more";
    if (n != 0) {
      parts.push_back(std::to_string(n) + " " + kind + " fault" + (n == 1 ? "" : "s") + " (" + ids +
                      ")");
    }
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text;
}

// Returns the answer to the question whether the rule can fail. A claim counts unless results of
// the fault exist, and it failed other rules only.
Json Answer(const Json& faults, std::string_view reason, const Recorded& recorded) {
  Json seen = Json::array(), claimed = Json::array(), missed = Json::array();
  for (const Json& fault : faults) {
    const bool ran = recorded.ran.contains({fault["kind"], fault["id"]});
    (!fault["seen"].empty() ? seen : ran ? missed : claimed).push_back(fault);
  }
  const auto proof = [](Proof state, const std::string& summary) {
    return Json{{"state", kStates[static_cast<int>(state)]}, {"summary", summary}};
  };
  if (!seen.empty()) return proof(Proof::kSeen, "failed by " + Counted(seen));
  if (!claimed.empty()) {
    return proof(Proof::kClaimed,
                 "failed by " + Counted(claimed) + "; claimed, no result is recorded");
  }
  const std::string nothing = "nothing was seen to fail it";
  if (!missed.empty()) return proof(Proof::kNone, nothing + "; claimed by " + Counted(missed));
  if (!reason.empty()) return proof(Proof::kReason, nothing + ": " + std::string(reason));
  return proof(Proof::kNone, nothing);
}

Json JudgedOf(std::string_view rule, const Recorded& recorded) {
  Json rows = Json::array();
  for (const JudgedRun& run : recorded.runs) {
    const auto it = run.rules.find(std::string(rule));
    if (it == run.rules.end()) continue;
    rows.push_back({{"result", it->second},
                    {"observer", run.observer},
                    {"target", run.target},
                    {"kernel", run.kernel},
                    {"arch", run.arch},
                    {"when", run.when}});
  }
  return rows;
}

Json WaiversOf(const std::string& case_id, const FactSources& sources) {
  Json rows = Json::array();
  for (const Waiver& waiver : sources.waivers) {
    if (!Matches(waiver.cases, case_id)) continue;
    rows.push_back({{"id", waiver.id},
                    {"case", case_id},
                    {"targets", waiver.targets},
                    {"kernels", waiver.bug ? waiver.bug->Range() : waiver.kernels},
                    {"arch", waiver.arch},
                    {"reason", waiver.reason},
                    {"expires", waiver.expires}});
  }
  return rows;
}

Json FindingsOf(std::string_view rule, const Evidence& evidence) {
  Json rows = Json::array();
  for (const DocumentedFinding& finding : evidence.findings) {
    if (!Contains(finding.rules, rule)) continue;
    rows.push_back(
        {{"title", finding.title}, {"section", finding.section}, {"link", finding.link}});
  }
  return rows;
}

Json MissingOf(const FactSources& sources) {
  Json rows = Json::array();
  if (!sources.evidence.known) {
    rows.push_back(
        "there is no evidence.json next to the program: other tests, faults, findings and results "
        "of runs are not listed");
  } else if (!sources.recorded.has_judged) {
    rows.push_back("no run is recorded in " + sources.evidence.results +
                   "/judged.json: make check and make matrix write it");
  }
  return rows;
}

Json TestsOf(std::string_view rule, const Evidence& evidence) {
  Json rows = Json::array();
  for (const OtherTest& test : evidence.tests) {
    if (test.rule != rule) continue;
    rows.push_back({{"layer", test.layer}, {"name", test.name}, {"file", test.file}});
  }
  return rows;
}

Json BehavioursOf(const Rule& rule) {
  Json rows = Json::array();
  for (const RuleValue& value : rule.behaviours) {
    rows.push_back({{"name", value.name}, {"kernels", value.kernels}, {"value", value.value}});
  }
  return rows;
}

std::string SubjectOf(std::string_view rule, const Evidence& evidence) {
  for (const SubjectFact& one : evidence.subjects) {
    if (one.rule == rule) return one.subject;
  }
  return "";
}

// The last failures of a test: those that faults caused, and those in runs.
Json FailuresOf(const std::string& id, const FactSources& sources) {
  Json rows = Json::array();
  for (const JudgedRun& run : sources.recorded.runs) {
    for (const BadCase& bad : run.bad) {
      if (bad.id != id) continue;
      rows.push_back({{"result", bad.result},
                      {"target", run.target},
                      {"kernel", run.kernel},
                      {"arch", run.arch},
                      {"when", run.when},
                      {"message", bad.message}});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Json& a, const Json& b) { return a["when"] > b["when"]; });
  return rows;
}

// The faults that made this test fail, or whose claim names it.
Json FaultsOfTest(const std::string& id, const FactSources& sources) {
  std::map<std::pair<std::string, std::string>, Json> seen;
  for (const SeenFault& one : sources.recorded.seen) {
    if (one.test != id) continue;
    Json& rows = seen.try_emplace({one.kind, one.id}, Json::array()).first->second;
    if (!Contains(rows, Row(one))) rows.push_back(Row(one));
  }
  Json faults = Json::array();
  for (const Fault& fault : sources.evidence.faults) {
    const auto it = seen.find({fault.kind, fault.id});
    if (it == seen.end() && !Contains(fault.cases, id)) continue;
    faults.push_back(Row(fault));
    if (it != seen.end()) faults.back()["seen"] = it->second;
  }
  return faults;
}

// The faults that name one of the rules.
Json NamedBy(const std::vector<std::string>& rules, const FactSources& sources) {
  Json faults = Json::array();
  for (const Fault& fault : sources.evidence.faults) {
    if (std::any_of(rules.begin(), rules.end(),
                    [&](const std::string& rule) { return Contains(fault.rules, rule); })) {
      faults.push_back(fault.id);
    }
  }
  return faults;
}

}  // namespace

Json RuleFacts(const Rule& rule, const FactSources& sources) {
  Json cases = Json::array(), waivers = Json::array(), profiles = Json::array();
  for (const CasePlace* place : CasesOf(rule.id, sources)) {
    cases.push_back({{"id", place->id},
                     {"file", place->file},
                     {"line", place->line},
                     {"dimensions", place->dimensions}});
    for (Json& row : WaiversOf(place->id, sources)) waivers.push_back(std::move(row));
  }
  for (const Profile& profile : sources.profiles) {
    if (profile.Contains(rule.id)) profiles.push_back(profile.name);
  }
  const Evidence& evidence = sources.evidence;
  const std::string_view untested = ReasonFor(evidence.untested, rule.id);
  const std::string_view exempt = ReasonFor(evidence.exempt, rule.id);
  const Json faults = FaultsOf(rule.id, sources);
  return {{"id", rule.id},
          {"level", pmuconf::ToString(rule.level)},
          {"status", ToString(rule.status)},
          {"subject", SubjectOf(rule.id, evidence)},
          {"text", rule.text},
          {"why", rule.why},
          {"source", Split(rule.source, "; ")},
          {"applies", rule.applies},
          {"kernels", rule.kernels},
          {"behaviours", BehavioursOf(rule)},
          {"layer", Split(rule.layer, ", ")},
          {"profiles", profiles},
          {"cases", cases},
          {"tests", TestsOf(rule.id, evidence)},
          {"untested", untested},
          {"faults", faults},
          {"exempt", exempt},
          {"proof", Answer(faults, exempt.empty() ? untested : exempt, sources.recorded)},
          {"judged", JudgedOf(rule.id, sources.recorded)},
          {"findings", FindingsOf(rule.id, evidence)},
          {"waivers", waivers},
          {"missing", MissingOf(sources)}};
}

Json TestFacts(const std::string& id, const FactSources& sources) {
  Json facts;
  const auto is_it = [&](const auto& one) { return one.id == id; };
  const auto place = std::find_if(sources.cases.begin(), sources.cases.end(), is_it);
  std::vector<std::string> ids;
  if (place != sources.cases.end()) {
    facts = {{"id", id},
             {"layer", "case"},
             {"file", place->file},
             {"line", place->line},
             {"needs", place->needs},
             {"timing", place->timing},
             {"dimensions", place->dimensions}};
    ids = place->rules;
  } else {
    for (const OtherTest& test : sources.evidence.tests) {
      if (test.name != id) continue;
      facts = {{"id", id}, {"layer", test.layer}, {"file", test.file}};
      ids.push_back(test.rule);
    }
  }
  if (facts.is_null()) return facts;
  Json rules = Json::array();
  for (const Rule& rule : sources.rules) {
    if (!Contains(ids, rule.id)) continue;
    rules.push_back(
        {{"id", rule.id}, {"level", pmuconf::ToString(rule.level)}, {"text", rule.text}});
  }
  facts["rules"] = rules;
  facts["faults"] = FaultsOfTest(id, sources);
  facts["named_by"] = NamedBy(ids, sources);
  facts["failures"] = FailuresOf(id, sources);
  facts["waivers"] = WaiversOf(id, sources);
  facts["missing"] = MissingOf(sources);
  return facts;
}

Proof ProofOf(const Json& rule_facts) {
  const auto it = std::find(std::begin(kStates), std::end(kStates),
                            rule_facts.at("proof").at("state").get<std::string>());
  return static_cast<Proof>(it - std::begin(kStates));
}

}  // namespace pmuconf
