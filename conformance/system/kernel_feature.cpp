// SPDX-License-Identifier: Apache-2.0
#include "system/kernel_feature.h"

#include <linux/bpf.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <fstream>

namespace pmuconf {
namespace {

constexpr const char* kTracing = "/sys/kernel/tracing";

struct Entry {
  Feature feature;
  const char* option;
  // The kernel has this file only with the feature. Empty: another effect shows it.
  const char* file;
  const char* needs_file = "";  // the file is hidden, not lacking, while this one cannot be read
};

constexpr const char* kTraceFolder = "/sys/kernel/tracing/events";

constexpr Entry kEntries[] = {
    {Feature::kTracepoints, "CONFIG_EVENT_TRACING", kTraceFolder, kTracing},
    {Feature::kSyscallEvents, "CONFIG_FTRACE_SYSCALLS", "/sys/kernel/tracing/events/syscalls",
     kTracing},
    {Feature::kKernelProbes, "CONFIG_KPROBE_EVENTS", "/sys/bus/event_source/devices/kprobe/type"},
    {Feature::kUserProbes, "CONFIG_UPROBE_EVENTS", "/sys/bus/event_source/devices/uprobe/type"},
    {Feature::kBpfCall, "CONFIG_BPF_SYSCALL", ""},
    {Feature::kBpfEvents, "CONFIG_BPF_EVENTS", ""},
    {Feature::kCgroups, "CONFIG_CGROUPS", "/proc/cgroups"},
    {Feature::kPerfCgroups, "CONFIG_CGROUP_PERF", ""},
    {Feature::kSettings, "CONFIG_PROC_SYSCTL", "/proc/sys/kernel/perf_event_paranoid"},
    {Feature::kSymbols, "CONFIG_KALLSYMS", "/proc/kallsyms"},
    {Feature::kHighResTimers, "CONFIG_HIGH_RES_TIMERS", ""},
    {Feature::kModules, "CONFIG_MODULES", "/proc/modules"},
    {Feature::kProcessors, "CONFIG_SMP", ""},
    {Feature::kCompatCalls, "CONFIG_IA32_EMULATION", "/proc/sys/abi/vsyscall32"},
};

const Entry& EntryOf(Feature feature) {
  for (const Entry& entry : kEntries) {
    if (entry.feature == feature) return entry;
  }
  __builtin_unreachable();
}

// The program that returns 0. The kernel answers EINVAL for an unknown type.
bool KnowsPrograms(bpf_prog_type type) {
  bpf_insn code[2] = {};
  code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  code[1].code = BPF_JMP | BPF_EXIT;
  bpf_attr attr = {};
  attr.prog_type = type;
  attr.insns = reinterpret_cast<std::uint64_t>(code);
  attr.insn_cnt = 2;
  attr.license = reinterpret_cast<std::uint64_t>("GPL");
  const long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
  if (fd < 0) return errno != EINVAL && errno != ENOSYS;
  close(static_cast<int>(fd));
  return true;
}

// The controllers of cgroups are the first words in the lines of this file.
bool HasController(const std::string& root, const std::string& name) {
  std::ifstream lines(root + "/proc/cgroups");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + "\t")) return true;
  }
  return false;
}

bool TimersAreExact() {
  timespec resolution = {};
  return clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0 &&
         resolution.tv_nsec == 1;
}

// The highest number of a CPU that this kernel can have is 0.
bool OnlyOneProcessor(const std::string& root) {
  std::ifstream file(root + "/sys/devices/system/cpu/kernel_max");
  int last = -1;
  return file >> last && last == 0;
}

bool Present(const Entry& entry, const std::string& root) {
  switch (entry.feature) {
    case Feature::kBpfCall:
      return syscall(SYS_bpf, -1, nullptr, 0) == 0 || errno != ENOSYS;
    case Feature::kBpfEvents: {
      static const bool known = KnowsPrograms(BPF_PROG_TYPE_PERF_EVENT);
      return known;
    }
    case Feature::kPerfCgroups:
      return HasController(root, "perf_event");
    case Feature::kHighResTimers:
      return TimersAreExact();
    case Feature::kProcessors:
      return !OnlyOneProcessor(root);
    default:
      return access((root + entry.file).c_str(), F_OK) == 0;
  }
}

}  // namespace

const std::vector<Feature>& AllFeatures() {
  static const std::vector<Feature> all = [] {
    std::vector<Feature> features;
    for (const Entry& entry : kEntries) features.push_back(entry.feature);
    return features;
  }();
  return all;
}

std::string_view OptionOf(Feature feature) { return EntryOf(feature).option; }

std::optional<Skipped> WhyLacking(Feature feature, const std::string& root) {
  const Entry& entry = EntryOf(feature);
  if (Present(entry, root)) return std::nullopt;
  const std::string folder = root + entry.needs_file;
  if (*entry.needs_file != '\0' && access(folder.c_str(), F_OK) == 0 &&
      (access(folder.c_str(), X_OK) != 0 || geteuid() != 0)) {
    return Skipped{SkipReason::kNotPermitted, folder + " is not readable here"};
  }
  return Skipped{SkipReason::kKernelLacks, "kernel lacks " + std::string(entry.option)};
}

void ShowTraceFs() {
  if (access(kTraceFolder, F_OK) == 0 || access(kTracing, F_OK) != 0) return;
  // The mount ends with this process, also if that is killed, and no other process sees it.
  if (unshare(CLONE_NEWNS) != 0) return;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  mount("tracefs", kTracing, "tracefs", 0, nullptr);
}

}  // namespace pmuconf
