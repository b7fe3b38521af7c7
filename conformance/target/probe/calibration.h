// SPDX-License-Identifier: Apache-2.0
// Finds the work that an event counts, and how exactly it does.
#ifndef PMUCONF_TARGET_PROBE_CALIBRATION_H_
#define PMUCONF_TARGET_PROBE_CALIBRATION_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "perf/event.h"

namespace pmuconf {

// Some commands of the same length to a worker, and what the event counted.
struct WorkCount {
  std::uint64_t length = 0;  // units of all commands together
  std::uint64_t count = 0;
  std::uint64_t commands = 1;
};

struct Calibration {
  WorkKind kind = WorkKind::kInstructions;
  // The events that each command adds to its units. nullopt if no kind of work is counted exactly.
  std::optional<std::uint32_t> extra;
  // How much the counts deviate from the units. nullopt if they are exact, or not bounded.
  std::optional<Accuracy> bound;
  std::string text;  // the counts, and why they are not exact, for the comment in a draft
};

// Combines the counts of one kind. They are exact if each is its length plus the same number for
// each command. Otherwise the shorter lengths give a bound, which the longest one must not exceed.
Calibration Combine(WorkKind kind, const std::vector<WorkCount>& counts);

// Adds to the text of an exact calibration what one more command counted, which took so long that
// interrupts hit the worker. Cases use much shorter work, so another number is a warning only.
Calibration AfterLongCommand(Calibration found, const WorkCount& counted);

// The counts of one command of `length` units by the same event in different company.
struct CompanyCounts {
  std::uint64_t length = 0;
  std::uint64_t extra = 0;           // of each command
  std::vector<std::uint64_t> group;  // leader and sibling; empty if two do not fit into a group
  std::vector<std::uint64_t> tasks;  // of two workers that executed one command each
};
// Returns "" if the event counts as it does alone, or else the difference.
std::string WhyDifferent(const CompanyCounts& counts);

// Opens the event for a task in user mode alone: disabled, or enabled as a member of a group.
using OpenWork = std::function<OpenResult(pid_t task, int group_fd)>;

// Forks workers and finds the first kind of work that an event counts exactly, with interrupts, in
// a group and in two tasks. Otherwise finds the first kind with a bound. Without one, `text` has
// the counts of instructions. Throws Broken if a worker cannot work.
Calibration Calibrate(const OpenWork& open);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_CALIBRATION_H_
