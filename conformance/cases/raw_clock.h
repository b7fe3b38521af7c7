// SPDX-License-Identifier: Apache-2.0
// CLOCK_MONOTONIC_RAW as the clock of an event's samples (use_clockid), and a read of that clock.
#ifndef PMUCONF_CASES_RAW_CLOCK_H_
#define PMUCONF_CASES_RAW_CLOCK_H_

#include <linux/perf_event.h>
#include <time.h>

#include <cstdint>

namespace pmuconf {

inline void UseRawClock(perf_event_attr& attr) {
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC_RAW;
}

// CLOCK_MONOTONIC_RAW now, in nanoseconds.
inline std::uint64_t RawClockNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_RAW_CLOCK_H_
