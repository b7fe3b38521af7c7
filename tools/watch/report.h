// SPDX-License-Identifier: Apache-2.0
// The results of a watch, as text and as JSON.
#ifndef PMUCONF_TOOLS_WATCH_REPORT_H_
#define PMUCONF_TOOLS_WATCH_REPORT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pmuconf {

// The calls of one callback.
struct WatchedCalls {
  std::string name;       // "add"
  std::string function;   // "refpmu_add", or the address if kallsyms has no name for it
  std::string unwatched;  // why its calls cannot be watched; empty if they are
  std::uint64_t calls = 0;
  std::uint64_t longest = 0;                   // ns
  std::uint64_t total = 0;                     // ns
  std::array<std::uint64_t, 32> buckets = {};  // [i]: number of calls of less than 2^i ns
};

// A breach of the driver contract.
struct WatchedBreach {
  std::string name;  // "stop-running"
  std::string rule;  // "DRC-052"
  std::string text;
  std::uint64_t times = 0;
  // The facts about the first occurrence:
  std::string callback;
  std::string values;  // "hw.state: expected 1, found 0"; may be empty
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint32_t flags = 0;
  std::uint32_t cpu = 0;
  std::uint32_t pid = 0;
  std::string command;
};

struct Watched {
  std::string pmu;
  std::string release, arch;  // of the running kernel
  double seconds = 0;
  std::vector<WatchedCalls> calls;
  std::vector<WatchedBreach> breaches;  // those that occurred
  std::string unjudged;                 // the checks that this kernel does not support, and why
};

// Returns the name of a breach in reports: "stop-running" for STOP_RUNNING.
std::string BreachName(std::string name);

// Formats a rounded duration in ns: "1.3 us".
std::string Duration(std::uint64_t ns);
// Returns a duration in ns such that the fraction `share` of the calls is shorter. It comes from
// the histogram, so it is a power of 2 or the longest duration.
std::uint64_t Below(const WatchedCalls& calls, double share);

// One check, as a test of its rule (docs/judging.md, "Results of other layers").
struct WatchedCheck {
  std::string name;  // "stop-running"
  std::string rule;
  bool passed = false;
  std::string message;  // the breach, or the number of checked calls
};
// Returns the checks for which at least one call happened.
std::vector<WatchedCheck> Checks(const Watched& watched);

std::string WatchText(const Watched& watched);
std::string WatchJson(const Watched& watched);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_WATCH_REPORT_H_
