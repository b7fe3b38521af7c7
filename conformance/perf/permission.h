// SPDX-License-Identifier: Apache-2.0
// The privileges of this process.
#ifndef PMUCONF_PERF_PERMISSION_H_
#define PMUCONF_PERF_PERMISSION_H_

#include <optional>
#include <string>

#include "system/skip_reason.h"

namespace pmuconf {

struct EventsDenied {
  SkipReason skip_reason = SkipReason::kNone;
  std::string reason;
};

// Returns why this process cannot open any CPU-wide event; nullopt if it can. The function tries a
// software event, so no driver is called.
std::optional<EventsDenied> WhyEventsDenied();

// Returns whether this process has the privileges that cases need: it is root, and has
// CAP_SYS_ADMIN, which root of a container usually lacks.
bool Privileged();

}  // namespace pmuconf

#endif  // PMUCONF_PERF_PERMISSION_H_
