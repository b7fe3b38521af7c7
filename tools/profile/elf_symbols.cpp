// SPDX-License-Identifier: Apache-2.0
// Reads ELF files with libelf.
#include "tools/profile/elf_symbols.h"

#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace pmuconf::profile {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using OwnedElf = std::unique_ptr<Elf, EndElf>;

std::string BuildIdOf(Elf* elf) {
  std::size_t n = 0;
  if (elf_getphdrnum(elf, &n) != 0) return {};
  for (std::size_t i = 0; i < n; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_NOTE) {
      continue;
    }
    Elf_Data* const data =
        elf_getdata_rawchunk(elf, static_cast<std::int64_t>(header.p_offset), header.p_filesz,
                             header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (data == nullptr) continue;
    GElf_Nhdr note;
    std::size_t name = 0, what = 0, at = 0, next = 0;
    for (; (next = gelf_getnote(data, at, &note, &name, &what)) > 0; at = next) {
      const char* const bytes = static_cast<const char*>(data->d_buf);
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
          std::memcmp(bytes + name, "GNU", 4) != 0) {
        continue;
      }
      std::string hex;
      for (std::size_t byte = 0; byte < note.n_descsz; ++byte) {
        constexpr char kDigits[] = "0123456789abcdef";
        const auto value = static_cast<unsigned char>(bytes[what + byte]);
        hex += {kDigits[value >> 4], kDigits[value & 15]};
      }
      return hex;
    }
  }
  return {};
}

}  // namespace

std::optional<ElfSymbols> ElfSymbols::Open(Fd file) {
  elf_version(EV_CURRENT);
  // Do not map the file: if someone truncated it, an access would kill this program.
  const OwnedElf elf(elf_begin(file.get(), ELF_C_READ, nullptr));
  ElfSymbols symbols;
  if (elf == nullptr || !symbols.Read(elf.get())) return std::nullopt;
  symbols.file_ = std::move(file);
  return symbols;
}

std::optional<ElfSymbols> ElfSymbols::Open(std::span<const char> image) {
  elf_version(EV_CURRENT);
  // libelf does not write to the image.
  const OwnedElf elf(elf_memory(const_cast<char*>(image.data()), image.size()));
  ElfSymbols symbols;
  if (elf == nullptr || !symbols.Read(elf.get())) return std::nullopt;
  symbols.image_ = image;
  return symbols;
}

bool ElfSymbols::Read(void* handle) {
  Elf* const elf = static_cast<Elf*>(handle);
  std::size_t n = 0;
  if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &n) != 0) return false;
  for (std::size_t i = 0; i < n; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
    if (header.p_type == PT_LOAD) {
      segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
    }
  }
  build_id_ = BuildIdOf(elf);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header, strings;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    Elf_Scn* const names = elf_getscn(elf, header.sh_link);
    if (data == nullptr || names == nullptr || gelf_getshdr(names, &strings) == nullptr) continue;
    const std::uint64_t count = header.sh_size / header.sh_entsize;
    for (std::uint64_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      const int type = GELF_ST_TYPE(symbol.st_info);
      const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
      if (!code || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE ||
          symbol.st_value == 0 || symbol.st_name == 0) {
        continue;
      }
      // Prefers functions with a size to labels, and global names to weak and local ones.
      const int bind = GELF_ST_BIND(symbol.st_info);
      const std::uint32_t rank = (symbol.st_size == 0 ? 4U : 0U) + (type == STT_NOTYPE ? 8U : 0U) +
                                 (bind == STB_GLOBAL ? 0U
                                  : bind == STB_WEAK ? 1U
                                                     : 2U);
      symbols_.push_back(
          {symbol.st_value, strings.sh_offset + symbol.st_name,
           static_cast<std::uint32_t>(std::min<std::uint64_t>(symbol.st_size, ~std::uint32_t{0})),
           rank});
    }
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return std::tie(a.address, a.rank, a.name) < std::tie(b.address, b.rank, b.name);
  });
  const auto same =
      std::unique(symbols_.begin(), symbols_.end(),
                  [](const Symbol& a, const Symbol& b) { return a.address == b.address; });
  symbols_.erase(same, symbols_.end());
  symbols_.shrink_to_fit();
  return true;
}

std::optional<std::uint64_t> ElfSymbols::Address(std::uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    if (file_offset >= segment.offset && file_offset - segment.offset < segment.bytes) {
      return file_offset - segment.offset + segment.address;
    }
  }
  return std::nullopt;
}

std::optional<FoundSymbol> ElfSymbols::Find(std::uint64_t address) const {
  auto symbol =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t at, const Symbol& one) { return at < one.address; });
  // A label inside a function does not end the function, so look further back.
  constexpr int kLabels = 16;
  for (int i = 0; i < kLabels && symbol != symbols_.begin(); ++i) {
    --symbol;
    if (address - symbol->address < symbol->size) {
      return FoundSymbol{NameAt(symbol->name), address - symbol->address};
    }
  }
  // Assembly functions often have no size. Such a function extends to the next symbol.
  symbol = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                            [](std::uint64_t at, const Symbol& one) { return at < one.address; });
  if (symbol == symbols_.begin() || std::prev(symbol)->size != 0) return std::nullopt;
  --symbol;
  return FoundSymbol{NameAt(symbol->name), address - symbol->address};
}

std::string ElfSymbols::NameAt(std::uint64_t place) const {
  if (!image_.empty()) {
    const auto name = image_.subspan(std::min<std::uint64_t>(place, image_.size()));
    return std::string(name.begin(), std::find(name.begin(), name.end(), '\0'));
  }
  std::string name;
  std::array<char, 256> part;
  constexpr std::size_t kLongest = 64 * 1024;
  while (name.size() < kLongest) {
    const ssize_t n =
        pread(file_.get(), part.data(), part.size(), static_cast<off_t>(place + name.size()));
    if (n <= 0) break;
    const char* const end = std::find(part.data(), part.data() + n, '\0');
    name.append(part.data(), static_cast<std::size_t>(end - part.data()));
    if (end != part.data() + n) break;
  }
  return name;
}

}  // namespace pmuconf::profile
