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
#include "target/accuracy/classify.h"

namespace pmuconf {

// Some commands of the same length to a worker, and what the event counted.
struct WorkCount {
  std::uint64_t length = 0;  // units of all commands together
  std::uint64_t count = 0;
  std::uint64_t commands = 1;
  std::uint64_t interrupts = 0;  // of the CPU meanwhile
};

struct Calibration {
  WorkKind kind = WorkKind::kInstructions;
  // The events that each command adds to its units. nullopt if no kind of work is counted exactly.
  std::optional<std::uint32_t> extra;
  // The events that an interrupt adds at most, if `extra` has a value.
  std::uint32_t interrupts = 0;
  // How much the counts deviate from the units. nullopt if they are exact, or not bounded.
  std::optional<Accuracy> bound;
  std::string text;  // the counts, and why they are not exact, for the comment in a draft
};

// Combines the counts of one kind. They are exact if each is its length plus the same number for
// each command, and some events for each interrupt. Otherwise the shorter lengths give a bound,
// which the longest one must not exceed.
Calibration Combine(WorkKind kind, const std::vector<WorkCount>& counts);

// Adds to an exact calibration what one more command counted, which took so long that interrupts
// hit the worker. If they do not explain another number, the event is not exact.
Calibration AfterLongCommand(Calibration found, const WorkCount& counted);

// The same for an event with a bound, and several such commands: widens the bound, with a margin,
// to their greatest deviation.
Calibration AfterLongCommands(Calibration found, const std::vector<WorkCount>& counts);

// The counts of one command of `length` units by the same event in different company.
struct CompanyCounts {
  std::uint64_t length = 0;
  std::uint64_t extra = 0;           // of each command
  std::uint64_t of_interrupts = 0;   // at most, of all interrupts meanwhile
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
