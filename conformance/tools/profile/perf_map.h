// SPDX-License-Identifier: Apache-2.0
// Names that a program gives to code which it makes itself: /tmp/perf-PID.map, as perf has it.
#ifndef PMUCONF_TOOLS_PROFILE_PERF_MAP_H_
#define PMUCONF_TOOLS_PROFILE_PERF_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tools/profile/elf_symbols.h"

namespace pmuconf::profile {

// One file, which its program makes longer as it goes.
class PerfMap {
 public:
  // What a program may write there: more of it is not read.
  static constexpr std::uint64_t kMostBytes = 8U << 20;

  // Lines "BEGIN LENGTH NAME", numbers in hex; others are passed over. What does not end in a new
  // line waits for the rest.
  void Add(std::string_view text);
  // The last line that has the address.
  std::optional<FoundSymbol> Find(std::uint64_t address) const;

 private:
  struct Code {
    std::uint64_t size;
    std::string name;
  };
  void AddLine(std::string_view line);

  std::map<std::uint64_t, Code> code_;  // by begin, apart from each other
  std::string rest_;
};

class PerfMaps {
 public:
  // `root`: where /proc and /tmp are.
  explicit PerfMaps(std::string root = "") : root_(std::move(root)) {}

  std::optional<FoundSymbol> Find(std::uint32_t pid, std::uint64_t address);
  void Forget(std::uint32_t pid) { files_.erase(pid); }  // another program has its number

 private:
  struct File {
    std::uint64_t taken = 0;  // bytes
    unsigned pause = 0;       // addresses that nobody named, for which it is not looked at
    unsigned next_pause = 1;
    PerfMap map;
  };
  bool ReadMore(std::uint32_t pid, File& file) const;

  std::string root_;
  std::map<std::uint32_t, File> files_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_PERF_MAP_H_
