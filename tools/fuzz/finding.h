// SPDX-License-Identifier: Apache-2.0
// A fault that a program has shown.
#ifndef PMUCONF_TOOLS_FUZZ_FINDING_H_
#define PMUCONF_TOOLS_FUZZ_FINDING_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/repro/program.h"
#include "tools/repro/run.h"

namespace pmuconf {

enum class FindingKind {
  kCrash,  // a report of the kernel
  kStall,  // the program did not end
  kDied,   // a signal ended its process
  kWrong,  // a record, a count or a descriptor
  kErrno,  // the errno model disagrees
  kLeak,   // a counter or a reference stays in use
};

struct FuzzFinding {
  FindingKind kind = FindingKind::kCrash;
  std::string text;
  bool machine_suspect = false;  // the kernel may not work any longer

  // Equal for findings that differ only in numbers.
  std::string Key() const;
};

std::string_view ToString(FindingKind kind);  // "CRASH"

// Returns what a run of a program and the kernel's reports show.
std::optional<FuzzFinding> FindingOf(const Program& program, const RunResult& result,
                                     const std::vector<std::string>& reports, double limit_s);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_FUZZ_FINDING_H_
