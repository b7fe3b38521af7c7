// SPDX-License-Identifier: Apache-2.0
// The facts about a PMU that a probe finds.
#ifndef PMUCONF_TARGET_PROBE_FACTS_H_
#define PMUCONF_TARGET_PROBE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/event.h"
#include "target/probe/calibration.h"

namespace pmuconf {

// The origin of a value, and so how sure it is.
enum class Sure {
  kMeasured,  // an experiment gave it
  kRead,      // the kernel states it: in sysfs, in /proc or in a control page
  kDefault,   // nothing is known; the value claims as little as possible
  kGuess,     // it explains the experiments, and so may others
};
std::string_view ToString(Sure sure);  // "measured"

// The result of an experiment: a number or an errno, and a description of the experiment.
struct Finding {
  std::uint64_t value = 0;
  int error = 0;
  std::string how;
  Sure sure = Sure::kMeasured;
  bool ok() const { return error == 0; }
};

// An event of the PMU, as the experiments found it.
struct EventFacts {
  std::string name;
  std::optional<std::uint16_t> code;  // if sysfs has no event of that name
  EventSpec spec;                     // how to open it
  unsigned fit = 0;                   // how many instances of it alone fit into a group
  std::uint64_t counters = 0;         // as EventSpec::counters; 0 if unknown
  std::string counters_how;
  Sure counters_sure = Sure::kMeasured;
  std::string generic;            // "cpu-cycles"; "" if none
  std::string counts;             // its counts during different actions
  std::string stimulus = "none";  // the stimulus that it counted
  Calibration work;               // its counts of work; empty if it has another stimulus
};

// A fact that no key of a target file states.
struct Note {
  std::string key;
  std::string value;
  std::string how;
  Sure sure = Sure::kMeasured;
};

// The facts about a PMU, from sysfs and from experiments.
struct PmuFacts {
  std::string device;
  std::string name;       // of the target; empty: that of the device
  double slowness = 1.0;  // factor for the deadlines of the cases
  std::uint32_t type = 0;
  std::string kind;
  std::string kind_how;
  // Returns whether counters limit the events.
  bool limited() const { return (kind == "core" || kind == "uncore") && !unlimited; }
  bool unlimited = false;  // a group took as many of its events as a target file can claim
  Finding general, fixed, width;
  Finding no_cpu;  // an event of a task on any CPU, if the driver refuses only that
  Finding sampling, frequency, task, exclude_user, exclude_kernel, precise, branches;
  Finding shortest_period;                               // the shortest sample period that opens
  Finding user_reads;                                    // value 1: the control page permits them
  std::vector<std::pair<std::string, Finding>> refused;  // keys of [refusals] and their errno
  bool core_refuses_sampling = false;  // after the driver accepted it (PERF_PMU_CAP_NO_INTERRUPT)
  bool groups = true;                  // false: the driver refuses each group
  std::string groups_how;              // why not
  bool shared_counters = false;        // events of the same config share a counter
  bool filters = false;
  std::vector<std::string> exclusive_formats;
  std::vector<EventFacts> events;
  std::string names_how = "of sysfs";  // the source of the events' names
  std::string numbers_how = "a number that opens; sysfs names no events";
  std::vector<std::pair<std::string, std::string>> omitted;  // omitted events, with the reason
  std::vector<Note> sampling_notes;
  std::vector<Note> feature_notes;
};

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_FACTS_H_
