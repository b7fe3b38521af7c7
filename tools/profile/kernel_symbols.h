// SPDX-License-Identifier: Apache-2.0
// Symbols of the kernel and its modules, from /proc/kallsyms.
#ifndef PMUCONF_TOOLS_PROFILE_KERNEL_SYMBOLS_H_
#define PMUCONF_TOOLS_PROFILE_KERNEL_SYMBOLS_H_

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/profile/frame.h"

namespace pmuconf::profile {

class KernelSymbols {
 public:
  // Reads kallsyms ("ffffffff81000000 T _text", "… t ext4_read [ext4]") and /proc/modules ("ext4
  // 987136 1 - Live 0xffffffffc0800000"), which has the sizes of modules.
  void Read(std::istream& kallsyms, std::istream& modules);

  // Returns false if kallsyms hides addresses from this user: then all are 0.
  bool Readable() const { return !symbols_.empty(); }
  std::size_t size() const { return symbols_.size(); }

  // Returns nullopt if the address belongs neither to the kernel nor to a module that was loaded at
  // the time of Read().
  std::optional<Frame> Find(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t address;
    std::uint32_t name;    // offset in names_
    std::uint32_t module;  // index in modules_
  };
  struct Module {
    std::string name;  // "[ext4]"
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0: the kernel itself, or a module that is not in /proc/modules
  };

  std::vector<Symbol> symbols_;  // sorted by address
  std::vector<Module> modules_;
  std::string names_;  // NUL-terminated names
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_KERNEL_SYMBOLS_H_
