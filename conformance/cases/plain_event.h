// SPDX-License-Identifier: Apache-2.0
// An event for cases about the attr itself.
#ifndef PMUCONF_CASES_PLAIN_EVENT_H_
#define PMUCONF_CASES_PLAIN_EVENT_H_

#include "harness/case.h"

namespace pmuconf {

// Returns whether the attr of the target's events names what they watch.
inline bool EventsWatch() {
  const std::string& kind = target().kind();
  return kind == "breakpoint" || kind == "kprobe" || kind == "uprobe";
}

// Returns an event of the target, or a software event if the attr of the target's events names what
// they watch: it then needs fields that the case changes or leaves out.
inline EventSpec PlainEvent() {
  return EventsWatch() ? Software(PERF_COUNT_SW_DUMMY) : target().AnyEvent();
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_PLAIN_EVENT_H_
