// SPDX-License-Identifier: Apache-2.0
// The events that the specification knows, by target.
#ifndef PMUCONF_TOOLS_SPECIFY_EVENT_KINDS_H_
#define PMUCONF_TOOLS_SPECIFY_EVENT_KINDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/spec/state.h"

namespace pmuconf {

struct EventKind {
  std::uint32_t type = 0;  // kProgramOwnType for the PMU of the target
  std::uint64_t config = 0;
  SpecKind kind;
  unsigned pulse = 0;  // index in ProgramPulses(), for events of pulses
};

struct TargetKinds {
  SpecMachine machine;
  std::vector<EventKind> events;
  bool tasks = true;     // events can follow a task
  bool sampling = true;  // of the PMU's events
  bool excludes = true;
  bool clock = false;  // it has a manual clock
};

// Throws ConfigError if the specification does not know the target.
TargetKinds KindsOf(const std::string& target);
// Returns the event; one of an unknown kind if the target has no such event.
EventKind KindOf(const TargetKinds& kinds, std::uint32_t type, std::uint64_t config);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_EVENT_KINDS_H_
