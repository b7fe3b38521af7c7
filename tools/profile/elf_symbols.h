// SPDX-License-Identifier: Apache-2.0
// Symbols (symtab, dynsym), build id and load addresses of an ELF file.
#ifndef PMUCONF_TOOLS_PROFILE_ELF_SYMBOLS_H_
#define PMUCONF_TOOLS_PROFILE_ELF_SYMBOLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "system/fd.h"

namespace pmuconf::profile {

struct FoundSymbol {
  std::string name;  // mangled
  std::uint64_t offset = 0;
};

class ElfSymbols {
 public:
  // Return nullopt if it is not an ELF file. Names in a file are read only when needed.
  static std::optional<ElfSymbols> Open(Fd file);
  // For an image in memory, like the vDSO.
  static std::optional<ElfSymbols> Open(std::span<const char> image);

  const std::string& build_id() const { return build_id_; }  // hex; empty: none
  bool HasSymbols() const { return !symbols_.empty(); }
  // Converts a file offset to an address of the file's own address space. Returns nullopt if no
  // segment loads it.
  std::optional<std::uint64_t> Address(std::uint64_t file_offset) const;
  std::optional<FoundSymbol> Find(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t address;
    std::uint64_t name;  // file offset of the name
    std::uint32_t size;
    std::uint32_t rank;  // of several names at one address, the lowest rank is shown
  };
  struct Segment {
    std::uint64_t offset, bytes, address;
  };

  bool Read(void* elf);
  std::string NameAt(std::uint64_t place) const;

  Fd file_;
  std::span<const char> image_;
  std::string build_id_;
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_ELF_SYMBOLS_H_
