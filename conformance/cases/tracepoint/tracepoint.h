// SPDX-License-Identifier: Apache-2.0
// A tracepoint whose record has an argument that the case chooses: the one of getpgid(2).
#ifndef PMUCONF_CASES_TRACEPOINT_TRACEPOINT_H_
#define PMUCONF_CASES_TRACEPOINT_TRACEPOINT_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>
#include <string>

#include "harness/case.h"
#include "system/tracefs.h"

namespace pmuconf {

inline constexpr const char* kGetpgid = "syscalls:sys_enter_getpgid";

inline EventSpec SpecOfTracepoint(const std::string& name) {
  EventSpec spec;
  spec.name = name;
  spec.type = PERF_TYPE_TRACEPOINT;
  spec.config = TraceFs().Id(name);
  return spec;
}

// Hits the tracepoint once with each argument. There need not be such a process.
inline void HitTracepoint(std::initializer_list<long> arguments) {
  for (const long argument : arguments) syscall(SYS_getpgid, argument);
}

inline SysResult TryFilter(const Event& event, const char* filter) {
  return event.TryIoctl(PERF_EVENT_IOC_SET_FILTER, reinterpret_cast<unsigned long>(filter));
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_TRACEPOINT_TRACEPOINT_H_
