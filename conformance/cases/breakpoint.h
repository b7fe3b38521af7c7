// SPDX-License-Identifier: Apache-2.0
// Breakpoints on data: exact events that a program generates on another PMU than the target.
#ifndef PMUCONF_CASES_BREAKPOINT_H_
#define PMUCONF_CASES_BREAKPOINT_H_

#include <linux/hw_breakpoint.h>

#include <cstdint>

#include "harness/case.h"

namespace pmuconf {

// The attr of an event that counts the stores of user space to `variable`.
inline perf_event_attr CountStores(const volatile std::uint64_t& variable,
                                   const OpenOptions& options = {}) {
  EventSpec spec;
  spec.type = PERF_TYPE_BREAKPOINT;
  perf_event_attr attr = MakeAttr(spec, options);
  attr.bp_type = HW_BREAKPOINT_W;
  attr.bp_addr = reinterpret_cast<std::uint64_t>(&variable);
  attr.bp_len = HW_BREAKPOINT_LEN_8;
  attr.exclude_kernel = 1;
  return attr;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_BREAKPOINT_H_
