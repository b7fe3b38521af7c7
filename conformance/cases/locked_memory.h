// SPDX-License-Identifier: Apache-2.0
// The locked memory of a user: its limits, and the pages that a process is charged for.
#ifndef PMUCONF_CASES_LOCKED_MEMORY_H_
#define PMUCONF_CASES_LOCKED_MEMORY_H_

#include <string>

#include "cases/subject.h"
#include "cases/unprivileged.h"
#include "perf/ring.h"
#include "system/sysctl.h"

namespace pmuconf {

inline constexpr const char* kFree = "kernel/perf_event_mlock_kb";

// The value of perf_event_mlock_kb that gives a user one free page for each CPU, and the number of
// these pages.
inline std::string OnePage() { return std::to_string(PageSize() / 1'024); }
inline std::size_t FreePages() { return OnlineCpus().size(); }

// Makes this process a process of another user, whom no earlier case was charged for. Its effective
// user stays root.
class OtherUser {
 public:
  OtherUser() {
    constexpr uid_t kUnused = 3'000'000'000;
    if (setresuid(kUnused + static_cast<uid_t>(getpid()), -1, -1) != 0) throw Broken("setresuid");
  }
  OtherUser(const OtherUser&) = delete;
  ~OtherUser() { (void)!setresuid(0, -1, -1); }
};

// The pages that this process is charged for, in addition to the free pages of its user.
inline std::size_t Pinned() {
  const std::string status = *ReadFile("/proc/self/status");
  const std::size_t at = status.find("VmPin:");
  if (at == std::string::npos) throw Broken("/proc/self/status has no VmPin");
  return std::stoul(status.substr(at + 6)) * 1'024 / PageSize();
}

inline void DropIpcLock() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) throw Broken("capget");
  data[0].effective &= ~(1u << CAP_IPC_LOCK);
  if (syscall(SYS_capset, &header, data) != 0) throw Broken("capset");
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_LOCKED_MEMORY_H_
