// SPDX-License-Identifier: Apache-2.0
// Reads DWARF with libdw.
#include "tools/profile/inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace pmuconf::profile {
namespace {

// Returns the linkage name, as in the symbol table, or else the plain name.
std::string NameOf(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    const char* const text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
    if (text != nullptr) return text;
  }
  return {};
}

}  // namespace

std::unique_ptr<Inlines> Inlines::Open(Fd file) {
  Dwarf* const dwarf = dwarf_begin(file.get(), DWARF_C_READ);
  if (dwarf == nullptr) return nullptr;
  return std::unique_ptr<Inlines>(new Inlines(std::move(file), dwarf));
}

Inlines::~Inlines() { dwarf_end(static_cast<Dwarf*>(dwarf_)); }

void Inlines::ReadRanges() const {
  Dwarf* const dwarf = static_cast<Dwarf*>(dwarf_);
  ranges_.emplace();
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
      ranges_->push_back({begin, end, dwarf_dieoffset(&die)});
    }
  }
  std::sort(ranges_->begin(), ranges_->end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

bool Inlines::FindUnit(std::uint64_t address, void* found) const {
  Dwarf* const dwarf = static_cast<Dwarf*>(dwarf_);
  Dwarf_Die* const unit = static_cast<Dwarf_Die*>(found);
  if (dwarf_addrdie(dwarf, address, unit) != nullptr) return true;
  if (!ranges_) ReadRanges();
  const auto after =
      std::upper_bound(ranges_->begin(), ranges_->end(), address,
                       [](std::uint64_t at, const Range& range) { return at < range.begin; });
  if (after == ranges_->begin() || address >= std::prev(after)->end) return false;
  return dwarf_offdie(dwarf, std::prev(after)->unit, unit) != nullptr;
}

std::vector<std::string> Inlines::At(std::uint64_t address) const {
  std::vector<std::string> names;
  Dwarf_Die unit;
  if (!FindUnit(address, &unit)) return names;
  Dwarf_Die* innermost = nullptr;
  if (dwarf_getscopes(&unit, address, &innermost) <= 0) return names;
  // dwarf_getscopes() continues outside an inlined function with the scopes of its definition.
  // dwarf_getscopes_die() continues with those of the call site, which the stack needs.
  Dwarf_Die* scopes = nullptr;
  const int n = dwarf_getscopes_die(&innermost[0], &scopes);
  for (int i = 0; i < n; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag == DW_TAG_subprogram) break;
    if (tag == DW_TAG_inlined_subroutine) names.push_back(NameOf(&scopes[i]));
  }
  std::free(scopes);
  std::free(innermost);
  return names;
}

}  // namespace pmuconf::profile
