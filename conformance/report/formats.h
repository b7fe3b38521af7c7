// SPDX-License-Identifier: Apache-2.0
// Formats a report for programs (JSON, KTAP, JUnit) and for people.
#ifndef PMUCONF_REPORT_FORMATS_H_
#define PMUCONF_REPORT_FORMATS_H_

#include <string>
#include <string_view>
#include <vector>

#include "report/verdict.h"

namespace pmuconf {

std::string ToJson(const Report& report);   // results.json
std::string ToKtap(const Report& report);   // results.ktap
std::string ToJunit(const Report& report);  // junit.xml
std::string Summary(const Report& report);  // for a terminal; ends in the verdict

// Returns a line for the verdict on each subject, "driver: CONFORMANT: …". A last line "all: …" has
// the verdict of the run if it is not that on one subject.
std::vector<std::string> VerdictLines(const Report& report);

// Returns everything that a person needs to analyse a case that did not pass: expected and observed
// values, the rules and their reasons, the opened events, and the repro command. The text has no
// newline at the end. A test of another layer has no repro command: `of_suite` is false.
std::string Failure(const Report& report, const CaseResult& row, bool of_suite = true);

// Returns why a case was skipped, as one line: "not permitted here: perf_event_open: EPERM".
std::string WhySkipped(const CaseResult& row);

// Writes the three files into `folder`, which it creates if needed. Throws ConfigError with the
// name of a file that it could not write.
void WriteReports(const Report& report, const std::string& folder);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_FORMATS_H_
