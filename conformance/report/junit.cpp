// SPDX-License-Identifier: Apache-2.0
// junit.xml: one test suite a run, one test case a case.
#include <array>
#include <cstdio>
#include <sstream>

#include "report/formats.h"

namespace pmuconf {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Length of the UTF-8 character at the front that XML allows, 0 if there is none.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    const bool forbidden = first == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;
    return follows(1) && follows(2) && !overlong && !surrogate && !forbidden ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool too_high = first == 0xf4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_high ? 4 : 0;
  }
  return 0;
}

std::string Seconds(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3f", seconds);
  return text.data();
}

void Child(const char* element, const Report& report, const CaseResult& row, std::ostream& os) {
  const bool skip = row.result == Result::kSkip;
  const std::string first = skip ? WhySkipped(row) : row.message.substr(0, row.message.find('\n'));
  os << "    <" << element << " type=\"" << ToString(row.result);
  // Of a SKIP the type says its class: "SKIP.not_claimed".
  if (skip && row.obstacle != Obstacle::kNone) os << "." << ToString(row.obstacle);
  os << "\" message=\"" << XmlEscape(first) << "\">"
     << XmlEscape(skip ? row.message : Failure(report, row)) << "</" << element << ">\n";
}

}  // namespace

std::string XmlEscape(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t n = CharacterLength(text);
    if (n == 0) {
      escaped += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    switch (text.front()) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
  return escaped;
}

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
