// SPDX-License-Identifier: Apache-2.0
// 64-bit RISC-V.
#ifndef PMUCONF_ARCH_RISCV64_H_
#define PMUCONF_ARCH_RISCV64_H_

#include <asm/perf_regs.h>
#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/types.h"

namespace pmuconf::processor {

inline constexpr std::string_view kMachine = "riscv64";
// The fewest data breakpoints of a processor.
inline constexpr std::size_t kFewestBreakpoints = 1;
// The entry of a system call without arguments is named with this prefix, SYSCALL_DEFINE0.
inline constexpr std::string_view kSyscallPrefix = "__riscv_";
inline constexpr bool kReportsExactIp = false;
inline constexpr bool kReportsTextPokes = false;
inline constexpr bool kAlignedBreakpointsOnly = false;
inline constexpr bool kUnwindsUserSpace = false;
inline constexpr std::string_view kInterruptReturn;

inline constexpr bool kReadsCounters = true;  // hpmcounter3 to hpmcounter31, cycle, instret
inline constexpr int kCounterFault = SIGILL;
inline constexpr bool kIncrements = false;

inline constexpr bool kCompatCalls = false;
inline constexpr CompatNumbers kCompatNumbers;
inline constexpr int kMapLow = 0;

inline constexpr Code32 kCode32;  // few processors have the 32-bit mode

inline constexpr WorkUnitSizes kWorkUnitSizes = {
    .instructions = 4, .branches = 4, .loads = 4, .stores = 4, .calls = 4};

}  // namespace pmuconf::processor

namespace pmuconf::reg {

constexpr int kCount = PERF_REG_RISCV_MAX;
constexpr int kIp = PERF_REG_RISCV_PC;
constexpr int kIpOf32Bit = PERF_REG_RISCV_PC;
constexpr int kSp = PERF_REG_RISCV_SP;
constexpr std::uint64_t kAll = Bit(kCount) - 1;
inline constexpr std::array kArguments = {PERF_REG_RISCV_A1, PERF_REG_RISCV_A2};
inline constexpr std::array kRecorded = {
    PERF_REG_RISCV_A0, PERF_REG_RISCV_A1, PERF_REG_RISCV_A2, PERF_REG_RISCV_A3,
    PERF_REG_RISCV_A4, PERF_REG_RISCV_A5, PERF_REG_RISCV_A6, PERF_REG_RISCV_A7,
    PERF_REG_RISCV_S2, PERF_REG_RISCV_S3, PERF_REG_RISCV_S4, PERF_REG_RISCV_S5,
    PERF_REG_RISCV_S6, PERF_REG_RISCV_S7, PERF_REG_RISCV_S8, PERF_REG_RISCV_S9};
constexpr int kUnrecorded = PERF_REG_RISCV_SP;

}  // namespace pmuconf::reg

#endif  // PMUCONF_ARCH_RISCV64_H_
