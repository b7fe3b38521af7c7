// SPDX-License-Identifier: Apache-2.0
// The model of a first-level cache: 32 KiB, 8 ways, lines of 64 bytes, least recently used.
#ifndef PMUCONF_VM_TCG_CACHE_H_
#define PMUCONF_VM_TCG_CACHE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pmuconf::work {

class Cache {
 public:
  static constexpr unsigned kLineShift = 6;
  static constexpr std::size_t kSets = 64;
  static constexpr std::size_t kWays = 8;

  // Accesses the line of an address. Returns whether it was absent, and then fetches it.
  bool Misses(std::uint64_t address) {
    const std::uint64_t line = address >> kLineShift;
    auto& ways = sets_[line % kSets];
    const auto at = std::find(ways.begin(), ways.end(), line + 1);
    const bool missing = at == ways.end();
    // The most recently used line is the first one.
    std::rotate(ways.begin(), missing ? ways.end() - 1 : at, missing ? ways.end() : at + 1);
    ways.front() = line + 1;
    return missing;
  }

 private:
  std::array<std::array<std::uint64_t, kWays>, kSets> sets_ = {};  // line + 1; 0 if empty
};

}  // namespace pmuconf::work

#endif  // PMUCONF_VM_TCG_CACHE_H_
