// SPDX-License-Identifier: Apache-2.0
// results.json (docs/formats.md, "results.json").
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/formats.h"
#include "report/joined.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const RuleRow& row) {
  Json layers = Json::object();
  for (const LayerAnswer& answer : row.layers)
    layers[std::string(answer.layer)] = ToString(answer.result);
  Json one = {{"id", row.rule.id},
              {"level", ToString(row.rule.level)},
              {"subject", ToString(row.rule.subject)},
              {"result", ToString(row.result)},
              {"layer", row.rule.layer},
              {"layers", layers},
              {"text", row.rule.text},
              {"why", row.rule.why},
              {"source", Sources(row.rule)}};
  if (row.result == RuleResult::kReview) one["reason"] = UntestedReason(row.rule.id);
  return one;
}

Json ToJson(const LayerResults& layer) {
  Json cases = Json::array();
  for (const CaseResult& row : layer.cases) {
    cases.push_back({{"id", row.id},
                     {"rules", row.rules},
                     {"result", ToString(row.result)},
                     {"message", row.message}});
  }
  return {{"layer", layer.layer},   {"release", layer.release},   {"arch", layer.arch},
          {"target", layer.target}, {"driver", layer.driver},     {"pmu", layer.pmu},
          {"file", layer.path},     {"selected", layer.selected}, {"cases", cases}};
}

Json ToJson(const std::vector<SubjectVerdict>& verdicts) {
  Json json = Json::array();
  for (const SubjectVerdict& one : verdicts) {
    json.push_back({{"subject", ToString(one.subject)},
                    {"verdict", ToString(one.verdict)},
                    {"reason", one.reason}});
  }
  return json;
}

Json ToJson(const std::map<std::string_view, int>& counts) {
  Json json = Json::object();
  for (const auto& [layer, n] : counts) json[std::string(layer)] = n;
  return json;
}

}  // namespace

std::string ToJson(const Report& report) {
  Json cases = Json::array(), capabilities = Json::object();
  for (const CaseResult& row : report.cases) {
    const bool good = row.result == Result::kPass || row.result == Result::kSkip;
    Json one = {{"id", row.id},
                {"rules", row.rules},
                {"result", ToString(row.result)},
                {"duration_s", std::round(row.duration_s * 1000) / 1000},
                {"message", row.message}};
    if (row.skip_reason != SkipReason::kNone) one["skip_reason"] = ToString(row.skip_reason);
    if (!row.capability.empty()) {
      one["capability"] = row.capability;
      capabilities[row.capability] = ConditionOf(row.capability);
    }
    if (row.guest_lost) one["guest_lost"] = true;
    if (row.waiver) {
      one["waiver"] = {{"id", row.waiver->id},
                       {"reason", row.waiver->reason},
                       {"link", row.waiver->link},
                       {"owner", row.waiver->owner}};
    }
    if (row.runs > 1) one["runs"] = row.runs;
    if (!row.failed_rules.empty()) one["failed_rules"] = row.failed_rules;
    if (!row.measurements.empty()) one["measurements"] = ToJson(row.measurements);
    if (!good && !report.repro_command.empty()) one["repro"] = report.repro_command + row.id;
    cases.push_back(std::move(one));
  }
  Json rules = Json::array();
  for (const RuleRow& row : report.rules) rules.push_back(ToJson(row));
  Json drafts = Json::array();
  for (const RuleRow& row : report.drafts) drafts.push_back(ToJson(row));
  Json layers = Json::array();
  for (const LayerResults& layer : report.layers) layers.push_back(ToJson(layer));
  const LayerCounts counts = CountLayers(report, false);
  const Totals& t = report.totals;
  Json skip_reasons = Json::object();
  for (const SkipReason skip_reason :
       {SkipReason::kNotPermitted, SkipReason::kNoSuchPmu, SkipReason::kNotQuiet,
        SkipReason::kKernelLacks, SkipReason::kKernelNewer, SkipReason::kNotClaimed,
        SkipReason::kBroken}) {
    const auto it = t.skip_reasons.find(skip_reason);
    skip_reasons[std::string(ToString(skip_reason))] = it == t.skip_reasons.end() ? 0 : it->second;
  }
  const Json json = {{"verdict", ToString(report.verdict)},
                     {"reason", report.reason},
                     {"verdict_of", report.scope == Scope::kAll ? "all" : "target"},
                     {"about", ToString(report.about)},
                     {"verdicts", ToJson(report.verdicts)},
                     {"target", report.target},
                     {"kernel", report.kernel},
                     {"release", report.release},
                     {"arch", report.arch},
                     {"newest_kernel", report.newest_kernel},
                     {"profile", report.profile},
                     {"totals",
                      {{"cases", t.cases},
                       {"passed", t.passed},
                       {"failed", t.failed},
                       {"skipped", t.skipped},
                       {"waived", t.waived},
                       {"broken", t.broken},
                       {"timeout", t.timeout},
                       {"crash", t.crash},
                       {"lost", t.lost},
                       {"rules", t.rules},
                       {"rules_passed", t.rules_passed}}},
                     {"scope", LayersThatRan(report)},
                     {"judged", ToJson(counts.judged)},
                     {"not_run", ToJson(counts.not_run)},
                     {"without", ToJson(counts.without_it)},
                     {"skip_reasons", skip_reasons},
                     {"capabilities", capabilities},
                     {"cases", cases},
                     {"rules", rules},
                     {"drafts", drafts},
                     {"layers", layers},
                     {"problems", report.problems}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pmuconf
