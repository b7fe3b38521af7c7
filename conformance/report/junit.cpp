// SPDX-License-Identifier: Apache-2.0
// junit.xml: a test suite for the run and for each other layer, a test case for each test.
#include <array>
#include <cstdio>
#include <sstream>
#include <utility>
#include <vector>

#include "report/formats.h"
#include "text/xml.h"

namespace pmuconf {
namespace {

std::string Seconds(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3f", seconds);
  return text.data();
}

void Child(const char* element, const Report& report, const CaseResult& row, bool of_suite,
           std::ostream& os) {
  const bool skip = row.result == Result::kSkip;
  const std::string text = skip ? row.message : Failure(report, row, of_suite);
  const std::string first = skip ? WhySkipped(row) : text.substr(0, text.find('\n'));
  os << "    <" << element << " type=\"" << ToString(row.result);
  // The type of a SKIP includes its skip reason: "SKIP.not_claimed".
  if (skip && row.skip_reason != SkipReason::kNone) os << "." << ToString(row.skip_reason);
  os << "\" message=\"" << XmlEscape(first) << "\">" << XmlEscape(text) << "</" << element << ">\n";
}

void TestCase(const Report& report, const CaseResult& row, bool of_suite, std::ostream& os) {
  const std::size_t dot = row.id.find('.');
  const bool dotted = dot != std::string::npos;
  os << "   <testcase classname=\"" << XmlEscape(dotted ? row.id.substr(0, dot) : "")
     << "\" name=\"" << XmlEscape(dotted ? row.id.substr(dot + 1) : row.id) << "\" time=\""
     << Seconds(row.duration_s) << "\">\n";
  switch (row.result) {
    case Result::kPass:
      break;
    case Result::kSkip:
    case Result::kWaived:
      Child("skipped", report, row, of_suite, os);
      break;
    case Result::kBroken:
    case Result::kNotRun:
      Child("error", report, row, of_suite, os);
      break;
    default:
      Child("failure", report, row, of_suite, os);
  }
  os << "   </testcase>\n";
}

void LayerSuite(const Report& report, const LayerResults& layer, std::ostream& os) {
  int failures = 0, errors = 0, skipped = 0;
  for (const CaseResult& row : layer.cases) {
    const bool no_answer = row.result == Result::kBroken || row.result == Result::kNotRun;
    errors += no_answer ? 1 : 0;
    skipped += row.result == Result::kSkip ? 1 : 0;
    failures += !no_answer && row.result != Result::kSkip && row.result != Result::kPass ? 1 : 0;
  }
  os << "  <testsuite name=\"" << XmlEscape("pmuconf." + report.target + "." + layer.layer)
     << "\" tests=\"" << layer.cases.size() << "\" failures=\"" << failures << "\" errors=\""
     << errors << "\" skipped=\"" << skipped << "\">\n";
  for (const CaseResult& row : layer.cases) TestCase(report, row, false, os);
  os << "  </testsuite>\n";
}

void Properties(const Report& report, std::ostream& os) {
  os << "   <properties>\n";
  std::vector<std::pair<std::string, std::string>> properties = {
      {"verdict", std::string(ToString(report.verdict))}, {"reason", report.reason}};
  for (const SubjectVerdict& one : report.verdicts) {
    const std::string subject(ToString(one.subject));
    properties.emplace_back("verdict." + subject, ToString(one.verdict));
    properties.emplace_back("reason." + subject, one.reason);
  }
  for (const auto& [name, value] : properties) {
    os << "    <property name=\"" << XmlEscape(name) << "\" value=\"" << XmlEscape(value)
       << "\"></property>\n";
  }
  os << "   </properties>\n";
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
  Properties(report, os);
  for (const CaseResult& row : report.cases) TestCase(report, row, true, os);
  os << "  </testsuite>\n";
  for (const LayerResults& layer : report.layers) LayerSuite(report, layer, os);
  os << "</testsuites>\n";
  return os.str();
}

}  // namespace pmuconf
