// SPDX-License-Identifier: Apache-2.0
// Reads sysfs, sysctls and tracefs: finds the PMUs of the machine, and those that the model knows
// by name.
#include "oracle/open_machine.h"

#include <linux/perf_event.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "arch/arch.h"
#include "oracle/open_driver.h"
#include "perf/kernel_behaviour.h"
#include "system/context.h"
#include "system/kernel_feature.h"
#include "system/sysctl.h"
#include "system/sysfs.h"
#include "system/tracefs.h"
#include "target/target_of_process.h"

namespace pmuconf {
namespace {

std::vector<OpenEvent> Tracepoints() {
  const TraceFs files;
  return {{.type = PERF_TYPE_TRACEPOINT, .config = files.Id("sched:sched_switch")},
          {.type = PERF_TYPE_TRACEPOINT,
           .config = files.Id("raw_syscalls:sys_enter"),
           .cap_any = true}};
}

OpenPmu DescribePmu(const std::string& name, std::uint32_t type, bool scoped) {
  if (name == "software") return SoftwarePmu();
  if (name == "tracepoint") return TracepointPmu(Tracepoints());
  if (name == "breakpoint") return BreakpointPmu();
  if (name == "refpmu") return ReferencePmu(type);
  if (name == "refpmu_uncore") return ReferenceUncorePmu(type, scoped);
  return OpaquePmu(type);
}

// Adds the refusals of the target file, for parameters that the module was loaded without.
void AddClaims(OpenPmu& pmu) {
  for (const char* choice : {"precise", "branch_stack"}) {
    if (const auto error = target().refusal(choice)) pmu.refusals[choice] = *error;
  }
  pmu.cpus = target().Cpus().size();
  pmu.min_period = std::max<std::uint64_t>(1, target().min_period());
}

OpenBehaviour LocalBehaviour() {
  return {.attr_size = AcceptedAttrSize(),
          .attr_flags = KnownAttrFlags(),
          .aux_action_bits = KnownAuxActionBits(),
          .branch_bits = KnownBranchBits(),
          .inherited_read = InheritedSampleReadErrno() == 0,
          .refuses_dead_leader_early = DeadLeaderErrno() == ENODEV,
          .protects_call_chains = UnprivilegedCallChainErrno() == EACCES,
          .protects_text_poke = UnprivilegedTextPokeErrno() == EACCES,
          .shared_contexts = HasSharedContexts(),
          .clock_pmus = HasClockPmus(),
          .cgroup_events = KernelHas(Feature::kPerfCgroups)};
}

}  // namespace

OpenSystem LocalSystem() {
  utsname names = {};
  uname(&names);
  OpenSystem system;
  system.release = names.release;
  system.behaviour = LocalBehaviour();
  system.paranoid_any = RefusesAllEvents();
  system.page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  system.extended_registers = reg::ExtendedRegisters();
  system.known_registers = reg::kAll | system.extended_registers;
  system.max_sample_rate = std::stoull(Sysctl::Get("kernel/perf_event_max_sample_rate"));
  system.max_stack = std::stoi(Sysctl::Get("kernel/perf_event_max_stack"));
  system.paranoid = std::stoi(Sysctl::Get("kernel/perf_event_paranoid"));
  return system;
}

std::vector<OpenPmu> LocalPmus(const OpenSystem& system) {
  std::vector<OpenPmu> pmus;
  for (const std::string& name : ListFolder(kEventSource)) {
    OpenPmu pmu = DescribePmu(name, TypeOfPmu(name), system.behaviour.clock_pmus);
    if (name != target().device()) {
      pmus.push_back(pmu);
      continue;
    }
    if (pmu.events.empty()) throw ConfigError("the model has no list of checks for " + name);
    AddClaims(pmu);
    pmus.insert(pmus.begin(), pmu);
  }
  // The kernel registers cpu-clock and task-clock with the first free types, but without sysfs
  // directories.
  if (system.behaviour.clock_pmus) {
    pmus.push_back(OpaquePmu(PERF_TYPE_MAX));
    pmus.push_back(OpaquePmu(PERF_TYPE_MAX + 1));
  }
  return pmus;
}

}  // namespace pmuconf
