// SPDX-License-Identifier: Apache-2.0
// The results of a case.
#ifndef PMUCONF_HARNESS_RESULT_H_
#define PMUCONF_HARNESS_RESULT_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measurement.h"
#include "system/skip_reason.h"

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

// The waiver that decided the result of a case.
struct AppliedWaiver {
  std::string id;      // "WVR-001"
  std::string reason;  // on one line
  std::string link;    // to the bug report
  std::string owner;
  std::string text;  // all that a reader needs, in lines
};

struct CaseResult {
  std::string id;
  Result result = Result::kNotRun;
  double duration_s = 0.0;
  std::string message;
  std::vector<std::string> rules;
  SkipReason skip_reason = SkipReason::kNone;
  int pid = 0;                   // of the process that ran the case; 0 if unknown
  bool preempted = false;        // another task preempted it, so the result is no evidence
  std::uint64_t interrupts = 0;  // that hit the work of events that count them
  std::set<int> cpu_wide = {};   // the CPUs on which it had CPU-wide events
  int runs = 1;                  // number of runs until this result
  std::string lie = {};          // id of the lie that was on; "" in every real run
  std::uint64_t lied = 0;        // how often the lie applied
  std::vector<std::string> named_rules = {};  // rules that the failed expectations name
  // The rules of a failed case whose expectations failed; empty if these are all of `rules`, or if
  // an expectation failed that names no rule.
  std::vector<std::string> failed_rules = {};
  std::vector<Measurement> measurements = {};
  std::string capability = {};  // that a skipped case lacks
  // Whether an event of the PMU had a count that is not 0; nullopt if the case read none.
  std::optional<bool> counted = std::nullopt;
  bool stuck = false;       // the case left the device in a state that spoils later cases
  bool guest_lost = false;  // the guest died or stopped responding
  std::optional<AppliedWaiver> waiver = std::nullopt;  // accepts or contradicts the result
};

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_RESULT_H_
