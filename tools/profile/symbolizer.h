// SPDX-License-Identifier: Apache-2.0
// Resolves addresses of samples to frames, from facts about the kernel and each process.
#ifndef PMUCONF_TOOLS_PROFILE_SYMBOLIZER_H_
#define PMUCONF_TOOLS_PROFILE_SYMBOLIZER_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/profile/address_space.h"
#include "tools/profile/kernel_symbols.h"
#include "tools/profile/module_table.h"
#include "tools/profile/perf_map.h"
#include "tools/profile/side_band.h"
#include "tools/profile/stack_store.h"

namespace pmuconf::profile {

class Symbolizer {
 public:
  Symbolizer(StackStore& store, bool inlines);

  bool KernelReadable() const { return kernel_.Readable(); }

  // Read the mappings of one process, or of all processes, unless they are known.
  void ReadMappings(std::uint32_t pid);
  void ReadAllMappings();

  // Opens the files of a record while its process is alive. Apply() then gets the records in order
  // of time.
  void Prefetch(const SideRecord& record);
  void Apply(const SideRecord& record);

  const Resolved& Kernel(std::uint64_t address);
  const Resolved& User(std::uint32_t pid, std::uint64_t address);
  FrameId Command(const std::string& comm);

  std::vector<ModuleInfo> Modules() const { return modules_.Used(); }

 private:
  void ReadKernel();
  // Resolves generated code that a perf map names.
  const Resolved* FindGenerated(std::uint32_t pid, std::uint64_t address);
  void RemoveProcess(std::uint32_t pid);

  StackStore& store_;
  KernelSymbols kernel_;
  std::unordered_map<std::uint64_t, Resolved> kernel_resolved_;
  unsigned kernel_rereads_ = 0;
  ModuleTable modules_;
  Processes processes_;
  PerfMaps perf_maps_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint64_t, Resolved>> generated_;
  std::unordered_map<std::string, FrameId> commands_;
  Resolved unmapped_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_SYMBOLIZER_H_
