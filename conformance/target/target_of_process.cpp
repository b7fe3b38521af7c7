// SPDX-License-Identifier: Apache-2.0
// The target of this process, and the policy that it gives to Open().
#include "target/target_of_process.h"

#include <optional>
#include <utility>

#include "perf/event.h"
#include "stimulus/work/work.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

std::optional<Target>& TargetOfProcess() {
  static std::optional<Target> the_target;
  return the_target;
}

Target& Existing() {
  if (!TargetOfProcess()) throw Broken("this process has no target");
  return *TargetOfProcess();
}

std::optional<int> DefaultCpu() {
  if (!target().Claims(Cap::kSystemWide)) return std::nullopt;
  return target().DesignatedCpu();
}

std::optional<pid_t> DefaultTask() {
  const Worker* const worker = StartedWorker();
  return worker == nullptr ? std::nullopt : std::optional(worker->pid());
}

// A CPU-wide event of work counts the worker, but must not count this process.
void PrepareCpu(std::uint32_t type, int cpu) {
  const bool counts_instructions =
      type == target().type() || type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;
  if (StartedWorker() == nullptr || !counts_instructions) return;
  LeaveCpu(cpu);
}

}  // namespace

const Target& target() { return Existing(); }

void SetTarget(Target target) {
  TargetOfProcess() = std::move(target);
  SetOpenPolicy({.min_period = TargetOfProcess()->min_period(),
                 .default_cpu = DefaultCpu,
                 .default_task = DefaultTask,
                 .prepare_cpu = PrepareCpu});
}

void ResolveTarget(const std::string& pmu) { Existing().Resolve(pmu); }

}  // namespace pmuconf
