// SPDX-License-Identifier: Apache-2.0
// Joins the results of all layers: one result for each rule, and the numbers of a verdict.
#ifndef PMUCONF_REPORT_JOINED_H_
#define PMUCONF_REPORT_JOINED_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/verdict.h"

namespace pmuconf {

// Returns the result of a rule from the answers of its layers. kNotRun: the layer has no result of
// the rule. watch sees only some calls, so its kPassed counts as kPartial.
RuleResult JoinAnswers(const std::vector<LayerAnswer>& answers);

// Returns a row for each active rule of the profile, or for each draft. For drafts, and if only
// selected cases ran, it returns those that a case or a layer names. Throws ConfigError if a layer
// names a rule that is not in the catalogue.
std::vector<RuleRow> JoinResults(const Report& report, const Stream& stream, const Target& target,
                                 const Profile& profile, bool drafts,
                                 std::span<const KnownCase> suite);

// Numbers of rules by layer. A rule that several layers judge counts for each of them.
struct LayerCounts {
  std::map<std::string_view, int> judged;
  std::map<std::string_view, int> not_run;     // no layer judges the rule, and this one did not run
  std::map<std::string_view, int> without_it;  // other layers judge the rule, this one did not run
  int in_part = 0;                             // PARTIAL
  int review = 0;                              // not testable by a program
};
LayerCounts CountLayers(const Report& report, bool only_must);

// Returns "the suite alone", or "the suite, KUnit and watch".
std::string LayersThatRan(const Report& report);

// Returns "500 by the suite, 160 by KUnit".
std::string JudgedText(const LayerCounts& counts);

// Returns "KUnit: 110 MUST rules, vm: 1 MUST rule", or "". "rules" without `only_must`.
std::string RulesByLayer(const std::map<std::string_view, int>& counts, bool only_must);

// Returns the end of a reason: "; not run: …; not testable by a program: …". `counts` has MUST
// rules.
std::string NotJudgedText(const LayerCounts& counts);

// Returns why no program tests a rule of the layer `review`, or "".
std::string_view UntestedReason(std::string_view rule);

// Returns the failed tests of the other layers that verify no rule, as one problem for each layer,
// after the problems that the files of the layers state.
std::vector<std::string> ProblemsOfLayers(std::span<const LayerResults> layers);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_JOINED_H_
