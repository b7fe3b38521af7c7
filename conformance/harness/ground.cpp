// SPDX-License-Identifier: Apache-2.0
// Finds other users of the counters: first who they may be, then whether counters are missing.
#include "harness/ground.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "perf/descriptors.h"
#include "perf/event.h"
#include "perf/permission.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "system/hypervisor.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kTurns = 5;        // of events that rotate
constexpr std::uint64_t kRotation_ms = 4;  // of a PMU without perf_event_mux_interval_ms
constexpr std::chrono::seconds kDeadline(2);
constexpr std::uint64_t kNsPerMs = 1'000'000;

bool WatchdogIsOn() { return ReadFile("/proc/sys/kernel/nmi_watchdog").value_or("0") == "1"; }

std::string Milliseconds(std::uint64_t ns) { return std::to_string(ns / kNsPerMs); }

// Measures how long a group of `spec` with as many events as `spec` has counters is counted on a
// CPU. Returns nullopt if the group does not open.
std::optional<Share> Measure(const EventSpec& spec, int cpu, std::uint64_t wanted_ns) {
  Share share{.cpu = cpu, .event = spec.name, .events = 0, .enabled_ns = 0, .running_ns = 0};
  share.events = static_cast<unsigned>(std::popcount(spec.counters));
  std::vector<Event> group;
  for (unsigned i = 0; i < share.events; ++i) {
    OpenOptions options;
    options.pid = -1;
    options.cpu = cpu;
    options.group_fd = group.empty() ? -1 : group.front().fd();
    options.disabled = group.empty();
    OpenResult opened = TryOpen(spec, options);
    if (!opened.ok()) return std::nullopt;
    group.push_back(std::move(opened.event));
  }
  group.front().Enable();
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (share.enabled_ns < wanted_ns && std::chrono::steady_clock::now() < deadline) {
    const Reading reading = group.front().Read();
    share.enabled_ns = reading.time_enabled;
    share.running_ns = reading.time_running;
  }
  return share;
}

std::optional<Share> FindShortage(const Target& target) {
  const std::string interval =
      ReadFile(std::string(kEventSource) + "/" + target.device() + "/perf_event_mux_interval_ms")
          .value_or("");
  const std::uint64_t given_ms = std::strtoull(interval.c_str(), nullptr, 10);
  const std::uint64_t wanted_ns = kTurns * kNsPerMs * (given_ms > 0 ? given_ms : kRotation_ms);
  const bool uncore = target.Claims(Cap::kSystemWide);
  const std::vector<int> cpus = uncore ? std::vector{target.DesignatedCpu()} : target.Cpus();
  for (const int cpu : cpus) {
    std::set<std::uint64_t> measured;  // sets of counters
    for (const EventSpec& spec : target.Events({.inexact = true})) {
      if (spec.counters == 0 || !measured.insert(spec.counters).second) continue;
      const auto share = Measure(spec, cpu, wanted_ns);
      if (share && share->Short()) return share;
    }
  }
  return std::nullopt;
}

// Returns a process and those that started it. proc_pid_stat(5): the parent is the second field
// after the name in parentheses.
std::set<std::string> WithAncestors(const std::string& proc, std::string pid) {
  std::set<std::string> found;
  while (pid != "0" && found.insert(pid).second) {
    const std::string stat = ReadFile(proc + "/" + pid + "/stat").value_or("");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) break;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string state;
    fields >> state >> pid;
  }
  return found;
}

std::vector<std::string> Warnings(const Target& target) {
  std::vector<std::string> warnings;
  const std::vector<int> cpus = target.Cpus();
  if (cpus.size() == 1 && !target.Claims(Cap::kSystemWide)) {
    warnings.push_back("only CPU " + std::to_string(cpus.front()) + " of PMU " + target.device() +
                       " is online: cases that need two are skipped");
  }
  const std::string scaling = ScalingWarning(target, cpus);
  if (!scaling.empty()) warnings.push_back(scaling);
  if (target.port_path().empty() && IsPmuOfProcessor(target.device()) && IsVirtual()) {
    warnings.push_back("this machine is virtual: its hypervisor decides what PMU " +
                       target.device() + " is, and may use its counters");
  }
  return warnings;
}

}  // namespace

std::vector<std::string> ProcessesWithEvents(const std::string& proc) {
  std::vector<std::string> found;
  const std::string self = std::to_string(getpid());
  const std::set<std::string> callers = WithAncestors(proc, self);
  for (const std::string& pid : ListFolder(proc)) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (callers.contains(pid) || WithAncestors(proc, pid).contains(self)) continue;
    const std::string folder = proc + "/" + pid;
    if (EventDescriptors(folder + "/fd") == 0) continue;
    found.push_back(ReadFile(folder + "/comm").value_or("?") + " (pid " + pid + ")");
  }
  return found;
}

std::string InUseReason(const std::string& pmu, const Share& share, bool watchdog,
                        const std::vector<std::string>& processes) {
  std::string users;
  if (watchdog) users = "the NMI watchdog is on (sysctl kernel.nmi_watchdog=0 ends it)";
  for (const std::string& process : processes) {
    users += (users.empty() ? "" : ", ") + process + " has perf events";
  }
  if (users.empty() || !share.Short()) return "";
  return "counters of PMU " + pmu + " are in use on CPU " + std::to_string(share.cpu) + ": " +
         std::to_string(share.events) + " events " + share.event + " had counters for " +
         Milliseconds(share.running_ns) + " of " + Milliseconds(share.enabled_ns) + " ms; " + users;
}

std::string ScalingWarning(const Target& target, const std::vector<int>& cpus,
                           const std::string& sysfs) {
  const bool rated = std::any_of(target.claims().begin(), target.claims().end(), [](const auto& c) {
    return c.generic == PERF_COUNT_HW_CPU_CYCLES;
  });
  if (!target.port_path().empty() || !rated || !target.Claims(Cap::kFrequency)) return "";
  for (const int cpu : cpus) {
    const auto governor =
        ReadFile(sysfs + "/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor");
    if (!governor || *governor == "performance") continue;
    return "the frequency of CPU " + std::to_string(cpu) + " varies (scaling_governor is " +
           *governor + "), so the rate of cycles varies in frequency mode: use performance";
  }
  return "";
}

std::vector<std::string> CheckGround(Target target, const std::string& pmu) {
  std::vector<std::string> warnings;
  if (WhyEventsDenied()) return warnings;
  try {
    target.Resolve(pmu);
    warnings = Warnings(target);
    const bool watchdog = target.kind() == "core" && WatchdogIsOn();
    const std::vector<std::string> processes = ProcessesWithEvents();
    if (target.general() == 0 || (!watchdog && processes.empty())) return warnings;
    const auto share = FindShortage(target);
    const std::string in_use =
        share ? InUseReason(target.device(), *share, watchdog, processes) : "";
    if (!in_use.empty()) throw ConfigError(in_use);
  } catch (const Broken&) {
    // No such PMU, or sysfs of the PMU does not match the target file: the cases report that.
  }
  return warnings;
}

void PrintWarnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "pmuconf: warning: %s\n", warning.c_str());
  }
}

}  // namespace pmuconf
