// SPDX-License-Identifier: Apache-2.0
// Runs each case in a process of its own and reads the kernel log for reports.
#ifndef PMUCONF_HARNESS_EXECUTOR_H_
#define PMUCONF_HARNESS_EXECUTOR_H_

#include <memory>
#include <string>
#include <utility>

#include "harness/process.h"
#include "harness/result.h"
#include "perf/task_watch.h"

namespace pmuconf {

struct CaseInfo;

class Executor {
 public:
  // `target` is passed to the case's process as --target. `kernel_log` is false for processes that
  // may not read the kernel log; then kernel reports go unnoticed.
  Executor(std::string target, std::string pmu, bool kernel_log = true)
      : target_(std::move(target)), pmu_(std::move(pmu)), kernel_log_(kernel_log) {}

  // From now on, a failure is no evidence if tasks that do not belong to the case ran on the CPU of
  // its CPU-wide events, or if a case that depends on time got too little of it.
  void WatchOtherTasks();

  // Maximum number of runs of a case that is disturbed each time. From kUrgentRun on, no ordinary
  // task preempts it; some cases need an ordinary priority, so such a run can only pass. If all
  // failures were disturbed, the case is a SKIP, because the machine is not quiet.
  static constexpr int kRuns = 4;
  static constexpr int kUrgentRun = 3;

  // A case that dies is a result, not an exception. Throws Broken if this process may not read the
  // kernel log although `kernel_log` is true.
  // `lie` is passed to the case's process as --lie; "" for none.
  CaseResult Run(const CaseInfo& info, double deadline_s, const std::string& lie = "");

 private:
  struct Attempt {
    CaseResult result;
    std::string disturbed;  // why a failure is no evidence, or ""
  };
  Attempt Once(const CaseInfo& info, double deadline_s, const std::string& lie, Urgency urgency);
  std::string Disturbance(const CaseInfo& info, const CaseResult& result,
                          const ProcessResult& process);

  std::string target_;
  std::string pmu_;
  bool kernel_log_;
  std::unique_ptr<TaskWatch> watch_;
};

// Encode and decode the text that a case's process writes to its result descriptor.
std::string EncodeResult(const CaseResult& result);
bool DecodeResult(const std::string& text, CaseResult* result);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_EXECUTOR_H_
