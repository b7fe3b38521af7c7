// SPDX-License-Identifier: Apache-2.0
// 64-bit little-endian POWER.
#ifndef PMUCONF_ARCH_PPC64LE_H_
#define PMUCONF_ARCH_PPC64LE_H_

#include <asm/perf_regs.h>
#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/types.h"

namespace pmuconf::processor {

inline constexpr std::string_view kMachine = "ppc64le";
// The fewest data breakpoints of a processor.
inline constexpr std::size_t kFewestBreakpoints = 1;
// The entry of a system call without arguments is named with this prefix, SYSCALL_DEFINE0.
inline constexpr std::string_view kSyscallPrefix = "";
inline constexpr bool kReportsExactIp = false;
inline constexpr bool kReportsTextPokes = false;
inline constexpr bool kAlignedBreakpointsOnly = false;
inline constexpr bool kUnwindsUserSpace = false;
inline constexpr std::string_view kInterruptReturn;

// PMC1 to PMC6 can be read, but the kernel's driver never sets cap_user_rdpmc.
inline constexpr bool kReadsCounters = false;
inline constexpr int kCounterFault = SIGILL;
inline constexpr bool kIncrements = false;

inline constexpr bool kCompatCalls = false;
inline constexpr CompatNumbers kCompatNumbers;
inline constexpr int kMapLow = 0;

inline constexpr Code32 kCode32;  // little-endian kernels have no 32-bit programs

inline constexpr WorkUnitSizes kWorkUnitSizes = {
    .instructions = 4, .branches = 4, .loads = 4, .stores = 4, .calls = 4};

}  // namespace pmuconf::processor

namespace pmuconf::reg {

constexpr int kCount = PERF_REG_POWERPC_MAX;
constexpr int kIp = PERF_REG_POWERPC_NIP;
constexpr int kIpOf32Bit = PERF_REG_POWERPC_NIP;
constexpr int kSp = PERF_REG_POWERPC_R1;
constexpr std::uint64_t kAll = Bit(kCount) - 1;
inline constexpr std::array kArguments = {PERF_REG_POWERPC_R4, PERF_REG_POWERPC_R5};
inline constexpr std::array kRecorded = {
    PERF_REG_POWERPC_R3,  PERF_REG_POWERPC_R4,  PERF_REG_POWERPC_R5,  PERF_REG_POWERPC_R6,
    PERF_REG_POWERPC_R7,  PERF_REG_POWERPC_R8,  PERF_REG_POWERPC_R9,  PERF_REG_POWERPC_R10,
    PERF_REG_POWERPC_R11, PERF_REG_POWERPC_R12, PERF_REG_POWERPC_R13, PERF_REG_POWERPC_R14,
    PERF_REG_POWERPC_R15, PERF_REG_POWERPC_R16, PERF_REG_POWERPC_R17, PERF_REG_POWERPC_R18};
constexpr int kUnrecorded = PERF_REG_POWERPC_MSR;

}  // namespace pmuconf::reg

#endif  // PMUCONF_ARCH_PPC64LE_H_
