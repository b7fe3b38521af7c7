// SPDX-License-Identifier: Apache-2.0
// results.ktap: the kernel's test protocol KTAP, version 1.
#include <sstream>

#include "report/formats.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

// Parsers differ in the characters that end a line, so no control character of a message is
// printed.
std::string FirstLine(const std::string& text) { return OneLine(text.substr(0, text.find('\n'))); }

void WriteDiagnostic(const std::string& message, std::ostream& os) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) os << "# " << OneLine(line) << "\n";
}

void WriteResult(const Report& report, const CaseResult& row, const std::string& layer, int number,
                 std::ostream& os) {
  const bool skip = row.result == Result::kSkip;
  const bool good = row.result == Result::kPass || skip || row.result == Result::kWaived;
  if (!skip && row.result != Result::kPass)
    WriteDiagnostic(Failure(report, row, layer.empty()), os);
  os << (good ? "ok " : "not ok ") << number << " " << OneLine(layer + row.id);
  if (skip) os << " # SKIP " << OneLine(WhySkipped(row));
  if (row.result == Result::kWaived) os << " # XFAIL " << FirstLine(Failure(report, row, false));
  if (!good && row.result != Result::kFail) os << " # " << ToString(row.result);
  os << "\n";
}

}  // namespace

std::string ToKtap(const Report& report) {
  std::size_t plan = report.cases.size();
  for (const LayerResults& layer : report.layers) plan += layer.cases.size();
  std::ostringstream os;
  os << "KTAP version 1\n1.." << plan << "\n";
  int number = 0;
  for (const CaseResult& row : report.cases) WriteResult(report, row, "", ++number, os);
  for (const LayerResults& layer : report.layers) {
    for (const CaseResult& row : layer.cases)
      WriteResult(report, row, layer.layer + ":", ++number, os);
  }
  for (const std::string& line : VerdictLines(report)) os << "# " << OneLine(line) << "\n";
  os << "# " << ToString(report.verdict) << ": " << OneLine(report.reason) << "\n";
  return os.str();
}

}  // namespace pmuconf
