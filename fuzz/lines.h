// SPDX-License-Identifier: Apache-2.0
// A mutator of texts with meaningful lines: it removes, duplicates, swaps and moves lines.
// libFuzzer mutates the bytes of a line.
#ifndef PMUCONF_FUZZ_LINES_H_
#define PMUCONF_FUZZ_LINES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace pmuconf::fuzz {

inline std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.emplace_back(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return lines;
}

inline void ChangeOneLine(std::vector<std::string>& lines, std::minstd_rand& random) {
  const auto any = [&] { return lines.begin() + static_cast<int>(random() % lines.size()); };
  switch (random() % 4) {
    case 0:
      lines.erase(any());
      break;
    case 1:
      std::iter_swap(any(), any());
      break;
    case 2: {
      const std::string line = *any();
      lines.insert(any(), line);
      break;
    }
    default: {
      std::string& line = *any();
      const std::size_t before = line.size();
      line.resize(before + 64);
      line.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(line.data()), before, line.size()));
    }
  }
}

// One in four inputs is mutated as bytes instead of lines.
inline std::size_t MutateLines(uint8_t* data, std::size_t size, std::size_t max_size,
                               unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<std::string> lines = Lines({reinterpret_cast<const char*>(data), size});
  if (random() % 4 == 0 || lines.empty()) return LLVMFuzzerMutate(data, size, max_size);
  ChangeOneLine(lines, random);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (text.empty() || text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

}  // namespace pmuconf::fuzz

#endif  // PMUCONF_FUZZ_LINES_H_
