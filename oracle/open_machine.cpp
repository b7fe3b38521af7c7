// SPDX-License-Identifier: Apache-2.0
// Reads sysfs, sysctls and tracefs: finds the PMUs of the machine, and those that the model knows
// by name.
#include "oracle/open_machine.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "arch/arch.h"
#include "oracle/open_driver.h"
#include "perf/kernel_behaviour.h"
#include "system/broken.h"
#include "system/context.h"
#include "system/fd.h"
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

// Returns those tracepoints that the kernel has, for programs, which name them by position.
std::vector<OpenEvent> TracepointsThatExist() {
  std::vector<OpenEvent> events;
  try {
    const TraceFs files;
    events.push_back({.type = PERF_TYPE_TRACEPOINT, .config = files.Id("sched:sched_switch")});
    events.push_back({.type = PERF_TYPE_TRACEPOINT,
                      .config = files.Id("raw_syscalls:sys_enter"),
                      .cap_any = true});
  } catch (const Broken&) {
    return events;
  }
  return events;
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

// Gives a PMU that the model does not know an event, and finds whether its events can follow a
// task.
void FindEvent(const std::string& name, OpenPmu& pmu) {
  const std::string folder = std::string(kEventSource) + "/" + name;
  std::vector<Configs> known;
  for (const std::string& event : ListFolder(folder + "/events")) {
    const auto text = ReadFile(folder + "/events/" + event);
    const auto configs = text ? ReadTerms(folder, *text) : std::nullopt;
    if (configs) known.push_back(*configs);
  }
  known.emplace_back();
  for (const Configs& configs : known) {
    for (const bool task : {true, false}) {
      perf_event_attr attr = {};
      attr.size = PERF_ATTR_SIZE_VER5;
      attr.type = pmu.type;
      attr.config = configs.config;
      attr.config1 = configs.config1;
      attr.config2 = configs.config2;
      attr.disabled = 1;
      const Fd fd(static_cast<int>(syscall(SYS_perf_event_open, &attr, task ? 0 : -1, task ? -1 : 0,
                                           -1, PERF_FLAG_FD_CLOEXEC)));
      if (fd.get() < 0) continue;
      pmu.config = configs.config;
      pmu.config1 = configs.config1;
      pmu.config2 = configs.config2;
      pmu.tasks = task;
      return;
    }
  }
}

// The kernel registers cpu-clock and task-clock with the first free types, but without sysfs
// directories.
void AddClockPmus(const OpenSystem& system, std::vector<OpenPmu>& pmus) {
  if (!system.behaviour.clock_pmus) return;
  pmus.push_back(OpaquePmu(PERF_TYPE_MAX));
  pmus.push_back(OpaquePmu(PERF_TYPE_MAX + 1));
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
  AddClockPmus(system, pmus);
  return pmus;
}

std::vector<OpenPmu> LocalPmusFor(const std::string& name, const OpenSystem& system) {
  std::vector<OpenPmu> pmus;
  bool found = false;
  for (const std::string& each : ListFolder(kEventSource)) {
    OpenPmu pmu = each == "tracepoint"
                      ? TracepointPmu(TracepointsThatExist())
                      : DescribePmu(each, TypeOfPmu(each), system.behaviour.clock_pmus);
    if (each != name) {
      pmus.push_back(pmu);
      continue;
    }
    found = true;
    if (pmu.events.empty()) FindEvent(name, pmu);
    pmu.cpus = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN));
    pmus.insert(pmus.begin(), pmu);
  }
  if (!found) throw ConfigError("no PMU '" + name + "' in " + kEventSource);
  AddClockPmus(system, pmus);
  return pmus;
}

}  // namespace pmuconf
