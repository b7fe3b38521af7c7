// SPDX-License-Identifier: Apache-2.0
// Reads sysfs, sysctls and tracefs: finds the PMUs of the machine, and those that the model knows
// by name.
#include "oracle/open_machine.h"

#include <linux/perf_event.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "arch/arch.h"
#include "oracle/open_driver.h"
#include "system/context.h"
#include "system/sysctl.h"
#include "system/sysfs.h"
#include "system/tracefs.h"
#include "target/expression.h"
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

OpenPmu DescribePmu(const std::string& name, std::uint32_t type, bool recent) {
  if (name == "software") return SoftwarePmu();
  if (name == "tracepoint") return TracepointPmu(Tracepoints());
  if (name == "breakpoint") return BreakpointPmu();
  if (name == "refpmu") return ReferencePmu(type);
  if (name == "refpmu_uncore") return ReferenceUncorePmu(type, recent);
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

}  // namespace

OpenSystem LocalSystem() {
  utsname names = {};
  uname(&names);
  OpenSystem system;
  system.release = names.release;
  system.page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  system.extended_registers = reg::ExtendedRegisters();
  system.known_registers = reg::kAll | system.extended_registers;
  system.max_sample_rate = std::stoull(Sysctl::Get("kernel/perf_event_max_sample_rate"));
  system.max_stack = std::stoi(Sysctl::Get("kernel/perf_event_max_stack"));
  system.paranoid = std::stoi(Sysctl::Get("kernel/perf_event_paranoid"));
  return system;
}

std::vector<OpenPmu> LocalPmus(const OpenSystem& system) {
  const bool recent = KernelMatches(">=6.12", system.release);
  std::vector<OpenPmu> pmus;
  for (const std::string& name : ListFolder(kEventSource)) {
    OpenPmu pmu = DescribePmu(name, TypeOfPmu(name), recent);
    if (name != target().device()) {
      pmus.push_back(pmu);
      continue;
    }
    if (pmu.events.empty()) throw ConfigError("the model has no list of checks for " + name);
    AddClaims(pmu);
    pmus.insert(pmus.begin(), pmu);
  }
  // Since 6.12 the kernel registers cpu-clock and task-clock as PMUs of their own, with the first
  // free types but without sysfs directories.
  if (recent) {
    pmus.push_back(OpaquePmu(PERF_TYPE_MAX));
    pmus.push_back(OpaquePmu(PERF_TYPE_MAX + 1));
  }
  return pmus;
}

}  // namespace pmuconf
