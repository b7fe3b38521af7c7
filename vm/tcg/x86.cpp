// SPDX-License-Identifier: Apache-2.0
#include "tcg/x86.h"

#include <cstddef>

namespace pmuconf::work {
namespace {

using Bytes = std::span<const std::uint8_t>;

// The instruction after its prefixes.
struct Opcode {
  std::uint8_t byte = 0;
  bool two_bytes = false;  // after 0f
  bool lock = false;
  bool repeat = false;  // f2 or f3, which also select other instructions
  Bytes rest;           // from ModRM or the immediate value

  bool In(unsigned first, unsigned last) const { return byte >= first && byte <= last; }
  bool HasModRm() const { return !rest.empty(); }
  bool OnRegister() const { return HasModRm() && rest[0] >= 0xc0; }
  unsigned Reg() const { return HasModRm() ? rest[0] >> 3 & 7U : 8; }
};

bool IsPrefix(std::uint8_t byte) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
      return true;
    default:
      return false;
  }
}

std::optional<Opcode> Split(Bytes bytes) {
  Opcode found;
  std::size_t at = 0;
  for (; at < bytes.size() && IsPrefix(bytes[at]); ++at) {
    found.lock |= bytes[at] == 0xf0;
    found.repeat |= bytes[at] == 0xf2 || bytes[at] == 0xf3;
  }
  const bool rex = at + 1 < bytes.size() && (bytes[at] & 0xf0U) == 0x40;
  at += rex ? 1 : 0;
  if (at + 1 < bytes.size() && bytes[at] == 0x0f) {
    found.two_bytes = true;
    ++at;
  }
  if (at >= bytes.size()) return std::nullopt;
  found.byte = bytes[at];
  found.rest = bytes.subspan(at + 1);
  return found;
}

// The displacement is the whole rest of the instruction: 1, 2 or 4 bytes.
std::optional<std::int64_t> Displacement(Bytes rest) {
  if (rest.empty() || rest.size() > 4) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = rest.size(); i-- > 0;) value = value << 8U | rest[i];
  const std::uint64_t sign = 1ULL << (8 * rest.size() - 1);
  return static_cast<std::int64_t>((value ^ sign) - sign);
}

Branch BranchOfTwoBytes(const Opcode& op) {
  if (op.In(0x80, 0x8f)) return Branch::kConditional;
  switch (op.byte) {
    case 0x05:  // SYSCALL
    case 0x07:  // SYSRET
    case 0x34:  // SYSENTER
    case 0x35:  // SYSEXIT
      return Branch::kFar;
    default:
      return Branch::kNone;
  }
}

Branch BranchOf(const Opcode& op) {
  if (op.two_bytes) return BranchOfTwoBytes(op);
  if (op.In(0x70, 0x7f) || op.In(0xe0, 0xe3)) return Branch::kConditional;
  switch (op.byte) {
    case 0xe8:
      return Branch::kCall;
    case 0xe9:
    case 0xeb:
      return Branch::kJump;
    case 0xc2:
    case 0xc3:
      return Branch::kReturn;
    case 0x9a:
    case 0xca:
    case 0xcb:
    case 0xea:
      return Branch::kFar;
    case 0xcf:
      return Branch::kInterruptReturn;
    case 0xff:
      break;
    default:
      return Branch::kNone;
  }
  switch (op.Reg()) {
    case 2:
      return Branch::kCall;
    case 4:
      return Branch::kJump;
    case 3:
    case 5:
      return Branch::kFar;
    default:
      return Branch::kNone;
  }
}

bool IsArithmetic(const Opcode& op) { return op.byte < 0x40 && (op.byte & 7U) < 6; }

// Instructions of two bytes with ModRM that read the operand r/m and change only a register.
bool ReadsRmOfTwoBytes(const Opcode& op) {
  switch (op.byte) {
    case 0xaf:  // IMUL
    case 0xb6:  // MOVZX
    case 0xb7:
    case 0xbe:  // MOVSX
    case 0xbf:
      return true;
    default:
      return op.In(0x40, 0x4f);  // CMOVcc
  }
}

