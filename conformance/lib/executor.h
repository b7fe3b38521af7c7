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
  // The target file must be readable by the case's process under the same path.
  Executor(std::string target_path, std::string pmu)
      : target_path_(std::move(target_path)), pmu_(std::move(pmu)) {}

  // Never throws for what the case does: its death is a result. Throws Broken if this process may
  // not read the kernel log.
  CaseResult Run(const CaseInfo& info, double deadline_s) const;

 private:
  std::string target_path_;
  std::string pmu_;
};

// What a case's process writes to its result descriptor, and back.
std::string EncodeResult(const CaseResult& result);
bool DecodeResult(const std::string& text, CaseResult* result);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_EXECUTOR_H_
