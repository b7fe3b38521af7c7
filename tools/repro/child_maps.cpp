// SPDX-License-Identifier: Apache-2.0
// Operations on ring buffers and AUX areas.
#include <linux/perf_event.h>
#include <sys/mman.h>

#include "tools/repro/child.h"
#include "tools/repro/outcome.h"

namespace pmuconf {

Outcome ProgramExecutor::Map(const Step& step) {
  Slot& slot = slots_[step.slot];
  if (slot.ring != nullptr) return Missing(EBUSY);
  const bool writable = step.value % 2 == 0;
  const std::size_t size = PageSize() * (1 + (std::size_t{1} << step.which));
  void* const at =
      mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, slot.fd, 0);
  if (at == MAP_FAILED) return OutcomeOf(-1);
  slot.ring = static_cast<std::byte*>(at);
  slot.size = size;
  slot.writable = writable;
  // The ring buffer may already exist, because another event redirects its output to it.
  events_.Mapped(step.slot);
  return OutcomeOf(0);
}

// The control page of the ring buffer must have the offset and size of the area.
Outcome ProgramExecutor::MapAux(const Step& step) {
  Slot& slot = slots_[step.slot];
  if (slot.aux != nullptr) return Missing(EBUSY);
  const std::size_t at = PageSize() * kProgramAuxPage;
  const std::size_t size = PageSize() << step.which;
  if (slot.ring != nullptr && slot.writable) {
    auto* const page = reinterpret_cast<perf_event_mmap_page*>(slot.ring);
    page->aux_offset = at;
    page->aux_size = size;
  }
  const int access = step.value % 2 == 0 ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const area = mmap(nullptr, size, access, MAP_SHARED, slot.fd, static_cast<off_t>(at));
  if (area == MAP_FAILED) return OutcomeOf(-1);
  slot.aux = static_cast<std::byte*>(area);
  slot.aux_size = size;
  return OutcomeOf(0);
}

Outcome ProgramExecutor::UnmapAux(unsigned at) {
  Slot& slot = slots_[at];
  if (slot.aux == nullptr) return Missing(ENOENT);
  const Outcome outcome = OutcomeOf(munmap(slot.aux, slot.aux_size));
  slot.aux = nullptr;
  slot.aux_size = 0;
  return outcome;
}

Outcome ProgramExecutor::Unmap(unsigned at) {
  Slot& slot = slots_[at];
  if (slot.ring == nullptr) return Missing(ENOENT);
  const Outcome outcome = OutcomeOf(munmap(slot.ring, slot.size));
  slot.ring = nullptr;
  events_.Unmapped(at);
  return outcome;
}

Outcome ProgramExecutor::Drain(unsigned at) {
  const Slot& slot = slots_[at];
  if (slot.ring == nullptr) return Missing(ENOENT);
  auto* const page = reinterpret_cast<perf_event_mmap_page*>(slot.ring);
  const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  const std::uint64_t aux_head = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
  volatile std::byte last = {};
  for (std::size_t i = PageSize(); i < slot.size; i += PageSize()) last = slot.ring[i];
  for (std::size_t i = 0; i < slot.aux_size; i += PageSize()) last = slot.aux[i];
  static_cast<void>(last);
  const std::uint64_t tail = page->data_tail;
  const std::size_t size = slot.size - PageSize();
  if (slot.writable && size > 0 && head - tail <= size) {
    for (std::uint64_t next = tail; next != head; ++next) {
      data_.push_back(slot.ring[PageSize() + next % size]);
    }
  }
  if (slot.writable) {
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    __atomic_store_n(&page->aux_tail, aux_head, __ATOMIC_RELEASE);
  }
  return OutcomeOf(static_cast<long>(head + aux_head));
}

}  // namespace pmuconf
