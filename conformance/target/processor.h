// SPDX-License-Identifier: Apache-2.0
// Facts about Linux on a processor architecture that a running kernel does not report.
#ifndef PMUCONF_TARGET_PROCESSOR_H_
#define PMUCONF_TARGET_PROCESSOR_H_

#include <string_view>

namespace pmuconf::processor {

#if defined(__x86_64__)

inline constexpr std::string_view kMachine = "x86_64";  // as uname -m prints it
// perf_misc_flags() reports PERF_RECORD_MISC_EXACT_IP.
inline constexpr bool kReportsExactIp = true;
// The code that patches kernel text calls perf_event_text_poke().
inline constexpr bool kReportsTextPokes = true;
// hw_breakpoint_arch_parse() accepts lengths of 1, 2, 4 or 8 bytes, at aligned addresses.
inline constexpr bool kAlignedBreakpointsOnly = true;
// CONFIG_UNWIND_USER: the kernel unwinds user space for deferred call chains.
inline constexpr bool kUnwindsUserSpace = true;

#elif defined(__aarch64__)

inline constexpr std::string_view kMachine = "aarch64";
inline constexpr bool kReportsExactIp = false;
inline constexpr bool kReportsTextPokes = false;
inline constexpr bool kAlignedBreakpointsOnly = false;
inline constexpr bool kUnwindsUserSpace = false;

#else
#error "what Linux makes of this processor is not known"
#endif

}  // namespace pmuconf::processor

#endif  // PMUCONF_TARGET_PROCESSOR_H_
