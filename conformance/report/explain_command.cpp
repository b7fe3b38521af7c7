// SPDX-License-Identifier: Apache-2.0
// Collects the sources of `pmuconf explain`, and selects what it prints.
#include "report/explain_command.h"

#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/case.h"
#include "report/builtin.h"
#include "report/choose.h"
#include "report/dimensions_of.h"
#include "report/explain.h"
#include "report/progress.h"
#include "report/rule_pages.h"
#include "report/select.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using Json = nlohmann::ordered_json;

FactSources ReadSources(const ExplainOptions& options) {
  FactSources sources;
  sources.rules = AllRules();
  for (const CaseInfo& info : AllCases()) {
    CasePlace place{
        info.Id(), info.file, info.line, {}, {}, info.meta.timing, DimensionsOf(info.meta)};
    for (const Rule& rule : info.meta.rules) place.rules.emplace_back(rule.id);
    for (const Cap cap : info.meta.needs) place.needs.emplace_back(ToString(cap));
    sources.cases.push_back(std::move(place));
  }
  for (const BuiltinFile& file : BuiltinFiles()) {
    if (file.folder != "profiles") continue;
    sources.profiles.push_back(ChooseProfile("", std::string(file.name)));
  }
  sources.waivers = ChooseWaivers("");
  sources.evidence =
      options.evidence.empty() ? EvidenceBesideProgram() : ReadEvidence(options.evidence);
  sources.recorded = ReadRecorded(sources.evidence.results);
  return sources;
}

// Returns the id of the only case that the glob matches. Throws ConfigError with the nearest ids.
std::string KnownId(const ExplainOptions& options, const FactSources& sources) {
  std::vector<KnownCase> suite;
  for (const CasePlace& place : sources.cases) suite.push_back({place.id, place.rules});
  const bool is_rule = options.id.find('.') == std::string::npos;
  const auto ids =
      Select({.case_glob = is_rule ? "" : options.id, .rule = is_rule ? options.id : ""},
             WholeCatalogue(sources.rules), suite, sources.rules);
  if (is_rule || ids.size() != 1) {
    throw ConfigError("not the id of one rule or case: '" + options.id + "'");
  }
  return ids.front();
}

std::string AllAsJson(const FactSources& sources) {
  Json rules = Json::array();
  for (const Rule& rule : sources.rules) rules.push_back(RuleFacts(rule, sources));
  return Json{{"rules", rules}}.dump(1) + "\n";
}

std::string OneId(const ExplainOptions& options, const FactSources& sources) {
  const bool colour = Colour(STDOUT_FILENO);
  if (const Rule* const rule = FindRule(options.id)) {
    const Json facts = RuleFacts(*rule, sources);
    return options.json ? facts.dump(1) + "\n" : ExplainRule(facts, colour);
  }
  Json facts = TestFacts(options.id, sources);
  if (facts.is_null()) facts = TestFacts(KnownId(options, sources), sources);
  return options.json ? facts.dump(1) + "\n" : ExplainTest(facts, colour);
}

}  // namespace

CLI::App* AddExplain(CLI::App* program, ExplainOptions* options) {
  auto* const explain =
      program->add_subcommand("explain", "print a rule or a case, and the evidence for it");
  explain->add_option("id", options->id, "id of a rule, a case or another test");
  explain->add_option("--evidence", options->evidence,
                      "facts outside the program (default: evidence.json next to the program)");
  explain->add_flag("--json", options->json, "print JSON; without an id, all rules");
  explain->add_flag("--markdown", options->markdown,
                    "print all rules as one page, docs/generated/rules.md");
  explain->add_option("--out", options->out,
                      "with --markdown: write a page for each area, and an index, to this folder");
  explain->add_flag("--unproven", options->unproven,
                    "list the rules that nothing was seen to fail, without a reason");
  return explain;
}

int Explain(const ExplainOptions& options) {
  if (static_cast<int>(!options.id.empty()) + static_cast<int>(options.markdown) +
          static_cast<int>(options.unproven) >
      1) {
    throw ConfigError("give one of: an id, --markdown, --unproven");
  }
  if (!options.out.empty() && !options.markdown) throw ConfigError("--out needs --markdown");
  if (options.json && (options.markdown || options.unproven)) {
    throw ConfigError("--json prints a rule, a case or all rules: without --markdown, --unproven");
  }
  const bool whole = options.markdown || options.unproven || options.json;
  if (options.id.empty() && !whole) {
    throw ConfigError("no rule: give its id, a case, --json, --markdown or --unproven");
  }
  const FactSources sources = ReadSources(options);
  if (options.id.empty() && !sources.evidence.known) {
    throw ConfigError("no evidence.json next to the program: give --evidence");
  }
  if (!options.out.empty()) {
    WriteAreaPages(sources, options.out);
  } else if (options.markdown) {
    std::cout << OnePage(sources);
  } else if (options.unproven) {
    std::cout << ExplainUnproven(sources);
  } else {
    std::cout << (options.id.empty() ? AllAsJson(sources) : OneId(options, sources));
  }
  std::cout.flush();
  if (!std::cout) throw ConfigError("standard output cannot be written");
  return 0;
}

}  // namespace pmuconf
