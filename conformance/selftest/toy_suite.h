// SPDX-License-Identifier: Apache-2.0
// A catalogue and a suite for tests of verdicts and of the selection.
#ifndef PMUCONF_SELFTEST_TOY_SUITE_H_
#define PMUCONF_SELFTEST_TOY_SUITE_H_

#include <vector>

#include "harness/rule.h"
#include "report/verdict.h"

namespace pmuconf {

inline constexpr Rule kRules[] = {
    {.id = "AAA-001",
     .text = "a",
     .why = "w",
     .source = "s",
     .applies = "true",
     .kernels = ">=6.1",
     .layer = "case"},
    {.id = "AAA-002",
     .text = "b",
     .why = "w",
     .source = "s",
     .applies = "true",
     .kernels = ">=6.1",
     .layer = "case"},
    {.id = "AAA-003",
     .level = Level::kShould,
     .text = "c",
     .why = "w",
     .source = "s",
     .applies = "true",
     .kernels = ">=6.1",
     .layer = "case"},
    {.id = "BBB-001",
     .text = "d",
     .why = "w",
     .source = "s",
     .applies = "sampling",
     .kernels = ">=6.1",
     .layer = "case"},
    {.id = "BBB-002",
     .status = RuleStatus::kDraft,
     .text = "e",
     .why = "w",
     .source = "s",
     .applies = "true",
     .kernels = ">=6.1",
     .layer = "case"},
    {.id = "CCC-001",
     .text = "f",
     .why = "w",
     .source = "s",
     .applies = "true",
     .kernels = ">=6.1",
     .layer = "kunit"},
    {.id = "DDD-001",
     .text = "g",
     .why = "w",
     .source = "s",
     .applies = "true",
     .kernels = ">=6.1",
     .layer = "review"},
};

inline const std::vector<KnownCase> kSuite = {{"One.Holds", {"AAA-001"}},
                                              {"One.Too", {"AAA-001", "AAA-002"}},
                                              {"Two.Should", {"AAA-003"}},
                                              {"Two.Samples", {"BBB-001"}},
                                              {"Two.Draft", {"BBB-002"}}};

}  // namespace pmuconf

#endif  // PMUCONF_SELFTEST_TOY_SUITE_H_
