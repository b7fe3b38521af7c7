// SPDX-License-Identifier: Apache-2.0
#include "system/smaps.h"

#include <sstream>

#include "system/sysfs.h"

namespace pmuconf {

std::optional<std::string> SmapsValue(std::uintptr_t address, std::string_view key) {
  std::istringstream lines(ReadFile("/proc/self/smaps").value_or(""));
  std::ostringstream head;
  head << std::hex << address << "-";
  bool here = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(head.str())) here = true;
    if (here && line.starts_with(key)) return line.substr(key.size());
  }
  return std::nullopt;
}

}  // namespace pmuconf
