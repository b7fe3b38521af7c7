// SPDX-License-Identifier: Apache-2.0
// The protocol of the control page, and the instructions of each architecture.
#include "perf/user_page.h"

#include <signal.h>

#include <atomic>
#include <string>
#include <type_traits>
#include <utility>

#include "perf/answers.h"
#include "system/broken.h"

namespace pmuconf {

#if defined(__x86_64__)
const int kCounterFault = SIGSEGV;
#else
const int kCounterFault = SIGILL;
#endif

#if defined(__aarch64__)
namespace {

constexpr std::uint32_t kCycleCounter = 31;

// Reads PMEVCNTR<N>_EL0. N is part of the instruction, so there is one instruction per counter.
template <std::uint32_t... kNumber>
std::uint64_t ReadPmuCounter(std::uint32_t counter,
                             std::integer_sequence<std::uint32_t, kNumber...>) {
  std::uint64_t value = 0;
  if (counter == kCycleCounter) asm volatile("isb; mrs %0, pmccntr_el0" : "=r"(value));
  const auto read = [&value]<std::uint32_t kN>(std::integral_constant<std::uint32_t, kN>) {
    asm volatile("isb; mrs %0, s3_3_c14_c%c1_%c2" : "=r"(value) : "i"(8 + kN / 8), "i"(kN % 8));
  };
  (void)((counter == kNumber && (read(std::integral_constant<std::uint32_t, kNumber>()), true)) ||
         ...);
  return value;
}

}  // namespace
#endif

namespace {

std::uint64_t CounterInstruction(std::uint32_t counter) {
#if defined(__x86_64__)
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
  return std::uint64_t{high} << 32 | low;
#elif defined(__aarch64__)
  return ReadPmuCounter(counter, std::make_integer_sequence<std::uint32_t, kCycleCounter>());
#else
  throw Broken("no instruction is known that reads counter " + std::to_string(counter));
#endif
}

}  // namespace

std::uint64_t ReadCounter(std::uint32_t counter) {
  std::uint64_t value = CounterInstruction(counter);
  if (perf_answers().counter != nullptr) perf_answers().counter(counter, &value);
  return value;
}

std::uint64_t ReadCycles() {
  std::uint64_t cycles = 0;
#if defined(__x86_64__)
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
  cycles = std::uint64_t{high} << 32 | low;
#elif defined(__aarch64__)
  asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(cycles) : : "memory");
#else
  throw Broken("no instruction is known that reads the clock");
#endif
  return cycles;
}

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
