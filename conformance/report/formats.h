// SPDX-License-Identifier: Apache-2.0
// A report as text: for machines (JSON, KTAP, JUnit) and for a person.
#ifndef PMUCONF_REPORT_FORMATS_H_
#define PMUCONF_REPORT_FORMATS_H_

#include <string>
#include <string_view>

#include "report/verdict.h"

namespace pmuconf {

std::string ToJson(const Report& report);   // results.json
std::string ToKtap(const Report& report);   // results.ktap
std::string ToJunit(const Report& report);  // junit.xml
std::string Summary(const Report& report);  // for a terminal; ends in the verdict

// All that a person needs of a case that did not pass: what was expected and seen, its rules and
// why they matter, what it opened, and the command that repeats it. One line each, no end of line
// after the last.
std::string Failure(const Report& report, const CaseResult& row);

// "not permitted here: perf_event_open: EPERM": why a case was skipped, on one line.
std::string WhySkipped(const CaseResult& row);

// Writes the three files into `folder` (made if it is not there). Throws ConfigError naming the
// file that could not be written.
void WriteReports(const Report& report, const std::string& folder);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_FORMATS_H_
