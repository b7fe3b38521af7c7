// SPDX-License-Identifier: Apache-2.0
// Addresses in the running kernel.
#ifndef PMUCONF_CASES_RECORD_KERNEL_SYMBOL_H_
#define PMUCONF_CASES_RECORD_KERNEL_SYMBOL_H_

#include <cstdint>
#include <fstream>
#include <string>

#include "pmuconf/broken.h"

namespace pmuconf {

// A function of the kernel's that is seldom called: nobody is in the way.
inline constexpr const char* kSeldomCalled = "ksys_sync";

// Where the kernel's function of that name begins.
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
