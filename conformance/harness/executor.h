// SPDX-License-Identifier: Apache-2.0
// Runs each case in a process of its own and reads the kernel log for reports.
#ifndef PMUCONF_HARNESS_EXECUTOR_H_
#define PMUCONF_HARNESS_EXECUTOR_H_

#include <string>

#include "harness/result.h"

namespace pmuconf {

struct CaseInfo;

class Executor {
 public:
  // `target` is passed to the case's process as --target. `kernel_log` is false for processes that
  // may not read the kernel log; then kernel reports go unnoticed.
  Executor(std::string target, std::string pmu, bool kernel_log = true)
      : target_(std::move(target)), pmu_(std::move(pmu)), kernel_log_(kernel_log) {}

  // Maximum number of runs of a case that is disturbed each time. The last run is judged.
  static constexpr int kRuns = 4;

  // A case that dies is a result, not an exception. Throws Broken if this process may not read the
  // kernel log although `kernel_log` is true.
  // `lie` is passed to the case's process as --lie; "" for none.
  CaseResult Run(const CaseInfo& info, double deadline_s, const std::string& lie = "") const;

 private:
  CaseResult Once(const CaseInfo& info, double deadline_s, const std::string& lie) const;

  std::string target_;
  std::string pmu_;
  bool kernel_log_;
};

// Encode and decode the text that a case's process writes to its result descriptor.
std::string EncodeResult(const CaseResult& result);
bool DecodeResult(const std::string& text, CaseResult* result);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_EXECUTOR_H_
