// SPDX-License-Identifier: Apache-2.0
// What a refusal of the kernel means to a user, and what to do about it.
#ifndef PMUCONF_TOOLS_PROFILE_ADVICE_H_
#define PMUCONF_TOOLS_PROFILE_ADVICE_H_

#include <string>

#include "tools/profile/options.h"

namespace pmuconf::profile {

// Of perf_event_open for the event; `error` is its errno.
std::string WhyNoEvent(int error, const Options& options, const std::string& event);
// The event, but no other cause, can be what is missing: --fallback helps.
bool IsMissingEvent(int error);

// Of loading the BPF program. `log` is what libbpf said.
std::string WhyNoBpf(int error, const std::string& log);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_ADVICE_H_
