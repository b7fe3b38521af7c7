// SPDX-License-Identifier: Apache-2.0
// Everything that user space sees of one event, as numbers with names.
#ifndef PMUCONF_TARGET_ATTR_ATTR_OBSERVATION_H_
#define PMUCONF_TARGET_ATTR_ATTR_OBSERVATION_H_

#include <map>
#include <string>

#include "perf/event.h"
#include "target/attr/attr_fields.h"

namespace pmuconf {

struct Observation {
  int error = 0;                               // of perf_event_open
  std::map<std::string, double> numbers = {};  // "the count", "records COMM"; absent: 0
  double Get(const std::string& name) const;
};

// The names that the matrix itself reads.
inline constexpr const char* kCountName = "the count";
inline constexpr const char* kSamplesName = "records SAMPLE";

// Returns the errno of an event with `attr` of this task, or of the CPU of a system-wide PMU; 0: it
// opens.
int OpenErrno(const perf_event_attr& attr);

// Opens an event with `attr` on a new child, or on the CPU of a system-wide PMU and with the child
// on that CPU. Runs the child, which makes `spec` happen, and observes the event.
Observation Observe(const EventSpec& spec, const perf_event_attr& attr, const AttrField& field);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_ATTR_ATTR_OBSERVATION_H_
