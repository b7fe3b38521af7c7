// SPDX-License-Identifier: Apache-2.0
// The input of a check of the errno model: the call as the kernel parses it, and the PMU that the
// kernel tries.
#ifndef PMUCONF_ORACLE_OPEN_FACTS_H_
#define PMUCONF_ORACLE_OPEN_FACTS_H_

#include <cstddef>
#include <cstdint>

#include "oracle/open_model.h"

namespace pmuconf {

inline constexpr std::uint64_t kOpenBranchPrivileges =
    PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
inline constexpr std::uint32_t kOpenAuxStartPaused = 1, kOpenAuxPause = 2, kOpenAuxResume = 4;

// Which kernels make a check.
inline constexpr OpenWhere kAll = nullptr;
inline constexpr OpenWhere kSharedContexts = [](const OpenBehaviour& b) {
  return b.shared_contexts;
};
inline constexpr OpenWhere kOwnContexts = [](const OpenBehaviour& b) { return !b.shared_contexts; };
inline constexpr OpenWhere kNoCgroupEvents = [](const OpenBehaviour& b) {
  return !b.cgroup_events;
};

struct OpenFacts {
  const OpenCall& call;
  const OpenSystem& system;
  const OpenBehaviour& kernel;
  const OpenPmu* pmu = nullptr;  // the PMU that is tried or has accepted the event
  std::size_t known = 0;         // sizeof(struct perf_event_attr) of the kernel
  std::size_t size = 0;          // attr.size, or PERF_ATTR_SIZE_VER0 if that is 0
  // The bytes beyond `size` are 0.
  perf_event_attr attr = {};
  std::uint64_t flag_bits = 0;
  std::uint32_t reserved_3 = 0;
  std::uint64_t config3 = 0;
  std::uint64_t config4 = 0;
  bool misnamed = false;  // a generic event that names a PMU without generic events

  bool Cgroup() const { return (call.flags & PERF_FLAG_PID_CGROUP) != 0; }
  bool Task() const { return !Cgroup() && call.who != OpenWho::kAllTasks; }
  bool HasFd() const { return call.group != OpenGroup::kNone; }
  bool Grouped() const { return HasFd() && (call.flags & PERF_FLAG_FD_NO_GROUP) == 0; }
  bool Output() const { return HasFd() && (call.flags & PERF_FLAG_FD_OUTPUT) != 0; }
  bool Samples(std::uint64_t types) const { return (attr.sample_type & types) != 0; }
  bool Sampling() const { return attr.sample_period != 0; }
  bool AuxAction() const { return (reserved_3 & (kOpenAuxPause | kOpenAuxResume)) != 0; }
  bool MayProfileKernel() const { return system.administrator || system.paranoid <= 1; }
  bool MayProfileCpu() const { return system.administrator || system.paranoid <= 0; }
  bool InvalidRegisters(std::uint64_t mask) const {
    return mask == 0 || (mask & ~system.known_registers) != 0;
  }
  // Returns the privileges of the sampled branches. If the attr gives none, the event's apply.
  std::uint64_t BranchPrivileges() const {
    const std::uint64_t requested = attr.branch_sample_type & kOpenBranchPrivileges;
    if (requested != 0) return requested;
    std::uint64_t all = 0;
    if (!attr.exclude_user) all |= PERF_SAMPLE_BRANCH_USER;
    if (!attr.exclude_kernel) all |= PERF_SAMPLE_BRANCH_KERNEL;
    if (!attr.exclude_hv) all |= PERF_SAMPLE_BRANCH_HV;
    return all;
  }
  // Returns the CPU of the event. A PMU that is not CPU-local moves it to the CPU of the leader.
  OpenCpu Cpu() const { return pmu->cpu_local ? call.cpu : call.group_cpu; }
  bool OnOfflineCpu() const { return pmu->cpu_local && call.cpu == OpenCpu::kOffline; }
  // An event whose task has exited belongs to no task.
  OpenWho GroupWho() const {
    return call.group == OpenGroup::kExitedTask ? OpenWho::kNoTask : call.group_who;
  }
  bool SameTask() const { return !Cgroup() && call.who == GroupWho(); }
  // Returns whether this PMU accepts the type of the event.
  bool AcceptsType() const {
    const bool generic = attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_HW_CACHE ||
                         attr.type == PERF_TYPE_RAW;
    return attr.type == pmu->type || (generic && pmu->generic);
  }
  // Returns whether the event behind group_fd is an event of this PMU.
  bool LeaderIsOfThisPmu() const { return call.group_type == pmu->type; }
  bool SameContext() const { return Task() ? SameTask() : GroupWho() == OpenWho::kAllTasks; }
};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_FACTS_H_