bool ReadsRm(const Opcode& op) {
  if (op.two_bytes) return ReadsRmOfTwoBytes(op);
  // ADD to XOR from r/m to a register; CMP in both directions.
  if (IsArithmetic(op)) return (op.byte & 7U) == 2 || (op.byte & 7U) == 3 || op.In(0x38, 0x3b);
  switch (op.byte) {
    case 0x84:  // TEST
    case 0x85:
    case 0x8a:  // MOV
    case 0x8b:
    case 0x69:  // IMUL
    case 0x6b:
      return true;
    case 0x80:
    case 0x81:
    case 0x83:
      return op.Reg() == 7;  // CMP
    case 0xf6:
    case 0xf7:
      return op.Reg() < 2;  // TEST
    default:
      return false;
  }
}

// MOV to r/m.
bool WritesRm(const Opcode& op) {
  if (op.two_bytes) return false;
  if (op.In(0x88, 0x89)) return true;
  return op.In(0xc6, 0xc7) && op.Reg() == 0;
}

bool IsNop(const Opcode& op) {
  return op.two_bytes ? op.byte == 0x1f : op.byte == 0x90 && !op.repeat;
}

Memory MemoryOf(const Opcode& op, Branch branch) {
  // Prefixes select other instructions of two bytes; LOCK makes one access of a load and a store.
  if (op.lock || (op.repeat && op.two_bytes)) return Memory::kMixed;
  if (IsNop(op)) return Memory::kNone;
  if (ReadsRm(op)) return op.OnRegister() ? Memory::kNone : Memory::kLoads;
  if (WritesRm(op)) return op.OnRegister() ? Memory::kNone : Memory::kStores;
  switch (branch) {
    case Branch::kConditional:
      return Memory::kNone;
    case Branch::kReturn:
      return Memory::kLoads;
    case Branch::kJump:
      return op.byte != 0xff || op.OnRegister() ? Memory::kNone : Memory::kLoads;
    case Branch::kCall:
      return op.byte != 0xff || op.OnRegister() ? Memory::kStores : Memory::kMixed;
    default:
      break;
  }
  if (op.two_bytes) return Memory::kMixed;
  if (op.In(0x50, 0x57) || op.byte == 0x68 || op.byte == 0x6a) return Memory::kStores;  // PUSH
  if (op.In(0x58, 0x5f) || op.byte == 0xc9) return Memory::kLoads;  // POP, LEAVE
  if (op.byte == 0x8d || op.In(0xb0, 0xbf)) return Memory::kNone;   // LEA, MOV
  return Memory::kMixed;
}

// Instructions on registers alone that change one of them or the flags, and nothing else.
bool AlwaysCompletes(const Opcode& op) {
  if (op.lock || op.repeat) return false;
  if (IsNop(op)) return true;
  if ((ReadsRm(op) || WritesRm(op)) && op.OnRegister()) return true;
  if (op.two_bytes) return op.In(0xc8, 0xcf) || (op.In(0x90, 0x9f) && op.OnRegister());
  if (IsArithmetic(op)) return (op.byte & 7U) >= 4 || op.OnRegister();
  if (op.In(0xb0, 0xbf) || op.byte == 0xa8 || op.byte == 0xa9) return true;
  switch (op.byte) {
    case 0x8d:
      return op.HasModRm() && !op.OnRegister();
    case 0x98:
    case 0x99:
      return true;
    case 0x80:
    case 0x81:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return op.OnRegister();
    case 0xf6:
    case 0xf7:
      return op.OnRegister() && op.Reg() < 6;  // not DIV and IDIV
    case 0xfe:
    case 0xff:
      return op.OnRegister() && op.Reg() < 2;  // INC, DEC
    default:
      return false;
  }
}

}  // namespace

Instruction Decode(Bytes bytes) {
  const auto op = Split(bytes);
  Instruction found;
  if (!op) return found;
  found.branch = BranchOf(*op);
  const bool direct = !(op->byte == 0xff && !op->two_bytes) &&
                      (found.branch == Branch::kConditional || found.branch == Branch::kJump ||
                       found.branch == Branch::kCall);
  if (direct) found.displacement = Displacement(op->rest);
  found.memory = MemoryOf(*op, found.branch);
  found.always_completes = AlwaysCompletes(*op);
  return found;
}

}  // namespace pmuconf::work
