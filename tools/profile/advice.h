// SPDX-License-Identifier: Apache-2.0
// Explains errors of the kernel to users, with a remedy.
#ifndef PMUCONF_TOOLS_PROFILE_ADVICE_H_
#define PMUCONF_TOOLS_PROFILE_ADVICE_H_

#include <string>

#include "tools/profile/options.h"

namespace pmuconf::profile {

// Explains why perf_event_open(2) failed with `error` for the event.
std::string WhyNoEvent(int error, const Options& options, const std::string& event);
// Returns whether only the event can be missing, so that --fallback helps.
bool IsMissingEvent(int error);

// Explains why the BPF program did not load. `log` is the log of libbpf.
std::string WhyNoBpf(int error, const std::string& log);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_ADVICE_H_
