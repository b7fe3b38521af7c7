// SPDX-License-Identifier: Apache-2.0
// Types of the constants that each architecture defines.
#ifndef PMUCONF_ARCH_TYPES_H_
#define PMUCONF_ARCH_TYPES_H_

#include <cstdint>
#include <string_view>

namespace pmuconf::reg {

constexpr std::uint64_t Bit(int reg) { return std::uint64_t{1} << reg; }

}  // namespace pmuconf::reg

namespace pmuconf::processor {

// Machine code of the processor's 32-bit mode. It begins at the address of its first byte. The code
// calls a function, which calls another one. Both have frame pointers. The inner one writes to the
// address 0x11000. Then the code exits with status 0. The offsets are in bytes.
struct Code32 {
  std::uint16_t machine = 0;       // EM_*; 0: there is no 32-bit mode
  std::uint32_t flags = 0;         // e_flags
  std::uint32_t write = 0;         // offset of the instruction that writes
  std::uint32_t inner_return = 0;  // offset of the return address of the inner call
  std::uint32_t outer_return = 0;
  std::string_view code = {};
};

// Numbers of system calls of 32-bit programs.
struct CompatNumbers {
  std::uint32_t getpid = 0;
  std::uint32_t ioctl = 0;
  std::uint32_t perf_event_open = 0;
};

// Sizes in bytes of one unit of each kind of work, see arch/work_code.h.
struct WorkUnitSizes {
  unsigned instructions = 0;
  unsigned branches = 0;
  unsigned loads = 0;
  unsigned stores = 0;
  unsigned calls = 0;
};

}  // namespace pmuconf::processor

#endif  // PMUCONF_ARCH_TYPES_H_
