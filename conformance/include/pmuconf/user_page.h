// SPDX-License-Identifier: Apache-2.0
// Reading an event without a system call: the control page, and the instructions beside it.
#ifndef PMUCONF_USER_PAGE_H_
#define PMUCONF_USER_PAGE_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>

namespace pmuconf {

// The instructions of this architecture (lib/user_page.cpp). Where it has none that is known here:
// BROKEN.
std::uint64_t ReadCounter(std::uint32_t counter);  // raises a signal where that is not permitted
extern const int kCounterFault;                    // that signal
std::uint64_t ReadCycles();  // the clock that cap_user_time and cap_user_time_zero are about

// What the page says between two updates of the kernel.
struct UserPage {
  std::uint32_t lock = 0;          // even
  std::uint32_t index = 0;         // 0: `count` is only as new as the last update
  std::uint64_t count = 0;         // offset, and the counter's value where there is an index
  std::uint64_t time_enabled = 0;  // ns, at the last update
  std::uint64_t time_running = 0;  // ns, at the last update
  std::uint64_t cycles = 0;        // now
  bool user_time = false;          // cap_user_time
  std::uint64_t since = 0;         // ns from the last update to `cycles`, with cap_user_time
};

// Reads the page as the manual says: again until no update came in between. `counter` and `cycles`
// are the instructions, or what a test has in their place.
UserPage ReadUserPage(const volatile perf_event_mmap_page& page,
                      const std::function<std::uint64_t(std::uint32_t)>& counter = ReadCounter,
                      const std::function<std::uint64_t()>& cycles = ReadCycles);

// `cycles` as nanoseconds by the page's multiplier and shift.
std::uint64_t CyclesToTime(const volatile perf_event_mmap_page& page, std::uint64_t cycles);

}  // namespace pmuconf

#endif  // PMUCONF_USER_PAGE_H_
