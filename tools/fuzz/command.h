// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf fuzz`.
#ifndef PMUCONF_TOOLS_FUZZ_COMMAND_H_
#define PMUCONF_TOOLS_FUZZ_COMMAND_H_

#include <cstdint>
#include <string>

namespace pmuconf {

struct FuzzOptions {
  std::string pmu;             // in sysfs
  double seconds = 0;          // 0: until a signal
  std::uint64_t seed = 1;      // of the programs
  std::uint64_t from = 0;      // number of the first program
  std::uint64_t programs = 0;  // 0: no limit
  std::string out = ".";       // folder of the last program and of the findings
  bool cpus = false;           // allow CPU hotplug
  bool blind = false;          // random operations, for comparison
};

// Runs programs until the time is over or SIGINT, SIGTERM or SIGHUP arrives, and prints findings
// and a summary. Returns 1 if there is a finding, and else 0. Throws ConfigError if there is no
// such PMU, if it disappears, or if a file cannot be written.
int Fuzz(const FuzzOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_FUZZ_COMMAND_H_
