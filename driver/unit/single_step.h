// SPDX-License-Identifier: Apache-2.0
// Runs code one instruction at a time, and something else in between: an interrupt at a chosen place.
#ifndef PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_
#define PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_

#include <cstdint>
#include <functional>

namespace pmuconf {

// Runs @work, and @intruder in a signal handler after @work's instruction number @at (from 1 on).
// Returns the instructions that were looked at: less than @at if @work ended before, so that
// @intruder did not run. May be called by an intruder. x86-64 alone: it uses the trap flag.
uint64_t RunInterrupted(const std::function<void()>& work, uint64_t at,
                        const std::function<void()>& intruder);

}  // namespace pmuconf

#endif  // PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_
