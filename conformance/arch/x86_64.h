// SPDX-License-Identifier: Apache-2.0
// x86-64.
#ifndef PMUCONF_ARCH_X86_64_H_
#define PMUCONF_ARCH_X86_64_H_

#include <asm/perf_regs.h>
#include <elf.h>
#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/types.h"

namespace pmuconf::processor {

inline constexpr std::string_view kMachine = "x86_64";  // as uname -m prints it
// The fewest data breakpoints of a processor.
inline constexpr std::size_t kFewestBreakpoints = 4;
// The entry of a system call without arguments is named with this prefix, SYSCALL_DEFINE0.
inline constexpr std::string_view kSyscallPrefix = "__x64_";
// perf_misc_flags() reports PERF_RECORD_MISC_EXACT_IP.
inline constexpr bool kReportsExactIp = true;
// The code that patches kernel text calls perf_event_text_poke().
inline constexpr bool kReportsTextPokes = true;
// hw_breakpoint_arch_parse() accepts lengths of 1, 2, 4 or 8 bytes, at aligned addresses.
inline constexpr bool kAlignedBreakpointsOnly = true;
// CONFIG_UNWIND_USER: the kernel unwinds user space for deferred call chains.
inline constexpr bool kUnwindsUserSpace = true;
// The symbol of an instruction that returns from an interrupt. A driver checks the instruction at
// the source of a branch. "": any address will do.
inline constexpr std::string_view kInterruptReturn = "native_irq_return_iret";

inline constexpr bool kReadsCounters = true;   // user space has an instruction for it
inline constexpr int kCounterFault = SIGSEGV;  // the signal if that is not permitted
inline constexpr bool kIncrements = false;     // user space can increment counters

inline constexpr bool kCompatCalls = true;  // interrupt 0x80
inline constexpr CompatNumbers kCompatNumbers = {.getpid = 20, .ioctl = 54, .perf_event_open = 336};
inline constexpr int kMapLow = MAP_32BIT;  // a flag of mmap(2)

inline constexpr Code32 kCode32 = {
    .machine = EM_386,
    .flags = 0,
    .write = 29,
    .inner_return = 24,
    .outer_return = 7,
    .code = std::string_view("\x31\xed"              //        xor %ebp, %ebp
                             "\xe8\x09\x00\x00\x00"  //        call outer
                             "\xb8\x01\x00\x00\x00"  //        mov $1, %eax
                             "\x31\xdb\xcd\x80"      //        xor %ebx, %ebx; int $0x80
                             "\x55\x89\xe5"          // outer: push %ebp; mov %esp, %ebp
                             "\xe8\x02\x00\x00\x00"  //        call inner
                             "\x5d\xc3"              //        pop %ebp; ret
                             "\x55\x89\xe5"          // inner: push %ebp; mov %esp, %ebp
                             "\xa3\x00\x10\x01\x00"  //        mov %eax, 0x11000
                             "\x5d\xc3",             //        pop %ebp; ret
                             36)};

inline constexpr WorkUnitSizes kWorkUnitSizes = {
    .instructions = 1, .branches = 2, .loads = 3, .stores = 3, .calls = 5};

}  // namespace pmuconf::processor

// The registers in samples (attr.sample_regs_user, attr.sample_regs_intr), by purpose.
namespace pmuconf::reg {

constexpr int kCount = PERF_REG_X86_64_MAX;
constexpr int kIp = PERF_REG_X86_IP;
constexpr int kIpOf32Bit = PERF_REG_X86_IP;  // where a 32-bit task has its instruction pointer
constexpr int kSp = PERF_REG_X86_SP;
// All registers that a 64-bit task has, so not the data segment registers.
constexpr std::uint64_t kAll = (Bit(kCount) - 1) & ~(Bit(PERF_REG_X86_DS) | Bit(PERF_REG_X86_ES) |
                                                     Bit(PERF_REG_X86_FS) | Bit(PERF_REG_X86_GS));
// The second and the third argument of a system call. Some kernels overwrite the first one with the
// result.
inline constexpr std::array kArguments = {PERF_REG_X86_SI, PERF_REG_X86_DX};
// The registers of refpmu_regs.gpr, in its order.
inline constexpr std::array kRecorded = {
    PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_BX,
    PERF_REG_X86_SP,  PERF_REG_X86_BP,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
    PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
    PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15};
// A register that no record has, and that is never 0 in user mode.
constexpr int kUnrecorded = PERF_REG_X86_SS;

}  // namespace pmuconf::reg

#endif  // PMUCONF_ARCH_X86_64_H_
