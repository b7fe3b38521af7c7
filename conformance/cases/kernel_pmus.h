// SPDX-License-Identifier: Apache-2.0
// Events of the kernel's own PMUs: tracepoints and breakpoints.
#ifndef PMUCONF_CASES_KERNEL_PMUS_H_
#define PMUCONF_CASES_KERNEL_PMUS_H_

#include <linux/hw_breakpoint.h>

#include <cstdint>
#include <string>

#include "harness/case.h"
#include "system/sysfs.h"

namespace pmuconf {

inline constexpr const char* kTraceEvents = "/sys/kernel/tracing/events/";

// `name` includes the subsystem: "task/task_rename".
inline EventSpec Tracepoint(const std::string& name) {
  const auto id = ReadFile(kTraceEvents + name + "/id");
  if (!id) throw Broken(kTraceEvents + name + "/id cannot be read");
  EventSpec spec;
  spec.name = name;
  spec.type = PERF_TYPE_TRACEPOINT;
  spec.config = std::stoull(*id);
  return spec;
}

// The attr of a breakpoint on `length` bytes at `address`. `type` is one of HW_BREAKPOINT_*.
inline perf_event_attr Breakpoint(const volatile void* address, std::uint64_t length,
                                  std::uint32_t type = HW_BREAKPOINT_W) {
  EventSpec spec;
  spec.type = PERF_TYPE_BREAKPOINT;
  perf_event_attr attr = MakeAttr(spec, {.exclude_kernel = true, .exclude_hv = true});
  attr.bp_type = type;
  attr.bp_addr = reinterpret_cast<std::uint64_t>(address);
  attr.bp_len = length;
  return attr;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_KERNEL_PMUS_H_
