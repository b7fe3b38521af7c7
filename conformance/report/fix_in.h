// SPDX-License-Identifier: Apache-2.0
// Whose code has to be fixed after a failure: the subjects of the failed rules.
#ifndef PMUCONF_REPORT_FIX_IN_H_
#define PMUCONF_REPORT_FIX_IN_H_

#include <string>
#include <vector>

#include "report/verdict.h"

namespace pmuconf {

// Returns "fix in: driver", or "fix in: driver (CNT-002), perf core (RDF-001, RDF-002)" if the
// rules have different subjects. Returns "" without rules.
std::string FixIn(const std::vector<const Rule*>& rules);

// Returns the line of the summary about failed rules, "  failed: 3 rules of the driver, 1 of the
// perf core\n", with SHOULD and MAY rules. Returns "" if no rule failed.
std::string FailedBySubject(const Report& report);

// Returns the line of the summary about draft rules, "  drafts, which decide nothing: 2 failed,
// 1 passed\n". Returns "" if no case named a draft.
std::string DraftResults(const Report& report);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_FIX_IN_H_
