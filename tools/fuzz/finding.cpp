// SPDX-License-Identifier: Apache-2.0
#include "tools/fuzz/finding.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "text/errno_name.h"

namespace pmuconf {
namespace {

// After such a report the kernel may hold locks for ever.
bool IsFatal(const std::string& report) {
  constexpr std::array<std::string_view, 6> kFatal = {
      "BUG:", "Oops", "unable to handle", "general protection", "lockup", "LOCKUP"};
  return std::any_of(kFatal.begin(), kFatal.end(), [&report](std::string_view part) {
    return report.find(part) != std::string::npos;
  });
}

std::string Name(int error) { return error == 0 ? "opens" : ErrnoName(error); }

std::string StepName(const Program& program, std::size_t i) {
  const std::string line = i < program.steps.size() ? PrintStep(program.steps[i]) : "";
  return "operation " + std::to_string(i) + " (" + line.substr(0, line.find(" attr=")) + ")";
}

std::string Mismatch(const Outcome& outcome) {
  std::string text =
      "the kernel: " + Name(outcome.error) + ", the model: " + Name(outcome.predicted);
  if (outcome.check != nullptr) {
    text += " (" + std::string(outcome.check->rule) + " " + std::string(outcome.check->name) + ")";
  }
  return text;
}

}  // namespace

std::string FuzzFinding::Key() const {
  std::string key = std::string(ToString(kind)) + " ";
  // The CPU and the process of a warning come before its place.
  const std::size_t place = kind == FindingKind::kCrash ? text.find(" at ") : std::string::npos;
  for (const char c : place == std::string::npos ? text : text.substr(place)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) key += c;
  }
  return key;
}

std::string_view ToString(FindingKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"CRASH", "STALL", "DIED",
                                                      "WRONG", "ERRNO", "LEAK"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<FuzzFinding> FindingOf(const Program& program, const RunResult& result,
                                     const std::vector<std::string>& reports, double limit_s) {
  if (!reports.empty()) {
    return FuzzFinding{FindingKind::kCrash, reports.front(),
                       std::any_of(reports.begin(), reports.end(), IsFatal)};
  }
  const std::vector<Outcome>& outcomes = result.outcomes;
  if (result.hung) {
    const auto ended = std::count_if(outcomes.begin(), outcomes.end(),
                                     [](const Outcome& outcome) { return outcome.ran; });
    return FuzzFinding{FindingKind::kStall,
                       "process " + std::to_string(result.pid) + " did not end within " +
                           std::to_string(static_cast<int>(limit_s)) + " s" +
                           (result.stuck ? " and cannot be killed" : "") + "; " +
                           StepName(program, static_cast<std::size_t>(ended)),
                       result.stuck};
  }
  if (result.died_of != 0) {
    return FuzzFinding{FindingKind::kDied,
                       "signal " + std::to_string(result.died_of) + " ended the process", false};
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].wrong != nullptr) {
      return FuzzFinding{FindingKind::kWrong,
                         std::string(outcomes[i].wrong) + "; " + StepName(program, i), false};
    }
    if (outcomes[i].Mismatch()) {
      return FuzzFinding{FindingKind::kErrno, Mismatch(outcomes[i]) + "; " + StepName(program, i),
                         false};
    }
  }
  if (result.wrong != nullptr) return FuzzFinding{FindingKind::kWrong, result.wrong, false};
  return std::nullopt;
}

}  // namespace pmuconf
