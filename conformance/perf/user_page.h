// SPDX-License-Identifier: Apache-2.0
// Reads an event without a system call: through the control page and a counter instruction.
#ifndef PMUCONF_PERF_USER_PAGE_H_
#define PMUCONF_PERF_USER_PAGE_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>

namespace pmuconf {

// These use instructions of this architecture (user_page.cpp). They throw Broken if the suite
// knows none for it.
std::uint64_t ReadCounter(std::uint32_t counter);  // kCounterFault where it is not permitted
extern const int kCounterFault;                    // a signal number
std::uint64_t ReadCycles();  // the clock of cap_user_time and cap_user_time_zero

// The content of the page between two updates by the kernel.
struct UserPage {
  std::uint32_t lock = 0;          // an even number
  std::uint32_t index = 0;         // 0: `count` dates from the last update
  std::uint64_t count = 0;         // offset, plus the value of the counter if `index` is not 0
  std::uint64_t time_enabled = 0;  // ns, at the last update
  std::uint64_t time_running = 0;  // ns, at the last update
  std::uint64_t cycles = 0;        // the clock at the time of the read
  bool user_time = false;          // cap_user_time
  std::uint64_t since = 0;         // ns from the last update to `cycles`; needs cap_user_time
};

// Reads the page as perf_event_open(2) documents it: it retries until no update interferes. Tests
// replace `counter` and `cycles`.
UserPage ReadUserPage(const volatile perf_event_mmap_page& page,
                      const std::function<std::uint64_t(std::uint32_t)>& counter = ReadCounter,
                      const std::function<std::uint64_t()>& cycles = ReadCycles);

// Converts `cycles` to nanoseconds with the page's multiplier and shift.
std::uint64_t CyclesToTime(const volatile perf_event_mmap_page& page, std::uint64_t cycles);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_USER_PAGE_H_
