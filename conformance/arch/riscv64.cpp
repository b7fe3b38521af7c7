// SPDX-License-Identifier: Apache-2.0
// Instructions of 64-bit RISC-V.
#include <asm/ptrace.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <csignal>
#include <type_traits>
#include <utility>

#include "arch/arch.h"
#include "arch/numbered_counter.h"
#include "arch/work_code.h"

// t0 counts the rounds, t2 points to memory, t1 is data. All instructions have 4 bytes.
#define PMUCONF_RISCV_FIXED(CODE) ".option push\n.option norvc\n" CODE "\n.option pop"
#define PMUCONF_RISCV_WORK(NAME, LOOP, UNIT)                               \
  PMUCONF_WORK(NAME, PMUCONF_RISCV_FIXED(LOOP), PMUCONF_RISCV_FIXED(UNIT), \
               "addi t0, t0, -1\nbnez t0, 1b", "ecall", "unimp", "ret")

PMUCONF_RISCV_WORK("instructions", "", "nop");
PMUCONF_RISCV_WORK("branches", "", "jal x0, . + 4");
PMUCONF_RISCV_WORK("loads", "ld t1, 0(t2)", "ld t1, 0(t2)");
PMUCONF_RISCV_WORK("stores", "sd t1, 0(t2)", "sd t1, 0(t2)");
PMUCONF_RISCV_WORK("calls", "jal ra, pmuconf_return_calls", "jal ra, pmuconf_return_calls");

namespace pmuconf::processor {
namespace {

constexpr std::uint32_t kCounters = 32;

}  // namespace

std::uint64_t CounterInstruction(std::uint32_t counter) {
  // Reads hpmcounter<N>, cycle (0) or instret (2).
  const auto read = []<std::uint32_t kN>(std::integral_constant<std::uint32_t, kN>) {
    std::uint64_t value = 0;
    asm volatile("csrr %0, %1" : "=r"(value) : "i"(0xc00 + kN));
    return value;
  };
  return ReadNumbered(counter, read, std::make_integer_sequence<std::uint32_t, kCounters>());
}

std::uint64_t ClockInstruction() {
  std::uint64_t time = 0;
  asm volatile("fence; rdtime %0; fence" : "=r"(time) : : "memory");
  return time;
}

void SoftwareIncrement() {}

std::int32_t CompatCall(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                        std::uint32_t) {
  return -ENOSYS;
}

int SetWorkRegisters(pid_t pid, const char* start, std::uint64_t rounds, std::uint64_t* memory) {
  user_regs_struct regs = {};
  iovec area = {&regs, sizeof(regs)};
  if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area) != 0) return errno;
  regs.pc = reinterpret_cast<std::uint64_t>(start);
  regs.t0 = rounds;
  regs.t2 = reinterpret_cast<std::uint64_t>(memory);
  regs.a7 = SYS_tgkill;
  regs.a0 = static_cast<std::uint64_t>(pid);
  regs.a1 = static_cast<std::uint64_t>(pid);
  regs.a2 = SIGSTOP;
  return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &area) == 0 ? 0 : errno;
}

bool EmulatesDebugRegisters() { return true; }

}  // namespace pmuconf::processor

namespace pmuconf::reg {

std::uint64_t ExtendedRegisters() { return 0; }

}  // namespace pmuconf::reg
