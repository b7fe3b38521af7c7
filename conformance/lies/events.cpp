// SPDX-License-Identifier: Apache-2.0
// Tables without locks, because signal handlers and threads use them.
#include "lies/events.h"

#include <unistd.h>

#include <array>
#include <string>

namespace pmuconf {
namespace {

constexpr std::size_t kFds = 1024;
constexpr std::size_t kMappings = 256;

std::array<perf_event_attr, kFds> attrs;
std::array<bool, kFds> known;
std::array<EventMapping, kMappings> mappings;

}  // namespace

std::string PathOf(int fd) {
  std::array<char, 256> target;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = readlink(link.c_str(), target.data(), target.size());
  return n < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(n));
}

bool IsEvent(int fd) { return fd >= 0 && PathOf(fd).starts_with("anon_inode:[perf_event]"); }

void NoteEvent(int fd, const perf_event_attr& attr) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= kFds) return;
  attrs[index] = attr;
  known[index] = true;
}

const perf_event_attr* AttrOf(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  return fd >= 0 && index < kFds && known[index] ? &attrs[index] : nullptr;
}

void AddAttrOf(int fd, Slots* slots) {
  if (AttrOf(fd) == nullptr) return;
  auto* const bytes = reinterpret_cast<std::byte*>(&attrs[static_cast<std::size_t>(fd)]);
  AddAttr(bytes, sizeof(perf_event_attr), slots);
}

void NoteMapping(void* start, std::size_t bytes, int fd) {
  for (EventMapping& mapping : mappings) {
    if (mapping.bytes != 0) continue;
    mapping = {reinterpret_cast<std::uintptr_t>(start), bytes, fd};
    return;
  }
}

EventMapping* MappingAt(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (EventMapping& mapping : mappings) {
    if (at >= mapping.start && at < mapping.start + mapping.bytes) return &mapping;
  }
  return nullptr;
}

}  // namespace pmuconf
