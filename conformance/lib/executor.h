// SPDX-License-Identifier: Apache-2.0
// Runs cases, each in a process of its own, and watches the kernel meanwhile.
#ifndef PMUCONF_LIB_EXECUTOR_H_
#define PMUCONF_LIB_EXECUTOR_H_

#include <string>

#include "lib/result.h"

namespace pmuconf {

struct CaseInfo;

class Executor {
 public:
  // The target must be known to the case's process under the same name. Without `kernel_log` what
  // the kernel says goes unseen: for processes that may not read it.
  Executor(std::string target, std::string pmu, bool kernel_log = true)
      : target_(std::move(target)), pmu_(std::move(pmu)), kernel_log_(kernel_log) {}

  // How often a case is run at most whose CPU is taken away each time; the last run is judged.
  static constexpr int kRuns = 4;

  // Never throws for what the case does: its death is a result. Throws Broken if this process may
  // not read the kernel log, and should.
  CaseResult Run(const CaseInfo& info, double deadline_s) const;

 private:
  CaseResult Once(const CaseInfo& info, double deadline_s) const;

  std::string target_;
  std::string pmu_;
  bool kernel_log_;
};

// What a case's process writes to its result descriptor, and back.
std::string EncodeResult(const CaseResult& result);
bool DecodeResult(const std::string& text, CaseResult* result);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_EXECUTOR_H_
