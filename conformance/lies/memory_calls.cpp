// SPDX-License-Identifier: Apache-2.0
// mmap(2), munmap(2), mremap(2) and mprotect(2) of the buffers of events.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>

#include "lies/call_result.h"
#include "lies/events.h"
#include "lies/real_calls.h"

namespace pmuconf {
namespace {

std::size_t PageBytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

CallResult ResultOfMapping(void* returned) {
  return returned == MAP_FAILED ? CallResult{-1, errno}
                                : CallResult{reinterpret_cast<long>(returned), 0};
}

void* Memory(const CallResult& outcome) {
  if (outcome.error != 0) errno = outcome.error;
  return outcome.error != 0 ? MAP_FAILED : reinterpret_cast<void*>(outcome.result);
}

CallResult MmapWithLie(Liar* liar, void* address, std::size_t size, int prot, int flags, int fd,
                       off_t offset) {
  const EventMapping* const over = (flags & MAP_FIXED) != 0 ? MappingAt(address) : nullptr;
  std::uint64_t pages = size / PageBytes();
  const std::uint64_t pages_before = pages;
  std::uint64_t offset_pages = static_cast<std::uint64_t>(offset) / PageBytes();
  const std::uint64_t offset_before = offset_pages;
  Slots slots;
  slots.Add("pages", &pages);
  slots.Add("prot", &prot);
  slots.Add("flags", &flags);
  slots.Add("offset", &offset_pages);
  slots.AddFact("over", over != nullptr ? 1 : 0);
  if (fd >= 0) AddAttrOf(fd, &slots);
  const auto ask = [&] {
    const std::size_t asked = pages == pages_before ? size : pages * PageBytes();
    const off_t from =
        offset_pages == offset_before ? offset : static_cast<off_t>(offset_pages * PageBytes());
    return ResultOfMapping(__real_mmap(address, asked, prot, flags, fd, from));
  };
  const auto applied = [&](CallResult* outcome) {
    const bool swallow = liar->effect().swallow;
    const auto error = liar->effect().error ? liar->effect().error : std::optional<int>(0);
    if (!swallow && !liar->effect().error) return;
    if (*error != 0 && outcome->error == 0)
      __real_munmap(reinterpret_cast<void*>(outcome->result), size);
    if (*error == 0 && (outcome->error != 0 || swallow)) {
      const std::size_t rounded = (size + PageBytes() - 1) / PageBytes() * PageBytes();
      outcome->result = reinterpret_cast<long>(
          __real_mmap(nullptr, rounded != 0 ? rounded : PageBytes(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    }
    outcome->error = *error;
  };
  return CallWithLie(
      liar, &slots, ask, [](const CallResult&) {}, applied);
}

// The fields of a change of an existing mapping. `kind`: 0 munmap, 1 mremap, 2 mprotect.
template <typename Ask>
CallResult ChangeWithLie(Liar* liar, const EventMapping& mapping, const void* address,
                         std::size_t size, std::size_t new_size, int flags, std::uint64_t kind,
                         const Ask& ask) {
  Slots slots;
  slots.AddFact("kind", kind);
  slots.AddFact("from_start", reinterpret_cast<std::uintptr_t>(address) == mapping.start ? 1 : 0);
  slots.AddFact("bytes", size);
  slots.AddFact("whole", size == mapping.bytes ? 1 : 0);
  slots.AddFact("new_bytes", new_size);
  slots.AddFact("flags", static_cast<std::uint64_t>(flags));
  AddAttrOf(mapping.fd, &slots);
  return CallWithLie(
      liar, &slots, ask, [](const CallResult&) {},
      [&](CallResult* outcome) {
        if (!liar->effect().error) return;
        if (*liar->effect().error == 0 && outcome->error != 0)
          outcome->result = kind == 1 ? reinterpret_cast<long>(address) : 0;
        outcome->error = *liar->effect().error;
      });
}

}  // namespace
}  // namespace pmuconf

using pmuconf::CurrentLiar;
using pmuconf::LiarAbout;
using pmuconf::LieCall;

extern "C" {

void* __wrap_mmap(void* address, size_t size, int prot, int flags, int fd, off_t offset) {
  if (CurrentLiar() == nullptr) return __real_mmap(address, size, prot, flags, fd, offset);
  const bool of_event = fd >= 0 && pmuconf::IsEvent(fd);
  const bool over = (flags & MAP_FIXED) != 0 && pmuconf::MappingAt(address) != nullptr;
  pmuconf::Liar* const liar = of_event || over ? LiarAbout(LieCall::kMmap) : nullptr;
  void* const mapped =
      liar == nullptr
          ? __real_mmap(address, size, prot, flags, fd, offset)
          : pmuconf::Memory(pmuconf::MmapWithLie(liar, address, size, prot, flags, fd, offset));
  if (of_event && mapped != MAP_FAILED) pmuconf::NoteMapping(mapped, size, fd);
  return mapped;
}

int __wrap_munmap(void* address, size_t size) {
  pmuconf::EventMapping* const mapping =
      CurrentLiar() == nullptr ? nullptr : pmuconf::MappingAt(address);
  if (mapping == nullptr) return __real_munmap(address, size);
  const auto ask = [&] { return pmuconf::ResultOfCall(__real_munmap(address, size)); };
  pmuconf::Liar* const liar = LiarAbout(LieCall::kUnmap);
  const pmuconf::CallResult outcome =
      liar == nullptr ? ask() : pmuconf::ChangeWithLie(liar, *mapping, address, size, 0, 0, 0, ask);
  if (outcome.error == 0 && size >= mapping->bytes) *mapping = {};
  return static_cast<int>(outcome.Return());
}

void* __wrap_mremap(void* address, size_t old_size, size_t new_size, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void* const destination = va_arg(list, void*);
  va_end(list);
  pmuconf::EventMapping* const mapping =
      CurrentLiar() == nullptr ? nullptr : pmuconf::MappingAt(address);
  const auto ask = [&] {
    return pmuconf::ResultOfMapping(__real_mremap(address, old_size, new_size, flags, destination));
  };
  pmuconf::Liar* const liar = mapping == nullptr ? nullptr : LiarAbout(LieCall::kUnmap);
  if (liar == nullptr) return pmuconf::Memory(ask());
  return pmuconf::Memory(
      pmuconf::ChangeWithLie(liar, *mapping, address, old_size, new_size, flags, 1, ask));
}

int __wrap_mprotect(void* address, size_t size, int prot) {
  pmuconf::EventMapping* const mapping =
      CurrentLiar() == nullptr ? nullptr : pmuconf::MappingAt(address);
  pmuconf::Liar* const liar = mapping == nullptr ? nullptr : LiarAbout(LieCall::kUnmap);
  const auto ask = [&] { return pmuconf::ResultOfCall(__real_mprotect(address, size, prot)); };
  if (liar == nullptr) return static_cast<int>(ask().Return());
  return static_cast<int>(
      pmuconf::ChangeWithLie(liar, *mapping, address, size, size, prot, 2, ask).Return());
}

}  // extern "C"
