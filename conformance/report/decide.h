// SPDX-License-Identifier: Apache-2.0
// Decides the verdict on a subject: the driver, the perf core or the architecture.
#ifndef PMUCONF_REPORT_DECIDE_H_
#define PMUCONF_REPORT_DECIDE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/verdict.h"

namespace pmuconf {

// Returns the subject that a target is about: the perf core if the kernel's software events or
// tracepoints are tested, otherwise the driver.
RuleSubject SubjectOf(const Target& target);

// Returns whose verdict a rule belongs to. The perf core is the driver of its own events, and the
// rules of this suite itself count for the subject of the target.
RuleSubject SubjectOf(const Rule& rule, const Target& target);

// Returns "counted: events of the PMU, in 512 cases; the suite made them happen", or "" if no case
// read a count.
std::string CountsText(const Report& report, const Target& target);

// Decides on one subject, or without `subject` on all rules together. Problems of the run that
// belong to no rule, such as a report of the kernel, count for the subject of the target.
std::pair<Verdict, std::string> Decide(const Stream& stream, const Report& report,
                                       const Target& target, std::optional<RuleSubject> subject);

// Returns the verdicts on the subjects that have rules in the report, the target's own first.
std::vector<SubjectVerdict> DecideEach(const Stream& stream, const Report& report,
                                       const Target& target);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_DECIDE_H_
