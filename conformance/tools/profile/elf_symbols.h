// SPDX-License-Identifier: Apache-2.0
// What an ELF file says of addresses in it: symbols (symtab, dynsym), build id, where it is loaded.
#ifndef PMUCONF_TOOLS_PROFILE_ELF_SYMBOLS_H_
#define PMUCONF_TOOLS_PROFILE_ELF_SYMBOLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pmuconf/fd.h"

namespace pmuconf::profile {

struct FoundSymbol {
  std::string name;  // as it is in the file
  std::uint64_t offset = 0;
};

class ElfSymbols {
 public:
  // nullopt: not an ELF file. Of a file, names stay there until they are asked for.
  static std::optional<ElfSymbols> Open(Fd file);
  static std::optional<ElfSymbols> Open(std::span<const char> image);  // in memory, as the vDSO is

  const std::string& build_id() const { return build_id_; }  // hex; empty: none
  bool HasSymbols() const { return !symbols_.empty(); }
  // What a place in the file is at, in the file's own addresses; nullopt: it is not loaded.
  std::optional<std::uint64_t> Address(std::uint64_t file_offset) const;
  std::optional<FoundSymbol> Find(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t address;
    std::uint64_t name;  // place of its name in the file
    std::uint32_t size;
    std::uint32_t rank;  // the lower is shown, of several names of one place
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
