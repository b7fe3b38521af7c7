// SPDX-License-Identifier: Apache-2.0
// The system calls of a 32-bit program, made by this 64-bit one.
#ifndef PMUCONF_COMPAT_CALL_H_
#define PMUCONF_COMPAT_CALL_H_

#include <cstddef>
#include <cstdint>

#include "pmuconf/event.h"

namespace pmuconf {

// True if this machine and this kernel run 32-bit programs beside 64-bit ones.
bool HasCompatCalls();

// perf_event_open and ioctl through the 32-bit door; pointers lie below 4 GiB.
SysResult CompatOpen(std::uint32_t attr, pid_t pid, int cpu, int group_fd, std::uint32_t flags);
SysResult CompatIoctl(int fd, std::uint32_t request, std::uint32_t arg);

// A page of memory that a 32-bit pointer reaches.
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

#endif  // PMUCONF_COMPAT_CALL_H_
