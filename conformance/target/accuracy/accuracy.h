// SPDX-License-Identifier: Apache-2.0
// Measures the events of a PMU against work of known counts, on this machine.
#ifndef PMUCONF_TARGET_ACCURACY_ACCURACY_H_
#define PMUCONF_TARGET_ACCURACY_ACCURACY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "target/accuracy/classify.h"

namespace pmuconf {

struct EventAccuracy {
  std::string name;
  std::string work;    // "instructions": the work that it was compared with; "" if none is known
  bool named = false;  // the name states the work; otherwise it is what the event counts best
  AccuracyFinding finding;
};

// `events` open events shared the counters, and the counts were scaled by their times.
struct MultiplexError {
  unsigned events = 0;
  double error = 0.0;  // mean of |scaled - true| / true
};

struct PmuAccuracy {
  std::vector<EventAccuracy> events;
  std::vector<std::string> bad_cpus;  // "CPU 3 counted 0 of 1001"
  std::vector<int> cpus;              // that were tried
  std::vector<MultiplexError> multiplexing;
  double read_us = 0.0, open_us = 0.0;  // of read(2), and of opening and closing an event
  // Whether an event differs from the work that its name states by more than a bound, or a CPU from
  // the others.
  bool wrong() const;
};

// Throws ConfigError if there is no such PMU, if its events cannot follow a task, or if this
// architecture has no code of work.
PmuAccuracy MeasureAccuracy(const std::string& pmu);

std::string AccuracyTable(const PmuAccuracy& accuracy);
std::string AccuracyJson(const PmuAccuracy& accuracy);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_ACCURACY_ACCURACY_H_
