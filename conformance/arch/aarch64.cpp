// SPDX-License-Identifier: Apache-2.0
// Instructions of arm64.
#include <asm/hwcap.h>
#include <elf.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <cerrno>
#include <csignal>
#include <type_traits>
#include <utility>

#include "arch/arch.h"
#include "arch/numbered_counter.h"
#include "arch/work_code.h"

// x9 counts the rounds, x11 points to memory, x10 is data.
#define PMUCONF_ARM_WORK(NAME, LOOP, UNIT) \
  PMUCONF_WORK(NAME, LOOP, UNIT, "subs x9, x9, #1\nb.ne 1b", "svc #0", "udf #0", "ret")

PMUCONF_ARM_WORK("instructions", "", "nop");
PMUCONF_ARM_WORK("branches", "", "b . + 4");
PMUCONF_ARM_WORK("loads", "ldr x10, [x11]", "ldr x10, [x11]");
PMUCONF_ARM_WORK("stores", "str x10, [x11]", "str x10, [x11]");
PMUCONF_ARM_WORK("calls", "bl pmuconf_return_calls", "bl pmuconf_return_calls");

namespace pmuconf::processor {
namespace {

constexpr std::uint32_t kCycleCounter = 31;
constexpr unsigned kCallRegister = 8;
constexpr unsigned kRounds = 9;
constexpr unsigned kMemory = 11;

}  // namespace

std::uint64_t CounterInstruction(std::uint32_t counter) {
  if (counter == kCycleCounter) {
    std::uint64_t cycles = 0;
    asm volatile("isb; mrs %0, pmccntr_el0" : "=r"(cycles));
    return cycles;
  }
  // Reads PMEVCNTR<N>_EL0.
  const auto read = []<std::uint32_t kN>(std::integral_constant<std::uint32_t, kN>) {
    std::uint64_t value = 0;
    asm volatile("isb; mrs %0, s3_3_c14_c%c1_%c2" : "=r"(value) : "i"(8 + kN / 8), "i"(kN % 8));
    return value;
  };
  return ReadNumbered(counter, read, std::make_integer_sequence<std::uint32_t, kCycleCounter>());
}

std::uint64_t ClockInstruction() {
  std::uint64_t cycles = 0;
  asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(cycles) : : "memory");
  return cycles;
}

// The barrier ensures that the increment has been counted.
void SoftwareIncrement() {
  constexpr std::uint64_t kCounters = 0x7fff'ffff;  // all except fixed ones
  asm volatile("msr pmswinc_el0, %0\n\tisb" : : "r"(kCounters) : "memory");
}

std::int32_t CompatCall(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                        std::uint32_t) {
  return -ENOSYS;
}

int SetWorkRegisters(pid_t pid, const char* start, std::uint64_t rounds, std::uint64_t* memory) {
  user_regs_struct regs = {};
  iovec area = {&regs, sizeof(regs)};
  if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &area) != 0) return errno;
  regs.pc = reinterpret_cast<std::uint64_t>(start);
  regs.regs[kRounds] = rounds;
  regs.regs[kMemory] = reinterpret_cast<std::uint64_t>(memory);
  regs.regs[kCallRegister] = SYS_tgkill;
  regs.regs[0] = static_cast<std::uint64_t>(pid);
  regs.regs[1] = static_cast<std::uint64_t>(pid);
  regs.regs[2] = SIGSTOP;
  return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &area) == 0 ? 0 : errno;
}

bool EmulatesDebugRegisters() { return true; }

}  // namespace pmuconf::processor

namespace pmuconf::reg {

std::uint64_t ExtendedRegisters() {
  return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0 ? Bit(PERF_REG_ARM64_VG) : 0;
}

}  // namespace pmuconf::reg
