// SPDX-License-Identifier: Apache-2.0
// A task without root's privileges.
#ifndef PMUCONF_CASES_UNPRIVILEGED_H_
#define PMUCONF_CASES_UNPRIVILEGED_H_

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <functional>
#include <initializer_list>

#include "harness/case.h"
#include "system/context.h"
#include "system/cpu.h"

namespace pmuconf {

constexpr const char* kParanoid = "kernel/perf_event_paranoid";
constexpr uid_t kNobody = 65534;

// Skips the case if events of the target need privileges whatever they are.
inline void SkipIfEventsNeedPrivileges() {
  if (target().kind() != "kprobe" && target().kind() != "uprobe") return;
  SkipUnclaimed("needs events that tasks without privileges may open");
}

// Makes this process unprivileged, with only these `capabilities`. Returns false if it cannot.
inline bool DropPrivileges(std::initializer_list<int> capabilities = {}) {
  SkipIfEventsNeedPrivileges();
  if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
      setresuid(kNobody, kNobody, kNobody) != 0) {
    return false;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  for (const int cap : capabilities) {
    data[cap / 32].effective |= 1u << (cap % 32);
    data[cap / 32].permitted |= 1u << (cap % 32);
  }
  return syscall(SYS_capset, &header, data) == 0;
}

// The errno that `body` returns in an unprivileged process that keeps only these capabilities.
inline int RunUnprivileged(const std::function<int()>& body,
                           std::initializer_list<int> capabilities = {}) {
  Child child([&] { return DropPrivileges(capabilities) ? body() : 126; });
  return child.Run();
}

// The errno of opening `spec` in such a process. An event of another PMU than the target always
// follows the task, even if the target has no events of tasks.
inline int UnprivilegedErrno(const EventSpec& spec, OpenOptions options,
                             std::initializer_list<int> capabilities = {}) {
  return RunUnprivileged(
      [&] {
        if (spec.type != target().type() && options.pid == 0) options.pid = getpid();
        return TryOpen(spec, options).error;
      },
      capabilities);
}

// The errno of opening any event of the target in such a process.
inline int UnprivilegedErrno(const OpenOptions& options,
                             std::initializer_list<int> capabilities = {}) {
  return UnprivilegedErrno(target().AnyEvent(), options, capabilities);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_UNPRIVILEGED_H_
