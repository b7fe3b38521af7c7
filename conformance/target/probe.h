// SPDX-License-Identifier: Apache-2.0
// Drafts a target file for a PMU without one.
#ifndef PMUCONF_TARGET_PROBE_H_
#define PMUCONF_TARGET_PROBE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perf/event.h"
#include "target/calibration.h"

namespace pmuconf {

// The result of an experiment: a number or an errno, and a description of the experiment.
struct Finding {
  std::uint64_t value = 0;
  int error = 0;
  std::string how;
  bool ok() const { return error == 0; }
};

// An event of the PMU, as the experiments found it.
struct EventFacts {
  std::string name;
  std::optional<std::uint16_t> code;  // if sysfs has no event of that name
  unsigned fit = 0;                   // how many instances of it alone fit into a group
  bool fixed = false;   // it has a fixed counter: one more instance fits than of other events
  std::string generic;  // "cpu-cycles"; "" if none
  std::string counts;   // its counts during different actions
  std::string stimulus = "none";  // the stimulus that it counted exactly
  Calibration work;               // its counts of work; empty if it has another stimulus
};

// The facts about a PMU, from sysfs and from experiments.
struct PmuFacts {
  std::string device;
  std::string name;       // of the target; empty: that of the device
  double slowness = 1.0;  // factor for the deadlines of the cases
  std::uint32_t type = 0;
  std::string kind;
  std::string kind_how;
  // Returns whether counters limit the events. Otherwise the target file has no [counters].
  bool limited() const { return kind == "core" || (kind == "uncore" && !unlimited); }
  bool unlimited = false;  // a group took as many of its events as a target file can claim
  Finding general, fixed, width;
  Finding sampling, min_period, frequency, task, exclude_user, exclude_kernel, precise, branches;
  std::vector<std::pair<std::string, Finding>> refused;  // keys of [refusals] and their errno
  bool filters = false;
  std::vector<std::string> exclusive_formats;
  std::vector<EventFacts> events;
  std::string names_how = "of sysfs";  // the source of the events' names
  std::vector<std::string> skipped;    // omitted events, with the reason
};

// Runs the experiments. Opens events, which stay disabled unless an experiment needs them enabled.
// Throws ConfigError if there is no such PMU, or if this process may not open events.
PmuFacts ProbePmu(const std::string& pmu);

// Writes the facts as a valid target file, with a comment on each line.
std::string WriteDraft(const PmuFacts& facts);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_H_
