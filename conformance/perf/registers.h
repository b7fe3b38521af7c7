// SPDX-License-Identifier: Apache-2.0
// The registers in samples (attr.sample_regs_user, attr.sample_regs_intr), by purpose. Their
// numbers depend on the architecture: asm/perf_regs.h.
#ifndef PMUCONF_PERF_REGISTERS_H_
#define PMUCONF_PERF_REGISTERS_H_

#include <asm/perf_regs.h>

#include <array>
#include <cstdint>

namespace pmuconf::reg {

constexpr std::uint64_t Bit(int reg) { return std::uint64_t{1} << reg; }

#if defined(__x86_64__)

constexpr int kCount = PERF_REG_X86_64_MAX;
constexpr int kIp = PERF_REG_X86_IP;
constexpr int kIpOf32Bit = PERF_REG_X86_IP;  // where a 32-bit task has its instruction pointer
constexpr int kSp = PERF_REG_X86_SP;
// All registers that a 64-bit task has, so not the data segment registers.
constexpr std::uint64_t kAll = (Bit(kCount) - 1) & ~(Bit(PERF_REG_X86_DS) | Bit(PERF_REG_X86_ES) |
                                                     Bit(PERF_REG_X86_FS) | Bit(PERF_REG_X86_GS));
// Arguments of a system call.
inline constexpr std::array kArguments = {PERF_REG_X86_DI, PERF_REG_X86_SI, PERF_REG_X86_DX};
// The registers of refpmu_regs.gpr, in its order.
inline constexpr std::array kRecorded = {
    PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_BX,
    PERF_REG_X86_SP,  PERF_REG_X86_BP,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
    PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
    PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15};
// A register that no record has, and that is never 0 in user mode.
constexpr int kUnrecorded = PERF_REG_X86_SS;
// Registers beyond the general ones. A PMU announces support for them.
constexpr int kVector = PERF_REG_X86_XMM0;
constexpr int kVectorEnd = PERF_REG_X86_XMM_MAX;

#elif defined(__aarch64__)

constexpr int kCount = PERF_REG_ARM64_MAX;
constexpr int kIp = PERF_REG_ARM64_PC;
constexpr int kIpOf32Bit = PERF_REG_ARM64_X15;  // where a 32-bit task has its instruction pointer
constexpr int kSp = PERF_REG_ARM64_SP;
constexpr std::uint64_t kAll = Bit(kCount) - 1;
inline constexpr std::array kArguments = {PERF_REG_ARM64_X0, PERF_REG_ARM64_X1, PERF_REG_ARM64_X2};
inline constexpr std::array kRecorded = {
    PERF_REG_ARM64_X0,  PERF_REG_ARM64_X1,  PERF_REG_ARM64_X2,  PERF_REG_ARM64_X3,
    PERF_REG_ARM64_X4,  PERF_REG_ARM64_X5,  PERF_REG_ARM64_X6,  PERF_REG_ARM64_X7,
    PERF_REG_ARM64_X8,  PERF_REG_ARM64_X9,  PERF_REG_ARM64_X10, PERF_REG_ARM64_X11,
    PERF_REG_ARM64_X12, PERF_REG_ARM64_X13, PERF_REG_ARM64_X14, PERF_REG_ARM64_X15};
constexpr int kUnrecorded = PERF_REG_ARM64_SP;
constexpr int kVector = PERF_REG_ARM64_VG;
constexpr int kVectorEnd = PERF_REG_ARM64_EXTENDED_MAX;

#else
#error "which registers samples have is not known for this processor"
#endif

// Returns whether this processor has the registers from kVector on.
bool HasVectors();

}  // namespace pmuconf::reg

#endif  // PMUCONF_PERF_REGISTERS_H_
