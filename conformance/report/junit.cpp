// SPDX-License-Identifier: Apache-2.0
// junit.xml: a test suite per run, a test case per case.
#include <array>
#include <cstdio>
#include <sstream>

#include "report/formats.h"
#include "text/xml.h"

namespace pmuconf {
namespace {

std::string Seconds(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3f", seconds);
  return text.data();
}

void Child(const char* element, const Report& report, const CaseResult& row, std::ostream& os) {
  const bool skip = row.result == Result::kSkip;
  const std::string first = skip ? WhySkipped(row) : row.message.substr(0, row.message.find('\n'));
  os << "    <" << element << " type=\"" << ToString(row.result);
  // The type of a SKIP includes its skip reason: "SKIP.not_claimed".
  if (skip && row.skip_reason != SkipReason::kNone) os << "." << ToString(row.skip_reason);
  os << "\" message=\"" << XmlEscape(first) << "\">"
     << XmlEscape(skip ? row.message : Failure(report, row)) << "</" << element << ">\n";
}

}  // namespace

std::string ToJunit(const Report& report) {
  const Totals& t = report.totals;
  double total_s = 0;
  for (const CaseResult& row : report.cases) total_s += row.duration_s;
  std::ostringstream os;
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\""
     << XmlEscape("pmuconf." + report.target + "." + report.kernel) << "\" tests=\"" << t.cases
     << "\" failures=\"" << t.failed + t.timeout + t.crash << "\" errors=\"" << t.broken + t.lost
     << "\" skipped=\"" << t.skipped + t.waived << "\" time=\"" << Seconds(total_s) << "\">\n";
  for (const CaseResult& row : report.cases) {
    const std::size_t dot = row.id.find('.');
    os << "   <testcase classname=\"" << XmlEscape(row.id.substr(0, dot)) << "\" name=\""
       << XmlEscape(row.id.substr(dot + 1)) << "\" time=\"" << Seconds(row.duration_s) << "\">\n";
    switch (row.result) {
      case Result::kPass:
        break;
      case Result::kSkip:
      case Result::kWaived:
        Child("skipped", report, row, os);
        break;
      case Result::kBroken:
      case Result::kNotRun:
        Child("error", report, row, os);
        break;
      default:
        Child("failure", report, row, os);
    }
    os << "   </testcase>\n";
  }
  os << "  </testsuite>\n</testsuites>\n";
  return os.str();
}

}  // namespace pmuconf
