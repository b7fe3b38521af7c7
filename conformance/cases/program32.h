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
#include <string_view>
#include <vector>

#include "system/broken.h"
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
  using std::literals::operator""sv;
  constexpr std::uint32_t kPage = 4096, kBase = 0x10000, kWritten = kBase + kPage;
  constexpr std::uint32_t kHeaders = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr);
#if defined(__x86_64__)
  constexpr std::uint16_t kMachine = EM_386;
  constexpr std::uint32_t kFlags = 0, kWrite = 29, kInnerReturn = 24, kOuterReturn = 7;
  constexpr auto kCode =
      "\x31\xed"              //        xor %ebp, %ebp
      "\xe8\x09\x00\x00\x00"  //        call outer
      "\xb8\x01\x00\x00\x00"  //        mov $1, %eax
      "\x31\xdb\xcd\x80"      //        xor %ebx, %ebx; int $0x80
      "\x55\x89\xe5"          // outer: push %ebp; mov %esp, %ebp
      "\xe8\x02\x00\x00\x00"  //        call inner
      "\x5d\xc3"              //        pop %ebp; ret
      "\x55\x89\xe5"          // inner: push %ebp; mov %esp, %ebp
      "\xa3\x00\x10\x01\x00"  //        mov %eax, 0x11000
      "\x5d\xc3"sv;           //        pop %ebp; ret
#elif defined(__aarch64__)
  constexpr std::uint16_t kMachine = EM_ARM;
  constexpr std::uint32_t kFlags = EF_ARM_EABI_VER5;
  constexpr std::uint32_t kWrite = 0x38, kInnerReturn = 0x24, kOuterReturn = 8;
  constexpr auto kCode =
      "\x00\xb0\xa0\xe3"     //        mov fp, #0
      "\x02\x00\x00\xeb"     //        bl outer
      "\x01\x70\xa0\xe3"     //        mov r7, #1
      "\x00\x00\xa0\xe3"     //        mov r0, #0
      "\x00\x00\x00\xef"     //        svc 0
      "\x0d\xc0\xa0\xe1"     // outer: mov ip, sp
      "\x00\xd8\x2d\xe9"     //        push {fp, ip, lr, pc}
      "\x04\xb0\x4c\xe2"     //        sub fp, ip, #4
      "\x00\x00\x00\xeb"     //        bl inner
      "\x00\xa8\x1b\xe9"     //        ldmdb fp, {fp, sp, pc}
      "\x0d\xc0\xa0\xe1"     // inner: mov ip, sp
      "\x00\xd8\x2d\xe9"     //        push {fp, ip, lr, pc}
      "\x04\xb0\x4c\xe2"     //        sub fp, ip, #4
      "\x11\x0a\xa0\xe3"     //        mov r0, #0x11000
      "\x00\x00\x80\xe5"     //        str r0, [r0]
      "\x00\xa8\x1b\xe9"sv;  //      ldmdb fp, {fp, sp, pc}
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
  constexpr std::uint64_t kStart = kBase + kHeaders;
  return {file.append(kCode),
          kWritten,
          kStart + kWrite,
          {kStart + kInnerReturn, kStart + kOuterReturn}};
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
