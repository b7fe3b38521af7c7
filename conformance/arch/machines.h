// SPDX-License-Identifier: Apache-2.0
// The machines that target files and waivers may name, as uname -m prints them.
#ifndef PMUCONF_ARCH_MACHINES_H_
#define PMUCONF_ARCH_MACHINES_H_

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace pmuconf::processor {

// Reports do not name the first one.
inline constexpr std::array<std::string_view, 4> kMachines = {"x86_64", "aarch64", "riscv64",
                                                              "ppc64le"};

inline bool IsMachine(std::string_view name) {
  return std::ranges::find(kMachines, name) != kMachines.end();
}

// Returns "x86_64, aarch64, riscv64, ppc64le".
inline std::string ListOfMachines() {
  std::string list;
  for (const std::string_view name : kMachines) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

}  // namespace pmuconf::processor

#endif  // PMUCONF_ARCH_MACHINES_H_
