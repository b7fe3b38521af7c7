// SPDX-License-Identifier: Apache-2.0
// Which functions were inlined at an address, by a file's DWARF.
#ifndef PMUCONF_TOOLS_PROFILE_INLINES_H_
#define PMUCONF_TOOLS_PROFILE_INLINES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pmuconf/fd.h"

namespace pmuconf::profile {

class Inlines {
 public:
  static std::unique_ptr<Inlines> Open(Fd file);  // null: it has no DWARF
  Inlines(const Inlines&) = delete;
  ~Inlines();

  // Linkage names, innermost first; without the function that they are in.
  std::vector<std::string> At(std::uint64_t address) const;

 private:
  Inlines(Fd file, void* dwarf) : file_(std::move(file)), dwarf_(dwarf) {}

  Fd file_;
  void* dwarf_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_INLINES_H_
