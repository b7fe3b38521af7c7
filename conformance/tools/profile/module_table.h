// SPDX-License-Identifier: Apache-2.0
// The files that are mapped in processes: opened while they can be reached, read when they are
// needed.
#ifndef PMUCONF_TOOLS_PROFILE_MODULE_TABLE_H_
#define PMUCONF_TOOLS_PROFILE_MODULE_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "pmuconf/fd.h"
#include "tools/profile/address_space.h"
#include "tools/profile/elf_symbols.h"
#include "tools/profile/inlines.h"
#include "tools/profile/stack_store.h"

namespace pmuconf::profile {

// What an address is: the function, and those that were inlined there, innermost first.
struct Resolved {
  std::vector<FrameId> frames;
  std::uint64_t offset = 0;  // in the function
  bool lasting = true;       // else its process may name it yet
};

struct ModuleInfo {
  std::string path;
  std::string build_id;
};

class ModuleTable {
 public:
  ModuleTable(StackStore& store, bool inlines) : store_(store), inlines_(inlines) {}

  // The module of a mapping; a new one is opened through /proc/PID, whose mount namespace, or a
  // file that was deleted since, other paths do not show.
  std::uint32_t Find(std::uint32_t pid, const Mapping& mapping);

  bool HasFile(std::uint32_t module);  // else no file says what its code is
  const Resolved& Resolve(std::uint32_t module, std::uint64_t file_offset);
  const std::string& path(std::uint32_t module) const { return modules_[module]->key.path; }
  std::vector<ModuleInfo> Used() const;  // those that samples were in

 private:
  struct Module {
    FileKey key;
    Fd file;
    bool read = false;
    std::optional<ElfSymbols> symbols;
    std::unique_ptr<Inlines> inlines;
    std::unordered_map<std::uint64_t, Resolved> known;  // by place in the file
  };

  void Read(Module& module);

  StackStore& store_;
  bool inlines_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::string>, std::uint32_t>
      ids_;
};

// C++ and old Rust names as their authors wrote them; others as they are.
std::string Demangle(const std::string& name);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_MODULE_TABLE_H_
