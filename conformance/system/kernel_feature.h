// SPDX-License-Identifier: Apache-2.0
// Features that the configuration of a kernel may leave out, each with the name of its option.
#ifndef PMUCONF_SYSTEM_KERNEL_FEATURE_H_
#define PMUCONF_SYSTEM_KERNEL_FEATURE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "system/context.h"

namespace pmuconf {

enum class Feature {
  kTracepoints,    // tracefs describes tracepoints
  kSyscallEvents,  // a tracepoint for each system call
  kKernelProbes,   // the PMU kprobe
  kUserProbes,     // the PMU uprobe
  kBpfCall,        // bpf(2)
  kBpfEvents,      // BPF programs at events
  kCgroups,        // cgroups
  kPerfCgroups,    // events of a cgroup
  kSettings,       // sysctls in /proc/sys
  kSymbols,        // addresses of the kernel's functions
  kHighResTimers,  // timers that are more exact than the tick
  kModules,        // loadable modules
  kProcessors,     // more than one CPU
  kCompatCalls     // 32-bit programs on x86
};

const std::vector<Feature>& AllFeatures();
std::string_view OptionOf(Feature feature);  // "CONFIG_FTRACE_SYSCALLS"

// Why a case that uses the feature cannot run; nullopt if the kernel has it. The answer comes from
// what the kernel offers in procfs, sysfs and tracefs below `root`, or from a system call that no
// PMU serves. It comes neither from a version nor from ReadFile(), whose answers a lie alters.
std::optional<Skipped> WhyLacking(Feature feature, const std::string& root = "");

inline bool KernelHas(Feature feature) { return !WhyLacking(feature); }

// Mounts tracefs for this process alone, if it is not mounted. On failure the features that need it
// are lacking, or not permitted.
void ShowTraceFs();

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_KERNEL_FEATURE_H_
