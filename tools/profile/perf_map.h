// SPDX-License-Identifier: Apache-2.0
// Names that a program gives to generated code: /tmp/perf-PID.map, the format of perf.
#ifndef PMUCONF_TOOLS_PROFILE_PERF_MAP_H_
#define PMUCONF_TOOLS_PROFILE_PERF_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tools/profile/elf_symbols.h"

namespace pmuconf::profile {

// One file. Its program appends to it while it runs.
class PerfMap {
 public:
  // Maximum number of bytes that are read from a file.
  static constexpr std::uint64_t kMaxBytes = 8U << 20;

  // Parses lines "BEGIN LENGTH NAME" with hexadecimal numbers and skips other lines. An incomplete
  // last line waits for its rest.
  void Add(std::string_view text);
  // Returns the symbol of the last line that contains the address.
  std::optional<FoundSymbol> Find(std::uint64_t address) const;

 private:
  struct Code {
    std::uint64_t size;
    std::string name;
  };
  void AddLine(std::string_view line);

  std::map<std::uint64_t, Code> code_;  // by start address; disjoint
  std::string rest_;
};

class PerfMaps {
 public:
  // `root` is the directory that contains /proc and /tmp.
  explicit PerfMaps(std::string root = "") : root_(std::move(root)) {}

  std::optional<FoundSymbol> Find(std::uint32_t pid, std::uint64_t address);
  void RemoveProcess(std::uint32_t pid) { files_.erase(pid); }  // another program has the pid

 private:
  struct File {
    std::uint64_t bytes_read = 0;  // bytes
    unsigned pause = 0;  // number of unknown addresses until the next attempt to read the file
    unsigned next_pause = 1;
    PerfMap map;
  };
  bool ReadMore(std::uint32_t pid, File& file) const;

  std::string root_;
  std::map<std::uint32_t, File> files_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_PERF_MAP_H_
