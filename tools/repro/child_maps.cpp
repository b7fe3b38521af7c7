// SPDX-License-Identifier: Apache-2.0
// Operations on ring buffers and AUX areas.
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <utility>

#include "tools/repro/checks.h"
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
  if (!KeepRing(step.slot, {static_cast<std::byte*>(at), size}, writable)) return Missing(EBUSY);
  // The ring buffer may already exist, because another event redirects its output to it.
  if (!racing_) events_.Mapped(step.slot);
  return OutcomeOf(0);
}

bool ProgramExecutor::KeepRing(unsigned at, std::span<std::byte> ring, bool writable) {
  Slot& slot = slots_[at];
  {
    const std::lock_guard<std::mutex> held(lock_);
    if (slot.ring == nullptr) {
      slot.ring = ring.data();
      slot.size = ring.size();
      slot.writable = writable;
      slot.tail_written = false;
      return true;
    }
  }
  munmap(ring.data(), ring.size());
  return false;
}

// The control page of the ring buffer must have the offset and size of the area.
Outcome ProgramExecutor::MapAux(const Step& step) {
  Slot& slot = slots_[step.slot];
  if (slot.aux != nullptr) return Missing(EBUSY);
  const std::size_t at = PageSize() * kProgramAuxPage;
  const std::size_t size = PageSize() << step.which;
  {
    const std::lock_guard<std::mutex> held(lock_);
    if (slot.ring != nullptr && slot.writable) {
      auto* const page = reinterpret_cast<perf_event_mmap_page*>(slot.ring);
      page->aux_offset = at;
      page->aux_size = size;
    }
  }
  const int access = step.value % 2 == 0 ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const area = mmap(nullptr, size, access, MAP_SHARED, slot.fd, static_cast<off_t>(at));
  if (area == MAP_FAILED) return OutcomeOf(-1);
  {
    const std::lock_guard<std::mutex> held(lock_);
    if (slot.aux == nullptr) {
      slot.aux = static_cast<std::byte*>(area);
      slot.aux_size = size;
      return OutcomeOf(0);
    }
  }
  munmap(area, size);
  return Missing(EBUSY);
}

Outcome ProgramExecutor::UnmapAux(unsigned at) {
  Slot& slot = slots_[at];
  std::byte* area = nullptr;
  std::size_t size = 0;
  {
    const std::lock_guard<std::mutex> held(lock_);
    std::swap(area, slot.aux);
    std::swap(size, slot.aux_size);
  }
  return area == nullptr ? Missing(ENOENT) : OutcomeOf(munmap(area, size));
}

std::span<std::byte> ProgramExecutor::TakeRing(unsigned at) {
  const std::lock_guard<std::mutex> held(lock_);
  return {std::exchange(slots_[at].ring, nullptr), slots_[at].size};
}

Outcome ProgramExecutor::Unmap(unsigned at) {
  const std::span<std::byte> ring = TakeRing(at);
  if (ring.data() == nullptr) return Missing(ENOENT);
  const Outcome outcome = OutcomeOf(munmap(ring.data(), ring.size()));
  if (!racing_) events_.Unmapped(at);
  return outcome;
}

Outcome ProgramExecutor::MapAny(const Step& step) {
  const ProgramMapKind& kind = ProgramMaps()[step.which];
  const std::size_t page = PageSize();
  const std::size_t size = kind.pages * page + kind.bytes;
  const bool writable = step.value % 2 == 0;
  void* const at = mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                        kind.shared ? MAP_SHARED : MAP_PRIVATE, slots_[step.slot].fd,
                        static_cast<off_t>(kind.offset * page));
  if (at == MAP_FAILED) return OutcomeOf(-1);
  // Without a control page it is no ring buffer for the other operations.
  if (kind.offset != 0) return OutcomeOf(munmap(at, size));
  if (!KeepRing(step.slot, {static_cast<std::byte*>(at), size}, writable)) return Missing(EBUSY);
  if (!racing_) events_.Mapped(step.slot);
  return OutcomeOf(0);
}

Outcome ProgramExecutor::Remap(const Step& step) {
  bool writable = slots_[step.slot].writable;
  std::span<std::byte> ring = TakeRing(step.slot);
  if (ring.data() == nullptr) return Missing(ENOENT);
  Outcome outcome;
  if (step.which == 0) {
    void* const at = mremap(ring.data(), ring.size(), PageSize(), MREMAP_MAYMOVE);
    outcome = OutcomeOf(at == MAP_FAILED ? -1 : 0);
    if (at != MAP_FAILED) ring = {static_cast<std::byte*>(at), PageSize()};
  } else {
    outcome = OutcomeOf(mprotect(ring.data(), ring.size(), PROT_READ));
    if (outcome.error == 0) writable = false;
  }
  KeepRing(step.slot, ring, writable);
  return outcome;
}

Outcome ProgramExecutor::Tail(const Step& step) {
  Slot& slot = slots_[step.slot];
  const std::lock_guard<std::mutex> held(lock_);
  if (slot.ring == nullptr || !slot.writable) return Missing(ENOENT);
  auto* const page = reinterpret_cast<perf_event_mmap_page*>(slot.ring);
  __atomic_store_n(step.which == 0 ? &page->data_tail : &page->aux_tail, step.value,
                   __ATOMIC_RELEASE);
  // Another slot may have the same ring buffer.
  for (Slot& each : slots_) each.tail_written = true;
  return OutcomeOf(0);
}

Outcome ProgramExecutor::Drain(unsigned at) {
  const std::lock_guard<std::mutex> held(lock_);
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
  // The kernel rounds the end of the mapping to pages, and a part of one may be mapped.
  const std::size_t size = page->data_size;
  std::vector<std::byte>& data = Data();
  if (slot.writable && size > 0 && size + PageSize() == slot.size && head - tail <= size) {
    data.reserve(head - tail);
    for (std::uint64_t next = tail; next != head; ++next) {
      data.push_back(slot.ring[PageSize() + next % size]);
    }
  }
  if (slot.writable) {
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    __atomic_store_n(&page->aux_tail, aux_head, __ATOMIC_RELEASE);
  }
  Outcome outcome = OutcomeOf(static_cast<long>(head + aux_head));
  if (!racing_ && !slot.tail_written) outcome.wrong = WrongRecord(data);
  return outcome;
}

}  // namespace pmuconf
