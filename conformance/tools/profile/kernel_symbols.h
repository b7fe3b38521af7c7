// SPDX-License-Identifier: Apache-2.0
// The kernel's symbols and its modules', from /proc/kallsyms.
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
  // Lines of kallsyms ("ffffffff81000000 T _text", "… t ext4_read [ext4]"), and of /proc/modules
  // ("ext4 987136 1 - Live 0xffffffffc0800000"), which tell how far a module reaches.
  void Read(std::istream& kallsyms, std::istream& modules);

  // False where all addresses are 0: they are hidden from this user.
  bool Readable() const { return !symbols_.empty(); }
  std::size_t size() const { return symbols_.size(); }

  // nullopt: neither the kernel nor a module that was there at Read() has the address.
  std::optional<Frame> Find(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t address;
    std::uint32_t name;    // where it begins in names_
    std::uint32_t module;  // index of modules_
  };
  struct Module {
    std::string name;  // "[ext4]"
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0: the kernel itself, or what modules_ does not list
  };

  std::vector<Symbol> symbols_;  // by address
  std::vector<Module> modules_;
  std::string names_;  // each ends in a NUL
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_KERNEL_SYMBOLS_H_
