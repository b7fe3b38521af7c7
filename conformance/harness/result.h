// SPDX-License-Identifier: Apache-2.0
// The results of a case.
#ifndef PMUCONF_LIB_RESULT_H_
#define PMUCONF_LIB_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

enum class Result {
  kPass,
  kFail,            // the driver violated a rule
  kSkip,            // the case did not run: see the skip reason
  kWaived,          // failed, and a waiver accepts the failure
  kBroken,          // the setup of the case failed
  kTimeout,         // the deadline passed
  kCrash,           // the kernel reported a fault, or died
  kNotRun,          // selected, but has no result
  kUnexpectedPass,  // passed, although a waiver expects a failure
};

std::string_view ToString(Result result);  // "NOT_RUN"
std::optional<Result> ResultFromString(std::string_view name);

// The skip reason of a SKIP or BROKEN case. A SKIP with one of the first two leaves its rules open,
// because they are facts about the process or machine. The next two make a rule not applicable.
enum class Obstacle {
  kNone,
  kNotPermitted,  // this process lacks the privileges that cases need
  kNoSuchPmu,     // the machine has no PMU that matches the target file
  kKernelLacks,   // the running kernel or machine lacks something that the case needs
  kNotClaimed,    // the target file does not claim the capability
  kBroken,        // the setup of the case failed
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
  int pid = 0;             // of the process that ran the case; 0 if unknown
  bool disturbed = false;  // another task preempted it, so the result is no evidence
  int runs = 1;            // number of runs until this result
};

}  // namespace pmuconf

#endif  // PMUCONF_LIB_RESULT_H_
