// SPDX-License-Identifier: Apache-2.0
// Explains which groups fit by sets of counters. Needs no PMU.
#ifndef PMUCONF_TARGET_PROBE_COUNTER_MODEL_H_
#define PMUCONF_TARGET_PROBE_COUNTER_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pmuconf {

// The number of general counters that an event can use, and that it shares with each earlier event.
struct CounterUse {
  unsigned own = 0;
  std::vector<unsigned> shared;  // shared[i]: with event i
};

// Returns a set of counters for each event, such that all numbers in `uses` are true: bit i is
// general counter i. Counters are interchangeable, so the sets are one model of many. Returns
// nullopt if there are none, or if none are found within a bounded search. `general` is at most 32.
std::optional<std::vector<std::uint64_t>> AssignCounters(unsigned general,
                                                         const std::vector<CounterUse>& uses);

// Returns how many of the first events fit into a group if each needs one counter of its set.
unsigned PredictFitting(const std::vector<std::uint64_t>& sets);

// Returns the most frequent number. The smallest of several. 0 for none.
unsigned MostFrequent(const std::vector<unsigned>& numbers);

// Returns a set as a target file writes it: "0-3,f1". Bit 32 + i is fixed counter i. "" if empty.
std::string CountersText(std::uint64_t set);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_COUNTER_MODEL_H_
