// SPDX-License-Identifier: Apache-2.0
// Runs code one instruction at a time, and something else in between: an interrupt at a chosen
// place, or at all of them. x86-64 alone: it uses the trap flag.
#ifndef PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_
#define PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_

#include <cstdint>
#include <functional>

namespace pmuconf {

// Runs @work, and @intruder in a signal handler after @work's instruction number @at (from 1 on).
// Returns the instructions that were looked at: less than @at if @work ended before, so that
// @intruder did not run. May be called by an intruder.
uint64_t RunInterrupted(const std::function<void()>& work, uint64_t at,
                        const std::function<void()>& intruder);

// Runs @work once, and from each @every-th of its instructions on once more in a copy of the
// process, in which @intruder comes in there and @holds is asked after @work. Both are told the
// number of the instruction. Returns the first one at which it did not hold; 0 if there is none.
uint64_t RunInterruptedEverywhere(const std::function<void()>& work, uint64_t every,
                                  const std::function<void(uint64_t)>& intruder,
                                  const std::function<bool(uint64_t)>& holds);

}  // namespace pmuconf

#endif  // PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_
