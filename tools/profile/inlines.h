// SPDX-License-Identifier: Apache-2.0
// Finds the functions that are inlined at an address, from the DWARF of a file.
#ifndef PMUCONF_TOOLS_PROFILE_INLINES_H_
#define PMUCONF_TOOLS_PROFILE_INLINES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "system/fd.h"

namespace pmuconf::profile {

class Inlines {
 public:
  static std::unique_ptr<Inlines> Open(Fd file);  // null if the file has no DWARF
  Inlines(const Inlines&) = delete;
  ~Inlines();

  // Returns linkage names, innermost first, without the function that contains them.
  std::vector<std::string> At(std::uint64_t address) const;

 private:
  Inlines(Fd file, void* dwarf) : file_(std::move(file)), dwarf_(dwarf) {}

  struct Range {
    std::uint64_t begin, end;
    std::uint64_t unit;  // offset of its DIE
  };
  void ReadRanges() const;
  bool FindUnit(std::uint64_t address, void* unit) const;

  Fd file_;
  void* dwarf_;
  // Ranges of all units, read on demand. Needed for files without .debug_aranges, as clang writes
  // them.
  mutable std::optional<std::vector<Range>> ranges_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_INLINES_H_
