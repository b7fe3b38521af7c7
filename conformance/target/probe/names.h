// SPDX-License-Identifier: Apache-2.0
// Names of events that a probe looks for.
#ifndef PMUCONF_TARGET_PROBE_NAMES_H_
#define PMUCONF_TARGET_PROBE_NAMES_H_

#include <linux/perf_event.h>

#include <array>
#include <cstdint>

namespace pmuconf {

// Generic events and their names in sysfs. Target files use `name`.
struct GenericName {
  const char* name;
  std::uint64_t config;
  std::array<const char*, 3> in_sysfs;  // the last one is the name on arm64
};
inline constexpr std::array<GenericName, 10> kGenericNames = {{
    {"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, {"cpu-cycles", "cycles", "cpu_cycles"}},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS, {"instructions", "", "inst_retired"}},
    {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES, {"cache-references", "", "l1d_cache"}},
    {"cache-misses", PERF_COUNT_HW_CACHE_MISSES, {"cache-misses", "", "l1d_cache_refill"}},
    {"branch-instructions",
     PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
     {"branch-instructions", "branches", "br_retired"}},
    {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES, {"branch-misses", "", "br_mis_pred"}},
    {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES, {"bus-cycles", "", "bus_cycles"}},
    {"stalled-cycles-frontend",
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
     {"stalled-cycles-frontend", "", "stall_frontend"}},
    {"stalled-cycles-backend",
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
     {"stalled-cycles-backend", "", "stall_backend"}},
    {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, {"ref-cycles", "", ""}},
}};

// The kernel's software events by number, with the names that perf uses.
inline constexpr std::array<const char*, 12> kSoftwareNames = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

// Tracepoints that the experiments can trigger.
inline constexpr std::array<const char*, 3> kTracepointNames = {
    "syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid", "sched:sched_switch"};

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_NAMES_H_
