// SPDX-License-Identifier: Apache-2.0
// Finds the work that an event counts exactly.
#ifndef PMUCONF_TARGET_CALIBRATION_H_
#define PMUCONF_TARGET_CALIBRATION_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "perf/event.h"

namespace pmuconf {

// A length of work, in units, and the count of the event.
struct WorkCount {
  std::uint64_t length = 0;
  std::uint64_t count = 0;
};

struct Calibration {
  WorkKind kind = WorkKind::kInstructions;
  // The events that each command adds to its units. nullopt if no kind of work is counted exactly.
  std::optional<std::uint32_t> extra;
  std::string text;  // the counts, for the comment in a draft
};

// Combines the counts of one kind. They are exact if each is its length plus the same number.
Calibration Combine(WorkKind kind, const std::vector<WorkCount>& counts);

// Forks a worker and finds the first kind of work that an event counts exactly: three lengths,
// three times each. Without one, `text` has the counts of instructions. `open` opens the event for
// a task, disabled, in user mode alone. Throws Broken if the worker cannot work.
Calibration Calibrate(const std::function<OpenResult(pid_t)>& open);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_CALIBRATION_H_
