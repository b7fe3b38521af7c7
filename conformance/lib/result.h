// SPDX-License-Identifier: Apache-2.0
// The closed set of results of a case.
#ifndef PMUCONF_LIB_RESULT_H_
#define PMUCONF_LIB_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

enum class Result {
  kPass,
  kFail,            // an expectation about the rule did not hold
  kSkip,            // a named capability is missing
  kWaived,          // failed, and a waiver covers it
  kBroken,          // the suite could not do what the case needs
  kTimeout,         // the deadline passed
  kCrash,           // the kernel complained, or died
  kNotRun,          // selected, and no result came
  kUnexpectedPass,  // passed, and a waiver says it fails
};

std::string_view ToString(Result result);  // "NOT_RUN"
std::optional<Result> ResultFromString(std::string_view name);

// What kept a case from an answer (SKIP, BROKEN). Only the first two of a SKIP say nothing of the
// target: its rules then stay open. The next two make a rule not applicable.
enum class Obstacle {
  kNone,
  kNotPermitted,  // this process may not do what cases do
  kNoSuchPmu,     // the machine has no PMU that the target file means
  kKernelLacks,   // the running kernel, or the machine, has not what the case needs
  kNotClaimed,    // the target file does not claim the capability
  kBroken,        // the suite itself could not do what the case needs
};

std::string_view ToString(Obstacle obstacle);  // "not_permitted"; "" for none
std::string_view Phrase(Obstacle obstacle);    // "not permitted here"
std::optional<Obstacle> ObstacleFromString(std::string_view name);

struct CaseResult {
  std::string id;
  Result result = Result::kNotRun;
  double duration_s = 0.0;
  std::string message;
  std::vector<std::string> rules;
  Obstacle obstacle = Obstacle::kNone;
  int pid = 0;             // of the process that ran it; 0 where none is known
  bool disturbed = false;  // what it saw is no evidence: its CPU was taken away
  int runs = 1;            // how often it was run for this result
};

}  // namespace pmuconf

#endif  // PMUCONF_LIB_RESULT_H_
