// SPDX-License-Identifier: Apache-2.0
// The counts of an event during known actions of this program.
#ifndef PMUCONF_TARGET_PROBE_ACTIONS_H_
#define PMUCONF_TARGET_PROBE_ACTIONS_H_

#include <functional>
#include <string>

#include "perf/event.h"

namespace pmuconf {

struct ActionCounts {
  std::string counts;  // "counted 0 in nothing, ...", so that a person can choose the stimulus
  std::string stimulus = "none";  // the stimulus that the event counted exactly
};

// `open` opens the event, disabled.
ActionCounts CountActions(const std::function<OpenResult()>& open);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_ACTIONS_H_
