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

struct CaseResult {
  std::string id;
  Result result = Result::kNotRun;
  double duration_s = 0.0;
  std::string message;
  std::vector<std::string> rules;
};

}  // namespace pmuconf

#endif  // PMUCONF_LIB_RESULT_H_
