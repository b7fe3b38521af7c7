// SPDX-License-Identifier: Apache-2.0
// Addresses of the running kernel.
#ifndef PMUCONF_CASES_RECORD_KERNEL_SYMBOL_H_
#define PMUCONF_CASES_RECORD_KERNEL_SYMBOL_H_

#include <cstdint>
#include <fstream>
#include <string>

#include "system/broken.h"

namespace pmuconf {

// A kernel function that is seldom called, so that other tasks do not interfere.
inline constexpr const char* kSeldomCalled = "ksys_sync";

// The start address of the kernel function with that name.
inline std::uint64_t AddressOf(const std::string& function) {
  std::ifstream symbols("/proc/kallsyms");
  std::string line;
  while (std::getline(symbols, line)) {
    if (line.ends_with(" T " + function)) return std::stoull(line, nullptr, 16);
  }
  throw Broken("/proc/kallsyms has no " + function);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_RECORD_KERNEL_SYMBOL_H_
