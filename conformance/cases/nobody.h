// SPDX-License-Identifier: Apache-2.0
// A task without the rights of root.
#ifndef PMUCONF_CASES_NOBODY_H_
#define PMUCONF_CASES_NOBODY_H_

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <functional>
#include <initializer_list>

#include "pmuconf/case.h"
#include "pmuconf/cpu.h"

namespace pmuconf {

constexpr const char* kParanoid = "kernel/perf_event_paranoid";
constexpr uid_t kNobody = 65534;

// This process becomes nobody's, with the capabilities `keep` alone; false if it cannot.
inline bool BecomeNobody(std::initializer_list<int> keep = {}) {
  if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
      setresuid(kNobody, kNobody, kNobody) != 0) {
    return false;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  for (const int cap : keep) {
    data[cap / 32].effective |= 1u << (cap % 32);
    data[cap / 32].permitted |= 1u << (cap % 32);
  }
  return syscall(SYS_capset, &header, data) == 0;
}

// What `body` (an errno) gives in a process of nobody's that keeps only these capabilities.
inline int AsNobody(const std::function<int()>& body, std::initializer_list<int> keep = {}) {
  Child child([&] { return BecomeNobody(keep) ? body() : 126; });
  child.Go();
  return child.Wait();
}

// The errno of opening `spec` there. Events of the kernel's own PMUs are the task's, whatever the
// target can follow.
inline int ErrnoAsNobody(const EventSpec& spec, OpenOptions options,
                         std::initializer_list<int> keep = {}) {
  return AsNobody(
      [&] {
        if (spec.type != target().type() && options.pid == 0) options.pid = getpid();
        return TryOpen(spec, options).error;
      },
      keep);
}

// The errno of opening any event of the target there.
inline int ErrnoAsNobody(const OpenOptions& options, std::initializer_list<int> keep = {}) {
  return ErrnoAsNobody(target().AnyEvent(), options, keep);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_NOBODY_H_
