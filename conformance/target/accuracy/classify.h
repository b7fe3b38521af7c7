// SPDX-License-Identifier: Apache-2.0
// How true the counts of an event are, from counts of work whose number of units is known.
#ifndef PMUCONF_TARGET_ACCURACY_CLASSIFY_H_
#define PMUCONF_TARGET_ACCURACY_CLASSIFY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pmuconf {

// One command to a worker.
struct TruthRun {
  std::uint64_t length = 0;      // units that it executed
  std::uint64_t count = 0;       // what the event counted
  std::uint64_t interrupts = 0;  // on its CPU meanwhile, at most
};

// From the best class to the worst.
enum class AccuracyClass {
  kExact,           // each count is its length, plus the same number for each command
  kPlusInterrupts,  // that, and a few events for each interrupt
  kBounded,         // within a fraction of the length
  kProportional,    // always the same multiple of the length
  kWrong,
};

struct AccuracyFinding {
  AccuracyClass kind = AccuracyClass::kWrong;
  std::string text;     // "exact, plus 1 a command"
  double spread = 0.0;  // (most - least) / length, of the longest commands
};

// Returns how many events each of `interrupts` added, at least, if they explain `excess` events.
// nullopt if they do not.
std::optional<std::int64_t> EventsOfInterrupt(std::int64_t excess, std::uint64_t interrupts);

// `runs` has several runs of each of several lengths.
AccuracyFinding Classify(const std::vector<TruthRun>& runs);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_ACCURACY_CLASSIFY_H_
