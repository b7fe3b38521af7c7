// SPDX-License-Identifier: Apache-2.0
// The PMU that a probe examines, and how the experiments open its events.
#ifndef PMUCONF_TARGET_PROBE_PMU_H_
#define PMUCONF_TARGET_PROBE_PMU_H_

#include <cstdint>
#include <string>
#include <vector>

#include "perf/event.h"
#include "target/probe/facts.h"

namespace pmuconf {

inline constexpr std::uint64_t kProbePeriod = 100'003;  // any driver accepts it

// The folder of the PMU in sysfs.
std::string FolderOf(const std::string& pmu);

// Returns the result as the comments of a target file state it: "opens" or "gives EINVAL".
std::string ErrnoText(int error);

class ProbedPmu {
 public:
  // Identifies the PMU: stores its type and kind in `facts`, and pins this process to one of its
  // CPUs. Throws ConfigError if there is no such PMU.
  explicit ProbedPmu(PmuFacts* facts);

  // Opens an event of this task, or on the CPU of an uncore PMU. Disabled by default.
  OpenResult Open(const EventSpec& spec, OpenOptions options = {}, int group_fd = -1) const;
  // Opens an event where `options` specify, without the records that cases keep of each open.
  static OpenResult OpenAt(const EventSpec& spec, const OpenOptions& options);

  Finding Try(const EventSpec& spec, const OpenOptions& options, const std::string& what) const;
  // Returns the first success over all events; otherwise the result of the first event.
  Finding TryAny(const std::vector<EventFacts>& events, const OpenOptions& options,
                 const std::string& what) const;
  // As TryAny for an event of this task, also of an uncore PMU. `cpu` is -1 for any CPU.
  Finding TryTask(const std::vector<EventFacts>& events, const std::string& what, int cpu,
                  OpenOptions options = {}) const;
  int cpu() const { return cpu_; }

  bool per_cpu() const { return per_cpu_; }  // an uncore PMU: its events belong to a CPU

 private:
  bool HasAux(std::uint32_t type) const;

  int cpu_ = 0;
  bool per_cpu_ = false;
};

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_PMU_H_
