// SPDX-License-Identifier: Apache-2.0
// What Linux makes of a processor, and no file of a running kernel tells.
#ifndef PMUCONF_PROCESSOR_H_
#define PMUCONF_PROCESSOR_H_

#include <string_view>

namespace pmuconf::processor {

#if defined(__x86_64__)

inline constexpr std::string_view kMachine = "x86_64";  // as uname -m has it
// perf_misc_flags() passes PERF_RECORD_MISC_EXACT_IP on.
inline constexpr bool kSaysExactIp = true;
// What changes text calls perf_event_text_poke().
inline constexpr bool kTellsTextPokes = true;
// hw_breakpoint_arch_parse() takes 1, 2, 4 or 8 bytes, at multiples of that.
inline constexpr bool kWatchesWholeWords = true;

#elif defined(__aarch64__)

inline constexpr std::string_view kMachine = "aarch64";
inline constexpr bool kSaysExactIp = false;
inline constexpr bool kTellsTextPokes = false;
inline constexpr bool kWatchesWholeWords = false;

#else
#error "what Linux makes of this processor is not known"
#endif

}  // namespace pmuconf::processor

#endif  // PMUCONF_PROCESSOR_H_
