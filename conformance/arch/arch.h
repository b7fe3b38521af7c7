// SPDX-License-Identifier: Apache-2.0
// The processor architecture that this program is built for: its registers, its instructions, and
// facts about Linux on it. arch/<machine>.h defines the constants, which are the same for each
// architecture, and arch/<machine>.cpp the functions below.
#ifndef PMUCONF_ARCH_ARCH_H_
#define PMUCONF_ARCH_ARCH_H_

#include <sys/types.h>

#include <cstdint>

#include "arch/types.h"
#include PMUCONF_ARCH_H

namespace pmuconf::processor {

// Reads counter `counter` by the instruction that user space has for it. It raises kCounterFault if
// user space has no permission. Returns 0 if there is no such instruction: see kReadsCounters.
std::uint64_t CounterInstruction(std::uint32_t counter);

// Reads the clock behind the control page's time, after all earlier instructions.
std::uint64_t ClockInstruction();

// Counts one software increment on each counter that counts them. Does nothing unless
// kIncrements.
void SoftwareIncrement();

// Calls a system call of 32-bit programs. Returns a negative errno on failure, -ENOSYS unless
// kCompatCalls.
std::int32_t CompatCall(std::uint32_t number, std::uint32_t a = 0, std::uint32_t b = 0,
                        std::uint32_t c = 0, std::uint32_t d = 0, std::uint32_t e = 0);

// Sets the registers of the stopped task `pid` for the code of arch/work_code.h: it continues at
// `start`, goes `rounds` times round a loop, and ends with tgkill(pid, pid, SIGSTOP). `memory` is
// the word for loads and stores. Returns 0 or the errno of ptrace(2).
int SetWorkRegisters(pid_t pid, const char* start, std::uint64_t rounds, std::uint64_t* memory);

// Returns whether a virtual machine certainly has working debug registers: the emulator of QEMU has
// them. Some hypervisors of x86 hide those of the processor.
bool EmulatesDebugRegisters();

}  // namespace pmuconf::processor

namespace pmuconf::reg {

// Returns the registers that a sample can have besides kAll if the PMU and the processor have them.
std::uint64_t ExtendedRegisters();

}  // namespace pmuconf::reg

#endif  // PMUCONF_ARCH_ARCH_H_
