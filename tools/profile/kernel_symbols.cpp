// SPDX-License-Identifier: Apache-2.0
// Reads kallsyms into a table that is sorted by address.
#include "tools/profile/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string_view>

namespace pmuconf::profile {
namespace {

std::uint64_t Hex(std::string_view text) {
  std::uint64_t value = 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

// Maximum size of a BPF program or trampoline, whose symbol has no end: about a page.
constexpr std::uint64_t kLoosePage = 4096;

}  // namespace

void KernelSymbols::Read(std::istream& kallsyms, std::istream& modules) {
  symbols_.clear();
  modules_.assign(1, {.name = "[kernel]"});
  names_.clear();
  std::map<std::string, std::uint32_t, std::less<>> known;
  std::string line;
  while (std::getline(modules, line)) {
    std::istringstream fields(line);
    std::string name, size, users, needs, state, address;
    if (!(fields >> name >> size >> users >> needs >> state >> address)) continue;
    const std::uint64_t begin = Hex(address);
    known["[" + name + "]"] = static_cast<std::uint32_t>(modules_.size());
    modules_.push_back({"[" + name + "]", begin, begin + std::strtoull(size.c_str(), nullptr, 10)});
  }
  while (std::getline(kallsyms, line)) {
    const std::string_view text = line;
    const std::size_t type = text.find(' ');
    if (type == std::string_view::npos || text.size() < type + 4) continue;
    const std::uint64_t address = Hex(text.substr(0, type));
    // Only functions. Data symbols are never on a stack, but would match addresses between
    // functions.
    const char kind = text[type + 1];
    if (address == 0 || (kind != 't' && kind != 'T' && kind != 'w' && kind != 'W')) continue;
    const std::string_view rest = text.substr(type + 3);
    const std::size_t tab = rest.find('\t');
    std::uint32_t module = 0;
    if (tab != std::string_view::npos) {
      const std::string_view name = rest.substr(tab + 1);
      const auto [entry, fresh] = known.emplace(name, static_cast<std::uint32_t>(modules_.size()));
      if (fresh) modules_.push_back({.name = std::string(name)});
      module = entry->second;
    }
    symbols_.push_back({address, static_cast<std::uint32_t>(names_.size()), module});
    names_.append(rest.substr(0, tab)).push_back('\0');
  }
  // If several names have the same address, the first in kallsyms wins.
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  names_.shrink_to_fit();
  symbols_.shrink_to_fit();
}

std::optional<Frame> KernelSymbols::Find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  if (after == symbols_.begin()) return std::nullopt;
  auto symbol = std::prev(after);
  while (symbol != symbols_.begin() && std::prev(symbol)->address == symbol->address) --symbol;
  const Module& module = modules_[symbol->module];
  const std::uint64_t offset = address - symbol->address;
  if (module.end != 0 && (address < module.begin || address >= module.end)) return std::nullopt;
  if (symbol->module != 0 && module.end == 0 && offset >= kLoosePage) return std::nullopt;
  if (symbol->module == 0 && after == symbols_.end() && offset >= kLoosePage) return std::nullopt;
  // Addresses between the kernel and the first module belong to neither.
  if (symbol->module == 0 && after != symbols_.end() && after->module != 0 &&
      offset >= kLoosePage) {
    return std::nullopt;
  }
  return Frame{.kind = FrameKind::kKernel,
               .name = names_.c_str() + symbol->name,
               .module = module.name,
               .offset = offset};
}

}  // namespace pmuconf::profile
