// SPDX-License-Identifier: Apache-2.0
// Mapped files of processes. They are opened while they are reachable, and read when needed.
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

#include "system/fd.h"
#include "tools/profile/address_space.h"
#include "tools/profile/elf_symbols.h"
#include "tools/profile/inlines.h"
#include "tools/profile/stack_store.h"

namespace pmuconf::profile {

// The meaning of an address: the function and those inlined there, innermost first.
struct Resolved {
  std::vector<FrameId> frames;
  std::uint64_t offset = 0;  // in the function
  bool cacheable = true;     // false: a perf map of the process may still name it
};

struct ModuleInfo {
  std::string path;
  std::string build_id;
};

class ModuleTable {
 public:
  ModuleTable(StackStore& store, bool inlines) : store_(store), inlines_(inlines) {}

  // Returns the module of a mapping. Opens a new one through /proc/PID, which works in other mount
  // namespaces and for deleted files.
  std::uint32_t Find(std::uint32_t pid, const Mapping& mapping);

  bool HasFile(std::uint32_t module);  // false: no file describes the code
  const Resolved& Resolve(std::uint32_t module, std::uint64_t file_offset);
  const std::string& path(std::uint32_t module) const { return modules_[module]->key.path; }
  std::vector<ModuleInfo> Used() const;  // modules that samples were in

 private:
  struct Module {
    FileKey key;
    Fd file;
    bool read = false;
    std::optional<ElfSymbols> symbols;
    std::unique_ptr<Inlines> inlines;
    std::unordered_map<std::uint64_t, Resolved> known;  // by file offset
  };

  void Read(Module& module);

  StackStore& store_;
  bool inlines_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::string>, std::uint32_t>
      ids_;
};

// Demangles names of C++ and old Rust; returns others unchanged.
std::string Demangle(const std::string& name);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_MODULE_TABLE_H_
