// SPDX-License-Identifier: Apache-2.0
// Instructions of 64-bit little-endian POWER.
#include <asm/ptrace.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <csignal>

#include "arch/arch.h"
#include "arch/work_code.h"

// The count register counts the rounds, r10 points to memory, r9 is data. `bdnz` is one
// instruction, so the loop of instructions needs another one.
#define PMUCONF_POWER_WORK(NAME, LOOP, UNIT) \
  PMUCONF_WORK(NAME, LOOP, UNIT, "bdnz 1b", "sc", "trap", "blr")

PMUCONF_POWER_WORK("instructions", "nop", "nop");
PMUCONF_POWER_WORK("branches", "", "b . + 4");
PMUCONF_POWER_WORK("loads", "ld 9, 0(10)", "ld 9, 0(10)");
PMUCONF_POWER_WORK("stores", "std 9, 0(10)", "std 9, 0(10)");
PMUCONF_POWER_WORK("calls", "bl pmuconf_return_calls", "bl pmuconf_return_calls");

namespace pmuconf::processor {

std::uint64_t CounterInstruction(std::uint32_t) { return 0; }

std::uint64_t ClockInstruction() {
  std::uint64_t ticks = 0;
  asm volatile("isync; mftb %0; isync" : "=r"(ticks) : : "memory");
  return ticks;
}

void SoftwareIncrement() {}

std::int32_t CompatCall(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                        std::uint32_t) {
  return -ENOSYS;
}

int SetWorkRegisters(pid_t pid, const char* start, std::uint64_t rounds, std::uint64_t* memory) {
  pt_regs regs = {};
  iovec area = {&regs, sizeof(regs)};
  if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area) != 0) return errno;
  regs.nip = reinterpret_cast<std::uint64_t>(start);
  regs.ctr = rounds;
  regs.gpr[10] = reinterpret_cast<std::uint64_t>(memory);
  regs.gpr[0] = SYS_tgkill;
  regs.gpr[3] = static_cast<std::uint64_t>(pid);
  regs.gpr[4] = static_cast<std::uint64_t>(pid);
  regs.gpr[5] = SIGSTOP;
  regs.trap = 0;  // no system call to restart
  return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &area) == 0 ? 0 : errno;
}

bool EmulatesDebugRegisters() { return true; }

}  // namespace pmuconf::processor

namespace pmuconf::reg {

// The processor's own PMU decides which extended registers there are.
std::uint64_t ExtendedRegisters() { return 0; }

}  // namespace pmuconf::reg
