// SPDX-License-Identifier: Apache-2.0
// Runs code one instruction at a time, and other code in between, like an interrupt at one or all
// instructions. Only for x86-64: it uses the trap flag.
#ifndef PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_
#define PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_

#include <cstdint>
#include <functional>

namespace pmuconf {

// Runs @work, and @intruder in a signal handler after instruction number @at (from 1 on) of @work.
// Returns the number of single steps. If that is less than @at, @work ended before and @intruder
// did not run. An intruder may call this function, too.
uint64_t RunInterrupted(const std::function<void()>& work, uint64_t at,
                        const std::function<void()>& intruder);

// Runs @work once. At each @every-th instruction it forks the process. The copy runs @intruder
// there, completes @work and calls @check. Both functions receive the number of the instruction.
// Returns the first instruction at which @check returned false; 0 if there is none.
uint64_t RunInterruptedEverywhere(const std::function<void()>& work, uint64_t every,
                                  const std::function<void(uint64_t)>& intruder,
                                  const std::function<bool(uint64_t)>& check);

}  // namespace pmuconf

#endif  // PMUCONF_DRIVER_UNIT_SINGLE_STEP_H_
