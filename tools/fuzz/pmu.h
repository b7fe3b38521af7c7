// SPDX-License-Identifier: Apache-2.0
// What sysfs states about a PMU that is fuzzed.
#ifndef PMUCONF_TOOLS_FUZZ_PMU_H_
#define PMUCONF_TOOLS_FUZZ_PMU_H_

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/open_model.h"
#include "system/sysfs.h"
#include "tools/repro/machine.h"

namespace pmuconf {

struct FuzzedPmu {
  std::string name;
  std::uint32_t type = 0;                // on this machine
  OpenPmu pmu;                           // as the errno model knows it
  std::vector<FormatField> fields = {};  // format/
  std::vector<Configs> events = {};      // events/
  unsigned precise = 3;                  // caps/max_precise; 3 if there is no such file
  bool port = false;                     // it has a stimulus port
  bool cpus = false;                     // programs may take a CPU offline
};

// Reads a PMU of this machine. Throws ConfigError if there is none, or if an event of it could
// change the code of the kernel.
FuzzedPmu ReadPmu(const std::string& name, const ProgramMachine& machine);
// Throws ConfigError as ReadPmu() does.
void CheckFuzzable(const std::string& name);

// Returns whether the PMU exists, with that type.
bool Exists(const FuzzedPmu& pmu);

// Returns how many events of a PMU that must not share counters run on a CPU at once, up to
// kCountersLimit. 0: none opens.
inline constexpr unsigned kCountersLimit = 12;
unsigned FreeCounters(const OpenPmu& pmu, std::uint32_t type, int cpu);

// Returns the number of references to the module of the PMU; -1 if it has no module, or if none has
// its name.
long ModuleReferences(const std::string& name);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_FUZZ_PMU_H_
