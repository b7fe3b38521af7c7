// SPDX-License-Identifier: Apache-2.0
#include "perf/cpu_wide.h"

#include <map>

#include "system/context.h"

namespace pmuconf {
namespace {

std::map<int, int>& CpusOfEvents() {
  static std::map<int, int> the_cpus;
  return the_cpus;
}

}  // namespace

void NoteOpened(int fd, int cpu) {
  if (cpu < 0) {
    CpusOfEvents().erase(fd);
  } else {
    CpusOfEvents()[fd] = cpu;
  }
}

void NoteUsed(int fd) {
  const auto found = CpusOfEvents().find(fd);
  if (found != CpusOfEvents().end()) context().cpu_wide.insert(found->second);
}

}  // namespace pmuconf
