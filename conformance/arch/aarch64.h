// SPDX-License-Identifier: Apache-2.0
// arm64.
#ifndef PMUCONF_ARCH_AARCH64_H_
#define PMUCONF_ARCH_AARCH64_H_

#include <asm/perf_regs.h>
#include <elf.h>
#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/types.h"

namespace pmuconf::processor {

inline constexpr std::string_view kMachine = "aarch64";
// The fewest data breakpoints of a processor.
inline constexpr std::size_t kFewestBreakpoints = 2;
// The entry of a system call without arguments is named with this prefix, SYSCALL_DEFINE0.
inline constexpr std::string_view kSyscallPrefix = "__arm64_";
inline constexpr bool kReportsExactIp = false;
inline constexpr bool kReportsTextPokes = false;
inline constexpr bool kAlignedBreakpointsOnly = false;
inline constexpr bool kUnwindsUserSpace = false;
inline constexpr std::string_view kInterruptReturn;

inline constexpr bool kReadsCounters = true;
inline constexpr int kCounterFault = SIGILL;
inline constexpr bool kIncrements = true;  // PMSWINC_EL0

inline constexpr bool kCompatCalls = false;
inline constexpr CompatNumbers kCompatNumbers;
inline constexpr int kMapLow = 0;

inline constexpr Code32 kCode32 = {
    .machine = EM_ARM,
    .flags = EF_ARM_EABI_VER5,
    .write = 0x38,
    .inner_return = 0x24,
    .outer_return = 8,
    .code = std::string_view("\x00\xb0\xa0\xe3"   //        mov fp, #0
                             "\x02\x00\x00\xeb"   //        bl outer
                             "\x01\x70\xa0\xe3"   //        mov r7, #1
                             "\x00\x00\xa0\xe3"   //        mov r0, #0
                             "\x00\x00\x00\xef"   //        svc 0
                             "\x0d\xc0\xa0\xe1"   // outer: mov ip, sp
                             "\x00\xd8\x2d\xe9"   //        push {fp, ip, lr, pc}
                             "\x04\xb0\x4c\xe2"   //        sub fp, ip, #4
                             "\x00\x00\x00\xeb"   //        bl inner
                             "\x00\xa8\x1b\xe9"   //        ldmdb fp, {fp, sp, pc}
                             "\x0d\xc0\xa0\xe1"   // inner: mov ip, sp
                             "\x00\xd8\x2d\xe9"   //        push {fp, ip, lr, pc}
                             "\x04\xb0\x4c\xe2"   //        sub fp, ip, #4
                             "\x11\x0a\xa0\xe3"   //        mov r0, #0x11000
                             "\x00\x00\x80\xe5"   //        str r0, [r0]
                             "\x00\xa8\x1b\xe9",  //        ldmdb fp, {fp, sp, pc}
                             64)};

inline constexpr WorkUnitSizes kWorkUnitSizes = {
    .instructions = 4, .branches = 4, .loads = 4, .stores = 4, .calls = 4};

}  // namespace pmuconf::processor

namespace pmuconf::reg {

constexpr int kCount = PERF_REG_ARM64_MAX;
constexpr int kIp = PERF_REG_ARM64_PC;
constexpr int kIpOf32Bit = PERF_REG_ARM64_X15;
constexpr int kSp = PERF_REG_ARM64_SP;
constexpr std::uint64_t kAll = Bit(kCount) - 1;
inline constexpr std::array kArguments = {PERF_REG_ARM64_X1, PERF_REG_ARM64_X2};
inline constexpr std::array kRecorded = {
    PERF_REG_ARM64_X0,  PERF_REG_ARM64_X1,  PERF_REG_ARM64_X2,  PERF_REG_ARM64_X3,
    PERF_REG_ARM64_X4,  PERF_REG_ARM64_X5,  PERF_REG_ARM64_X6,  PERF_REG_ARM64_X7,
    PERF_REG_ARM64_X8,  PERF_REG_ARM64_X9,  PERF_REG_ARM64_X10, PERF_REG_ARM64_X11,
    PERF_REG_ARM64_X12, PERF_REG_ARM64_X13, PERF_REG_ARM64_X14, PERF_REG_ARM64_X15};
constexpr int kUnrecorded = PERF_REG_ARM64_SP;

}  // namespace pmuconf::reg

#endif  // PMUCONF_ARCH_AARCH64_H_
