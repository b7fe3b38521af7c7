// SPDX-License-Identifier: Apache-2.0
// The protocol of the control page.
#include "perf/user_page.h"

#include <atomic>
#include <string>

#include "arch/arch.h"
#include "perf/answers.h"
#include "system/broken.h"

namespace pmuconf {

const int kCounterFault = processor::kCounterFault;

std::uint64_t ReadCounter(std::uint32_t counter) {
  if (!processor::kReadsCounters) {
    throw Broken("no instruction is known that reads counter " + std::to_string(counter));
  }
  std::uint64_t value = processor::CounterInstruction(counter);
  if (perf_answers().counter != nullptr) perf_answers().counter(counter, &value);
  return value;
}

std::uint64_t ReadCycles() { return processor::ClockInstruction(); }

std::uint64_t CyclesToTime(const volatile perf_event_mmap_page& page, std::uint64_t cycles) {
  const std::uint64_t rest = cycles & ((std::uint64_t{1} << page.time_shift) - 1);
  return (cycles >> page.time_shift) * page.time_mult + (rest * page.time_mult >> page.time_shift);
}

UserPage ReadUserPage(const volatile perf_event_mmap_page& page,
                      const std::function<std::uint64_t(std::uint32_t)>& counter,
                      const std::function<std::uint64_t()>& cycles) {
  UserPage read;
  do {
    read = {};
    read.lock = page.lock;
    std::atomic_thread_fence(std::memory_order_acquire);
    read.index = page.index;
    read.count = static_cast<std::uint64_t>(page.offset);
    if (page.cap_user_rdpmc && read.index != 0) {
      const unsigned above = 64u - page.pmc_width;  // to sign-extend the counter
      const auto value = static_cast<std::int64_t>(counter(read.index - 1) << above);
      read.count += static_cast<std::uint64_t>(value >> above);
    }
    read.time_enabled = page.time_enabled;
    read.time_running = page.time_running;
    read.user_time = page.cap_user_time;
    if (read.user_time) {
      read.cycles = cycles();
      if (page.cap_user_time_short)
        read.cycles = page.time_cycles + ((read.cycles - page.time_cycles) & page.time_mask);
      read.since = page.time_offset + CyclesToTime(page, read.cycles);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (read.lock % 2 != 0 || read.lock != page.lock);
  return read;
}

}  // namespace pmuconf
