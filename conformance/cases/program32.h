// SPDX-License-Identifier: Apache-2.0
// A handmade program for the 32-bit mode of the processor, because a compiler for it may be absent.
#ifndef PMUCONF_CASES_PROGRAM32_H_
#define PMUCONF_CASES_PROGRAM32_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace pmuconf {

struct Program32 {
  std::string file;       // an ELF file
  std::uint64_t written;  // the address that it writes to, in a separate page
  std::uint64_t ip;       // the address of the instruction that writes
};

// The program writes to its second page, which is all zeros, and exits with status 0.
inline Program32 ProgramThatWrites() {
  using std::literals::operator""sv;
  constexpr std::uint32_t kPage = 4096, kBase = 0x10000, kWritten = kBase + kPage;
  constexpr std::uint32_t kHeaders = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
#if defined(__x86_64__)
  constexpr std::uint16_t kMachine = EM_386;
  constexpr std::uint32_t kFlags = 0, kBefore = 0;
  // mov %eax, 0x11000; mov $1, %eax; xor %ebx, %ebx; int $0x80
  constexpr auto kCode = "\xa3\x00\x10\x01\x00\xb8\x01\x00\x00\x00\x31\xdb\xcd\x80"sv;
#elif defined(__aarch64__)
  constexpr std::uint16_t kMachine = EM_ARM;
  constexpr std::uint32_t kFlags = EF_ARM_EABI_VER5, kBefore = 4;
  // mov r0, #0x11000; str r0, [r0]; mov r7, #1; mov r0, #0; svc 0
  constexpr auto kCode =
      "\x11\x0a\xa0\xe3\x00\x00\x80\xe5\x01\x70\xa0\xe3\x00\x00\xa0\xe3\x00\x00\x00\xef"sv;
#else
#error "no 32-bit program for this processor"
#endif
  Elf32_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = kMachine;
  header.e_version = EV_CURRENT;
  header.e_flags = kFlags;
  header.e_entry = kBase + kHeaders;
  header.e_phoff = header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf32_Phdr);
  header.e_phnum = 1;
  Elf32_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = segment.p_paddr = kBase;
  segment.p_filesz = kHeaders + static_cast<std::uint32_t>(kCode.size());
  segment.p_memsz = 2 * kPage;
  segment.p_flags = PF_R | PF_W | PF_X;
  segment.p_align = kPage;
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file.append(reinterpret_cast<const char*>(&segment), sizeof(segment));
  return {file.append(kCode), kWritten, kBase + kHeaders + kBefore};
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_PROGRAM32_H_
