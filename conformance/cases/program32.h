// SPDX-License-Identifier: Apache-2.0
// A handmade program for the 32-bit mode of the processor, because a compiler for it may be absent.
#ifndef PMUCONF_CASES_PROGRAM32_H_
#define PMUCONF_CASES_PROGRAM32_H_

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "arch/arch.h"
#include "system/broken.h"
#include "system/context.h"
#include "system/cpu.h"
#include "system/fd.h"

namespace pmuconf {

struct Program32 {
  std::string file;                    // an ELF file
  std::uint64_t written;               // the address that it writes to, in a separate page
  std::uint64_t ip;                    // the address of the instruction that writes
  std::vector<std::uint64_t> returns;  // the return addresses on its stack then, innermost first
};

// The program calls a function, which calls another one. Both have frame pointers. The inner one
// writes to the program's second page, which is all zeros. Then the program exits with status 0.
inline Program32 ProgramThatWrites() {
  constexpr std::uint32_t kPage = 4096, kBase = 0x10000, kWritten = kBase + kPage;
  constexpr std::uint32_t kHeaders = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
  constexpr processor::Code32 kCode = processor::kCode32;
  if (kCode.machine == 0)
    throw Skipped{SkipReason::kKernelLacks, "the processor has no 32-bit mode"};
  Elf32_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = kCode.machine;
  header.e_version = EV_CURRENT;
  header.e_flags = kCode.flags;
  header.e_entry = kBase + kHeaders;
  header.e_phoff = header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf32_Phdr);
  header.e_phnum = 1;
  Elf32_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = segment.p_paddr = kBase;
  segment.p_filesz = kHeaders + static_cast<std::uint32_t>(kCode.code.size());
  segment.p_memsz = 2 * kPage;
  segment.p_flags = PF_R | PF_W | PF_X;
  segment.p_align = kPage;
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file.append(reinterpret_cast<const char*>(&segment), sizeof(segment));
  constexpr std::uint64_t kStart = kBase + kHeaders;
  return {file.append(kCode.code),
          kWritten,
          kStart + kCode.write,
          {kStart + kCode.inner_return, kStart + kCode.outer_return}};
}

// Returns a child that executes the program.
inline Child ChildThatExecutes(const Program32& program) {
  const Fd file(memfd_create("conformance-32", MFD_CLOEXEC));
  const auto size = static_cast<ssize_t>(program.file.size());
  if (write(file.get(), program.file.data(), program.file.size()) != size) {
    throw Broken("cannot write the 32-bit program");
  }
  return Child([&file] {
    char* const none[] = {nullptr};
    fexecve(file.get(), none, none);
    return 125;
  });
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_PROGRAM32_H_
