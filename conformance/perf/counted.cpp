// SPDX-License-Identifier: Apache-2.0
#include "perf/counted.h"

#include <map>
#include <mutex>

namespace pmuconf {
namespace {

// By type: whether a count was not 0. Threads of a case read events, too.
std::mutex mutex;
std::map<std::uint32_t, bool>& Counts() {
  static std::map<std::uint32_t, bool> counts;
  return counts;
}

}  // namespace

void NoteCount(std::uint32_t type, std::uint64_t count) {
  const std::scoped_lock lock(mutex);
  bool& counted = Counts()[type];
  counted = counted || count != 0;
}

std::optional<bool> HasCounted(std::initializer_list<std::uint32_t> types) {
  const std::scoped_lock lock(mutex);
  std::optional<bool> counted;
  for (const std::uint32_t type : types) {
    const auto found = Counts().find(type);
    if (found != Counts().end()) counted = counted.value_or(false) || found->second;
  }
  return counted;
}

}  // namespace pmuconf
