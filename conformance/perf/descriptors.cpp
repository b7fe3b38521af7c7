// SPDX-License-Identifier: Apache-2.0
#include "perf/descriptors.h"

#include <unistd.h>

#include <string_view>

#include "system/sysfs.h"

namespace pmuconf {

std::size_t EventDescriptors(const std::string& folder) {
  std::size_t events = 0;
  for (const std::string& name : ListFolder(folder)) {
    char link[64];
    const ssize_t n = readlink((folder + "/" + name).c_str(), link, sizeof(link));
    if (n > 0 && std::string_view(link, static_cast<std::size_t>(n)) == "anon_inode:[perf_event]") {
      ++events;
    }
  }
  return events;
}

}  // namespace pmuconf
