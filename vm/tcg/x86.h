// SPDX-License-Identifier: Apache-2.0
// Decodes what the plugin must know of an x86 instruction.
#ifndef PMUCONF_VM_TCG_X86_H_
#define PMUCONF_VM_TCG_X86_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pmuconf::work {

// The emulator's name for the processor.
inline constexpr std::string_view kTargetName = "x86_64";

enum class Branch {
  kNone,
  kConditional,  // Jcc, LOOPcc, JCXZ: direct, and only these may fall through
  kJump,         // near JMP
  kCall,         // near CALL
  kReturn,       // near RET
  kFar,          // far JMP, CALL and RET, SYSCALL, SYSRET, SYSENTER, SYSEXIT
  kInterruptReturn,
};

// The memory that an instruction accesses. kMixed: not decoded; it may also access none.
enum class Memory { kNone, kLoads, kStores, kMixed };

struct Instruction {
  Branch branch = Branch::kNone;
  std::optional<std::int64_t> displacement;  // of a direct near branch, from its end
  Memory memory = Memory::kMixed;
  bool always_completes = false;  // the next instruction follows: no fault, no end of a block
};

// Decodes one complete instruction. 64-bit and 32-bit code need no distinction: a byte from 40 to
// 4f is a whole instruction of 32-bit code, but only a prefix of 64-bit code.
Instruction Decode(std::span<const std::uint8_t> bytes);

}  // namespace pmuconf::work

#endif  // PMUCONF_VM_TCG_X86_H_
