// SPDX-License-Identifier: Apache-2.0
// The number of interrupts that a CPU has served (proc_interrupts(5)).
#ifndef PMUCONF_SYSTEM_INTERRUPTS_H_
#define PMUCONF_SYSTEM_INTERRUPTS_H_

#include <cstdint>
#include <string>

namespace pmuconf {

// Returns the sum of the column of `cpu` in the text of /proc/interrupts. Non-maskable interrupts
// have a row, too; so do interrupts of the PMU. Returns 0 if there is no such column.
std::uint64_t InterruptsIn(const std::string& text, int cpu);

// Returns the interrupts of `cpu` since the boot.
std::uint64_t InterruptsOf(int cpu);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_INTERRUPTS_H_
