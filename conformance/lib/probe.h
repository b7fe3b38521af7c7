// SPDX-License-Identifier: Apache-2.0
// Drafts a target file for a PMU that nobody has described yet.
#ifndef PMUCONF_LIB_PROBE_H_
#define PMUCONF_LIB_PROBE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pmuconf/event.h"

namespace pmuconf {

// A number or an errno that an experiment gave, and the experiment in words.
struct Finding {
  std::uint64_t value = 0;
  int error = 0;
  std::string how;
  bool ok() const { return error == 0; }
};

// An event of the PMU, as the experiments saw it.
struct EventFacts {
  std::string name;
  std::optional<std::uint16_t> code;  // where sysfs has no event of that name
  unsigned fit = 0;                   // how many of it alone fit into a group
  bool fixed = false;                 // one more of it fits than of the others
  std::string generic;                // "cpu-cycles"; "": none
  std::string seen;                   // what it counted while what happened
  std::string stimulus = "none";      // what made it count exactly as often as it was done
};

// What sysfs says of a PMU, and what experiments told.
struct PmuFacts {
  std::string device;
  std::uint32_t type = 0;
  std::string kind;
  std::string kind_how;
  // Whether counters limit the events; else a target file does not speak of counters.
  bool limited() const { return kind == "core" || kind == "uncore"; }
  Finding general, fixed, width;
  Finding sampling, min_period, frequency, task, exclude_user, exclude_kernel, precise, branches;
  std::vector<std::pair<std::string, Finding>> refused;  // keys of [refusals], and their errno
  bool filters = false;
  std::vector<std::string> exclusive_formats;
  std::vector<EventFacts> events;
  std::string names_how = "of sysfs";  // where the events' names come from
  std::vector<std::string> skipped;    // events that are left out, and why
};

// Looks and tries; opens events, all of them but those it watches stay off. Throws ConfigError if
// there is no such PMU, or this process may not open events.
PmuFacts ProbePmu(const std::string& pmu);

// The facts as a target file with a comment on each line; it loads.
std::string WriteDraft(const PmuFacts& facts);

// WriteDraft(ProbePmu(pmu)).
std::string DraftTarget(const std::string& pmu);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_PROBE_H_
