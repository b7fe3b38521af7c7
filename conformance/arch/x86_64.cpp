// SPDX-License-Identifier: Apache-2.0
// Instructions of x86-64.
#include <cpuid.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "arch/arch.h"
#include "arch/work_code.h"

// rcx counts the rounds, rbx points to memory, r8 is data.
#define PMUCONF_X86_WORK(NAME, LOOP, UNIT) \
  PMUCONF_WORK(NAME, LOOP, UNIT, "dec %rcx\njnz 1b", "syscall", "ud2", "ret")

PMUCONF_X86_WORK("instructions", "", "nop");
PMUCONF_X86_WORK("branches", "", ".byte 0xeb, 0x00");  // jmp to the next instruction
PMUCONF_X86_WORK("loads", "mov (%rbx), %r8", "mov (%rbx), %r8");
PMUCONF_X86_WORK("stores", "mov %r8, (%rbx)", "mov %r8, (%rbx)");
PMUCONF_X86_WORK("calls", "call pmuconf_return_calls", "call pmuconf_return_calls");

namespace pmuconf::processor {

std::uint64_t CounterInstruction(std::uint32_t counter) {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
  return std::uint64_t{high} << 32 | low;
}

std::uint64_t ClockInstruction() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
  return std::uint64_t{high} << 32 | low;
}

void SoftwareIncrement() {}

std::int32_t CompatCall(std::uint32_t number, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        std::uint32_t d, std::uint32_t e) {
  std::uint64_t result = number;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
               : "memory", "cc", "r8", "r9", "r10", "r11");
  return static_cast<std::int32_t>(result);
}

int SetWorkRegisters(pid_t pid, const char* start, std::uint64_t rounds, std::uint64_t* memory) {
  user_regs_struct regs = {};
  if (ptrace(PTRACE_GETREGS, pid, nullptr, &regs) != 0) return errno;
  regs.rip = reinterpret_cast<std::uint64_t>(start);
  regs.rcx = rounds;
  regs.rbx = reinterpret_cast<std::uint64_t>(memory);
  regs.rax = SYS_tgkill;
  regs.orig_rax = ~0ULL;  // no system call to restart
  regs.rdi = static_cast<std::uint64_t>(pid);
  regs.rsi = static_cast<std::uint64_t>(pid);
  regs.rdx = SIGSTOP;
  return ptrace(PTRACE_SETREGS, pid, nullptr, &regs) == 0 ? 0 : errno;
}

bool EmulatesDebugRegisters() {
  constexpr unsigned kSignature = 0x40000000;  // the leaf that names the hypervisor
  unsigned a = 0, b = 0, c = 0, d = 0;
  __cpuid(kSignature, a, b, c, d);
  const std::array<unsigned, 3> words = {b, c, d};
  return std::memcmp(words.data(), "TCGTCGTCGTCG", sizeof(words)) == 0;
}

}  // namespace pmuconf::processor

namespace pmuconf::reg {

std::uint64_t ExtendedRegisters() { return PERF_REG_EXTENDED_MASK; }

}  // namespace pmuconf::reg
