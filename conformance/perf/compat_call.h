// SPDX-License-Identifier: Apache-2.0
// System calls through the 32-bit entry, made by this 64-bit program.
#ifndef PMUCONF_PERF_COMPAT_CALL_H_
#define PMUCONF_PERF_COMPAT_CALL_H_

#include <cstddef>
#include <cstdint>

#include "perf/event.h"

namespace pmuconf {

// Returns whether this kernel supports the 32-bit system calls of a 64-bit process.
bool HasCompatCalls();

// perf_event_open(2) and ioctl(2) through the 32-bit entry. Pointers must be below 4 GiB.
SysResult CompatOpen(std::uint32_t attr, pid_t pid, int cpu, int group_fd, std::uint32_t flags);
SysResult CompatIoctl(int fd, std::uint32_t request, std::uint32_t arg);

// A page of memory below 4 GiB, so that a 32-bit pointer can address it.
class LowPage {
 public:
  LowPage();
  LowPage(const LowPage&) = delete;
  ~LowPage();

  std::byte* data() const { return page_; }
  std::uint32_t address() const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(page_));
  }

 private:
  std::byte* page_;
};

}  // namespace pmuconf

#endif  // PMUCONF_PERF_COMPAT_CALL_H_
