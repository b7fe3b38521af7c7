// SPDX-License-Identifier: Apache-2.0
// The lines that /proc shows about the descriptor of an event.
#ifndef PMUCONF_CASES_FDINFO_H_
#define PMUCONF_CASES_FDINFO_H_

#include <optional>
#include <sstream>
#include <string>

#include "system/broken.h"
#include "system/sysfs.h"

namespace pmuconf {

// The value of the line "NAME:<tab>VALUE" about a descriptor of this process, or nullopt.
inline std::optional<std::string> FdinfoValue(int fd, const std::string& name) {
  const auto text = ReadFile("/proc/self/fdinfo/" + std::to_string(fd));
  if (!text) throw Broken("cannot read /proc/self/fdinfo/" + std::to_string(fd));
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return std::nullopt;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_FDINFO_H_
