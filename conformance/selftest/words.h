// SPDX-License-Identifier: Apache-2.0
// Builds bytes for parser tests.
#ifndef PMUCONF_SELFTEST_WORDS_H_
#define PMUCONF_SELFTEST_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace pmuconf {

inline std::vector<std::byte> Bytes(std::initializer_list<std::uint64_t> words) {
  std::vector<std::byte> bytes(words.size() * sizeof(std::uint64_t));
  std::size_t at = 0;
  for (const std::uint64_t word : words) {
    std::memcpy(bytes.data() + at, &word, sizeof(word));
    at += sizeof(word);
  }
  return bytes;
}

// Returns two 32-bit fields as one 64-bit word; `first` comes first in memory.
inline std::uint64_t Pair(std::uint32_t first, std::uint32_t second) {
  return static_cast<std::uint64_t>(second) << 32 | first;
}

// Returns the header of a record of `size` bytes in total.
inline std::uint64_t Header(std::uint32_t type, std::uint16_t misc, std::uint16_t size) {
  return static_cast<std::uint64_t>(size) << 48 | static_cast<std::uint64_t>(misc) << 32 | type;
}

}  // namespace pmuconf

#endif  // PMUCONF_SELFTEST_WORDS_H_
