// SPDX-License-Identifier: Apache-2.0
#include "tools/specify/perf_clock.h"

#include <unistd.h>

#include <ctime>
#include <utility>

#include "perf/user_page.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

PerfClock::PerfClock()
    : event_(Open(Software(PERF_COUNT_SW_DUMMY), {.pid = getppid()})), ring_(event_, 0) {
  // A short clock would have to be extended.
  exact_ = ring_.page().cap_user_time_zero && !ring_.page().cap_user_time_short;
  Refresh();
}

std::uint64_t PerfClock::Now() const {
  if (exact_) {
    const std::uint64_t cycles = ReadCycles();
    const std::uint64_t rest = cycles & ((std::uint64_t{1} << conversion_.shift) - 1);
    return conversion_.zero + (cycles >> conversion_.shift) * conversion_.multiplier +
           (rest * conversion_.multiplier >> conversion_.shift);
  }
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

bool PerfClock::Refresh() {
  event_.Reset();  // this updates the page
  const volatile perf_event_mmap_page& page = ring_.page();
  const Conversion now = {page.time_zero, page.time_mult, page.time_shift};
  return exact_ && now != std::exchange(conversion_, now);
}

}  // namespace pmuconf
