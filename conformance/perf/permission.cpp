// SPDX-License-Identifier: Apache-2.0
// Queries the kernel for the privileges of this process.
#include "perf/permission.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "perf/event.h"
#include "perf/matchers.h"
#include "system/cpu.h"
#include "system/sysfs.h"

namespace pmuconf {

std::optional<EventsDenied> WhyEventsDenied() {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = 1;
  const SysResult opened = TryOpenRaw(&attr, -1, OnlineCpus().front(), -1, PERF_FLAG_FD_CLOEXEC);
  const Fd fd(opened.ok() ? static_cast<int>(opened.value) : -1);
  if (opened.error == ENOSYS) {
    return EventsDenied{SkipReason::kKernelLacks, "perf_event_open: ENOSYS: no perf events here"};
  }
  if (opened.error != EPERM && opened.error != EACCES) return std::nullopt;
  const auto paranoid = ReadFile("/proc/sys/kernel/perf_event_paranoid");
  return EventsDenied{SkipReason::kNotPermitted, "perf_event_open: " + ErrnoName(opened.error) +
                                                     " (kernel.perf_event_paranoid is " +
                                                     paranoid.value_or("unknown") +
                                                     "): run as root, outside of containers"};
}

bool Privileged() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data = {};
  if (syscall(SYS_capget, &header, data.data()) != 0) return false;
  return geteuid() == 0 && (data[0].effective & (1U << CAP_SYS_ADMIN)) != 0;
}

}  // namespace pmuconf
