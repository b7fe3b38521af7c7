// SPDX-License-Identifier: Apache-2.0
// Joins a rule with its cases, profiles and waivers.
#include "report/explain.h"

#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/case.h"
#include "harness/runner.h"
#include "report/builtin.h"
#include "report/choose.h"
#include "report/joined.h"
#include "report/select.h"

namespace pmuconf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLabel = 10;

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

bool Matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::ranges::any_of(
      globs, [&](const std::string& glob) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

bool Tests(const CaseInfo& info, std::string_view rule) {
  return std::ranges::find(info.meta.rules, rule, &Rule::id) != info.meta.rules.end();
}

Json WaiversOf(const std::string& id) {
  static const std::vector<Waiver> waivers = ChooseWaivers("");
  Json rows = Json::array();
  for (const Waiver& waiver : waivers) {
    if (!Matches(waiver.cases, id)) continue;
    rows.push_back({{"id", waiver.id},
                    {"case", id},
                    {"targets", waiver.targets},
                    {"kernels", waiver.bug ? waiver.bug->Range() : waiver.kernels},
                    {"arch", waiver.arch},
                    {"reason", waiver.reason},
                    {"expires", waiver.expires}});
  }
  return rows;
}

Json ProfilesWith(std::string_view rule) {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> all;
    for (const BuiltinFile& file : BuiltinFiles()) {
      if (file.folder == "profiles") all.push_back(ChooseProfile("", std::string(file.name)));
    }
    return all;
  }();
  Json names = Json::array();
  for (const Profile& profile : profiles) {
    if (profile.Contains(rule)) names.push_back(profile.name);
  }
  return names;
}

Json FactsOf(const CaseInfo& info) {
  Json rules = Json::array(), needs = Json::array(), dimensions = Json::object();
  for (const Rule& rule : info.meta.rules) rules.push_back(rule.id);
  for (const Cap cap : info.meta.needs) needs.push_back(pmuconf::ToString(cap));
  for (const Dimension& dimension : info.meta.over) {
    for (const DimensionValue& value : dimension.values) {
      dimensions[dimension.name].push_back(value.name);
    }
  }
  return {{"id", info.Id()},          {"file", info.file},
          {"line", info.line},        {"rules", rules},
          {"needs", needs},           {"timing", info.meta.timing},
          {"dimensions", dimensions}, {"waivers", WaiversOf(info.Id())}};
}

Json FactsOf(const Rule& rule) {
  Json behaviours = Json::array(), cases = Json::array();
  for (const RuleValue& value : rule.behaviours) {
    behaviours.push_back(
        {{"name", value.name}, {"value", value.value}, {"kernels", value.kernels}});
  }
  for (const CaseInfo& info : AllCases()) {
    if (Tests(info, rule.id)) cases.push_back(FactsOf(info));
  }
  return {{"id", rule.id},
          {"level", pmuconf::ToString(rule.level)},
          {"status", ToString(rule.status)},
          {"subject", pmuconf::ToString(rule.subject)},
          {"text", rule.text},
          {"why", rule.why},
          {"source", Sources(rule)},
          {"applies", rule.applies},
          {"kernels", rule.kernels},
          {"behaviours", behaviours},
          {"layer", rule.layer},
          {"profiles", ProfilesWith(rule.id)},
          {"untested", UntestedReason(rule.id)},
          {"cases", cases}};
}

// Lines of a label and a fact.
class Page {
 public:
  Page(const std::string& id, const std::string& more, bool colour)
      : text_((colour ? "\x1b[1m" + id + "\x1b[0m" : id) + "  " + more + "\n") {}

  void Fact(const std::string& label, const Json& fact) {
    std::string line;
    if (fact.is_string()) line = fact;
    if (fact.is_number()) line = fact.dump();
    if (fact.is_array()) {
      for (const std::string part : fact) line += (line.empty() ? "" : ", ") + part;
    }
    if (line.empty()) return;
    const std::string head = label + ":";
    text_ += head + std::string(kLabel - std::min(kLabel - 1, head.size()), ' ') + line + "\n";
  }
  void Waivers(const Json& waivers) {
    for (const Json& row : waivers) {
      Fact("waiver", row["id"].get<std::string>() + ": " + row["reason"].get<std::string>());
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string PlaceOf(const Json& facts) {
  return facts["file"].get<std::string>() + ":" + facts["line"].dump();
}

std::string Print(const Json& facts, const CaseInfo& info, bool colour) {
  Page page(info.Id(), "case", colour);
  page.Fact("file", PlaceOf(facts));
  for (const Rule& rule : info.meta.rules) {
    page.Fact("rule", std::string(rule.id) + " " + std::string(pmuconf::ToString(rule.level)) +
                          "  " + std::string(rule.text));
  }
  page.Fact("needs", facts["needs"]);
  page.Fact("timing", facts["timing"]);
  for (const auto& [name, values] : facts["dimensions"].items()) page.Fact(name, values);
  page.Waivers(facts["waivers"]);
  return page.text();
}

std::string Print(const Json& facts, const Rule& rule, bool colour) {
  Page page(std::string(rule.id),
            std::string(pmuconf::ToString(rule.level)) + ", " + std::string(ToString(rule.status)) +
                ", subject: " + std::string(pmuconf::ToString(rule.subject)) + "\n  " +
                std::string(rule.text),
            colour);
  for (const char* const key : {"why", "source", "applies", "kernels"}) page.Fact(key, facts[key]);
  for (const Json& value : facts["behaviours"]) {
    page.Fact("differs", value["name"].get<std::string>() + " is " + value["value"].dump() + " (" +
                             value["kernels"].get<std::string>() + ")");
  }
  for (const char* const key : {"layer", "profiles", "untested"}) page.Fact(key, facts[key]);
  for (const Json& place : facts["cases"]) {
    page.Fact("case", place["id"].get<std::string>() + "  " + PlaceOf(place));
    page.Waivers(place["waivers"]);
  }
  return page.text();
}

// Returns the only case that `id` is. Throws ConfigError with the nearest ids.
const CaseInfo& CaseOf(const std::string& id) {
  if (const CaseInfo* const info = FindCase(id)) return *info;
  std::vector<KnownCase> suite;
  for (const CaseInfo& info : AllCases()) {
    suite.push_back({info.Id(), {}});
    for (const Rule& rule : info.meta.rules) suite.back().rules.emplace_back(rule.id);
  }
  const bool is_rule = id.find('.') == std::string::npos;
  Select({.case_glob = is_rule ? "" : id, .rule = is_rule ? id : ""}, WholeCatalogue(AllRules()),
         suite, AllRules());
  throw ConfigError("not the id of one rule or case: '" + id + "'");
}

}  // namespace

std::string Explain(const std::string& id, bool json, bool colour) {
  if (const Rule* const rule = FindRule(id)) {
    const Json facts = FactsOf(*rule);
    return json ? facts.dump(1) + "\n" : Print(facts, *rule, colour);
  }
  const CaseInfo& info = CaseOf(id);
  const Json facts = FactsOf(info);
  return json ? facts.dump(1) + "\n" : Print(facts, info, colour);
}

std::string ExplainAll() {
  Json rules = Json::array(), cases = Json::array();
  for (const Rule& rule : AllRules()) rules.push_back(FactsOf(rule));
  for (const CaseInfo& info : AllCases()) cases.push_back(FactsOf(info));
  return Json{{"rules", rules}, {"cases", cases}}.dump(1) + "\n";
}

}  // namespace pmuconf
