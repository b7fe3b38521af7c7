// SPDX-License-Identifier: Apache-2.0
// The errno that a target file chooses where a rule permits several.
#ifndef PMUCONF_CASES_REFUSAL_H_
#define PMUCONF_CASES_REFUSAL_H_

#include <cerrno>
#include <string>

#include "target/target.h"

namespace pmuconf {

// Whether `error` is the errno of `what` in the target file. If the file names none, EINVAL and
// EOPNOTSUPP are valid.
inline bool IsRefusal(int error, const std::string& what) {
  const auto chosen = target().refusal(what);
  return chosen ? error == *chosen : error == EINVAL || error == EOPNOTSUPP;
}

// Whether `error` is the errno of a task event that a system-wide PMU refuses. Many drivers check
// the CPU alone, and perf's core refuses the task events of a CPU with another errno.
inline bool IsTaskRefusal(int error, int cpu) {
  return IsRefusal(error, cpu < 0 && target().refusal("no_cpu") ? "no_cpu" : "task");
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_REFUSAL_H_
