// SPDX-License-Identifier: Apache-2.0
// The checks of drivers, in the order in which they make them: for the PMUs of the kernel itself,
// and for the reference driver by the independent tables in refpmu_events.h.
#include "oracle/open_driver.h"

#include <linux/hw_breakpoint.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "oracle/open_facts.h"
#include "oracle/refpmu_events.h"

namespace pmuconf {
namespace {

using F = OpenFacts;

constexpr std::uint64_t kSoftwareEvents = 12;  // PERF_COUNT_SW_MAX of every supported kernel
// User addresses are below this with page tables of four and of five levels.
constexpr std::uint64_t kKernelHalf = 1ull << 63;

bool Branches(const F& f) { return f.Samples(PERF_SAMPLE_BRANCH_STACK); }

const OpenEvent* EventOf(const F& f) {
  const auto& events = f.pmu->events;
  const auto found = std::find_if(events.begin(), events.end(), [&](const OpenEvent& event) {
    return event.config == f.attr.config;
  });
  return found == events.end() ? nullptr : &*found;
}

constexpr OpenCheck kSoftware[] = {
    {"INI-015", "branches of a software event", kAll, EOPNOTSUPP, Branches},
    {"INI-016", "unknown software event", kAll, ENOENT,
     [](const F& f) { return f.attr.config >= kSoftwareEvents; }},
};

constexpr OpenCheck kTracepoint[] = {
    {"INI-015", "branches of a tracepoint", kAll, EOPNOTSUPP, Branches},
    {"INI-017", "unknown tracepoint", kAll, EINVAL,
     [](const F& f) { return EventOf(f) == nullptr; }},
    {"PRM-003", "no privilege for raw tracepoint data", kAll, EPERM,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_RAW) && f.system.paranoid > -1 && !f.system.administrator &&
              !(f.Task() && EventOf(f)->cap_any);
     }},
};

// For a breakpoint, config1 is bp_addr and config2 is bp_len.
constexpr OpenCheck kBreakpoint[] = {
    {"INI-015", "branches of a breakpoint", kAll, EOPNOTSUPP, Branches},
    {"INI-019", "invalid breakpoint type", kAll, EINVAL,
     [](const F& f) {
       return f.attr.bp_type == HW_BREAKPOINT_EMPTY || f.attr.bp_type == HW_BREAKPOINT_INVALID;
     }},
    {"INI-019", "breakpoint length 0 or address overflow", kAll, EINVAL,
     [](const F& f) { return f.attr.bp_len == 0 || f.attr.bp_addr > ~0ull - (f.attr.bp_len - 1); }},
    {"INI-019", "breakpoint type not supported by the processor", kAll, EINVAL,
     [](const F& f) {
       return f.attr.bp_type != HW_BREAKPOINT_W && f.attr.bp_type != HW_BREAKPOINT_RW &&
              f.attr.bp_type != HW_BREAKPOINT_X;
     }},
    {"INI-019", "instruction breakpoint with a wrong length", kAll, EINVAL,
     [](const F& f) { return f.attr.bp_type == HW_BREAKPOINT_X && f.attr.bp_len != sizeof(long); }},
    {"INI-019", "range breakpoint", kAll, EOPNOTSUPP,
     [](const F& f) {
       return f.attr.bp_len > 8 && std::has_single_bit(f.attr.bp_len) &&
              f.attr.bp_addr % f.attr.bp_len == 0;
     }},
    {"INI-019", "invalid breakpoint length", kAll, EINVAL,
     [](const F& f) { return f.attr.bp_len > 8 || !std::has_single_bit(f.attr.bp_len); }},
    {"INI-019", "unaligned breakpoint", kAll, EINVAL,
     [](const F& f) {
       return f.attr.bp_type != HW_BREAKPOINT_X && f.attr.bp_addr % f.attr.bp_len != 0;
     }},
    {"INI-019", "kernel breakpoint with exclude_kernel", kAll, EINVAL,
     [](const F& f) { return f.attr.bp_addr >= kKernelHalf && f.attr.exclude_kernel; }},
    {"INI-019", "no privilege for a kernel breakpoint", kAll, EPERM,
     [](const F& f) { return f.attr.bp_addr >= kKernelHalf && !f.system.administrator; }},
};

bool Generic(const F& f) {
  return f.attr.type == PERF_TYPE_HARDWARE || f.attr.type == PERF_TYPE_HW_CACHE;
}

// Returns the encoding of a generic event; nullptr if the number is invalid or unsupported.
const RefpmuEncoding* GenericEncoding(const F& f) {
  return f.attr.type == PERF_TYPE_HARDWARE ? RefpmuByGeneric(f.attr.config)
                                           : RefpmuByCache(f.attr.config);
}

// Call this only after the checks of generic events: it dereferences Stands().
RefpmuEncoding Encoding(const F& f) {
  return Generic(f) ? *GenericEncoding(f) : RefpmuEncoding{f.attr.config, f.attr.config1};
}

// Returns whether no counter of the device counts the event: its code is unknown, or it needs a
// record register that this device lacks.
bool HasNoCounter(const F& f) {
  const RefpmuEvent* const event = RefpmuByCode(Encoding(f).config & kRefpmuCode);
  return event == nullptr || (event->place == RefpmuPlace::kRecords && f.pmu->Refuses("precise"));
}

// An event without edge, inv and cmask on a fixed counter uses no general counter.
bool OnFixedCounter(const F& f) {
  const std::uint64_t config = Encoding(f).config;
  return (config & ~kRefpmuCode) == 0 && RefpmuByCode(config)->fixed >= 0;
}

bool LeaderOfAnotherPmu(const F& f) {
  return f.Grouped() && !f.LeaderIsOfThisPmu() && !f.call.group_software;
}

constexpr OpenCheck kReference[] = {
    // Invalid fields.
    {"INI-011", "unsupported config2 to config4", kAll, EINVAL,
     [](const F& f) { return f.attr.config2 != 0 || f.config3 != 0 || f.config4 != 0; }},
    {"INI-011", "config1 of a generic event", kAll, EINVAL,
     [](const F& f) { return Generic(f) && f.attr.config1 != 0; }},
    {"INI-005", "unknown generic event", kAll, EINVAL,
     [](const F& f) {
       return f.attr.type == PERF_TYPE_HARDWARE && f.attr.config >= kRefpmuGeneric.size();
     }},
    {"INI-007", "unknown cache event", kAll, EINVAL,
     [](const F& f) { return f.attr.type == PERF_TYPE_HW_CACHE && !RefpmuIsCache(f.attr.config); }},
    {"INI-007", "cache event not supported", kAll, ENOENT,
     [](const F& f) { return Generic(f) && GenericEncoding(f) == nullptr; }},
    {"INI-011", "unsupported bits of config", kAll, EINVAL,
     [](const F& f) { return !Generic(f) && (f.attr.config & ~kRefpmuConfig) != 0; }},
    {"INI-035", "period below the minimum", kAll, EINVAL,
     [](const F& f) {
       return f.Sampling() && !f.attr.freq && f.attr.sample_period < f.pmu->min_period;
     }},
    {"INI-030", "inv without cmask", kAll, EINVAL,
     [](const F& f) {
       const std::uint64_t config = Encoding(f).config;
       return (config & kRefpmuInv) != 0 && (config & kRefpmuCmask) == 0;
     }},
    {"INI-034", "unsupported config1 for this code", kAll, EINVAL,
     [](const F& f) {
       const RefpmuEncoding encoding = Encoding(f);
       return (encoding.config1 & ~RefpmuConfig1(encoding.config & kRefpmuCode)) != 0;
     }},
    {"INI-004", "unknown event code", kAll, EINVAL,
     [](const F& f) { return !Generic(f) && HasNoCounter(f); }},
    {"INI-006", "generic event without a counter", kAll, ENOENT, HasNoCounter},
    // Features that the device lacks.
    {"INI-015", "branch stack or branch type not supported", kAll, EOPNOTSUPP,
     [](const F& f) {
       return Branches(f) && (f.pmu->Refuses("branch_stack") ||
                              (f.attr.branch_sample_type & ~kRefpmuBranchKnown) != 0);
     }},
    {"BRS-002", "no branch type, or call stack with other types", kAll, EINVAL,
     [](const F& f) {
       const std::uint64_t kinds = f.attr.branch_sample_type & kRefpmuBranchKinds;
       const bool stack = (kinds & kRefpmuBranchCallStack) != 0;
       return Branches(f) && (kinds == 0 || (stack && kinds != kRefpmuBranchCallStack));
     }},
    {"INI-028", "precise_ip on a device without records", kAll, EOPNOTSUPP,
     [](const F& f) { return f.attr.precise_ip != 0 && f.pmu->Refuses("precise"); }},
    {"INI-028", "precise_ip without sampling", kAll, EINVAL,
     [](const F& f) { return f.attr.precise_ip != 0 && !f.Sampling(); }},
    {"ERR-032", "exclude_idle or exclude_host", kAll, EOPNOTSUPP,
     [](const F& f) { return f.attr.exclude_idle || f.attr.exclude_host; }},
    // Group constraints.
    {"ERR-014", "group of two hardware PMUs", kAll, EINVAL, LeaderOfAnotherPmu},
    {"INI-021", "group exceeds the counters", kAll, EINVAL,
     [](const F& f) {
       return f.Grouped() && f.LeaderIsOfThisPmu() && f.call.group == OpenGroup::kAllCounters &&
              !OnFixedCounter(f);
     }},
};

constexpr OpenCheck kUncore[] = {
    {"INI-004", "unknown event code", kAll, EINVAL,
     [](const F& f) { return EventOf(f) == nullptr; }},
    {"INI-011", "unsupported config1 to config4", kAll, EINVAL,
     [](const F& f) {
       return f.attr.config1 != 0 || f.attr.config2 != 0 || f.config3 != 0 || f.config4 != 0;
     }},
    {"ERR-025", "task event, or no CPU", kAll, EINVAL,
     [](const F& f) { return f.Task() || f.call.cpu == OpenCpu::kAny; }},
    {"UNC-002", "sampling, branch stack or precise_ip", kAll, EOPNOTSUPP,
     [](const F& f) { return f.Sampling() || Branches(f) || f.attr.precise_ip != 0; }},
    {"ERR-014", "group of two hardware PMUs", kAll, EINVAL, LeaderOfAnotherPmu},
};

// Features that the kernel itself refuses for its own PMUs, because they do not announce them.
std::map<std::string, int, std::less<>> KernelRefusals(bool nmi_safe_clocks_alone) {
  std::map<std::string, int, std::less<>> refusals = {{"extended_registers", EOPNOTSUPP},
                                                      {"aux_output", EOPNOTSUPP},
                                                      {"aux_start_paused", EOPNOTSUPP}};
  if (nmi_safe_clocks_alone) refusals["clock"] = EINVAL;
  return refusals;
}

}  // namespace

OpenPmu SoftwarePmu() {
  OpenPmu pmu;
  pmu.type = PERF_TYPE_SOFTWARE;
  pmu.config = PERF_COUNT_SW_DUMMY;
  pmu.refusals = KernelRefusals(false);
  pmu.software = true;
  pmu.driver = kSoftware;
  for (std::uint64_t i = 0; i < kSoftwareEvents; ++i) pmu.events.push_back({pmu.type, i});
  return pmu;
}

OpenPmu TracepointPmu(std::vector<OpenEvent> events) {
  OpenPmu pmu;
  pmu.type = PERF_TYPE_TRACEPOINT;
  pmu.config = events.empty() ? 0 : events.front().config;
  pmu.refusals = KernelRefusals(true);
  pmu.software = true;
  pmu.driver = kTracepoint;
  pmu.events = std::move(events);
  return pmu;
}

OpenPmu BreakpointPmu() {
  OpenPmu pmu;
  pmu.type = PERF_TYPE_BREAKPOINT;
  pmu.refusals = KernelRefusals(true);
  pmu.software = true;
  pmu.driver = kBreakpoint;
  pmu.events = {{pmu.type, 0, 0x10'0000, HW_BREAKPOINT_LEN_1, HW_BREAKPOINT_W},
                {pmu.type, 0, 0x10'0008, HW_BREAKPOINT_LEN_8, HW_BREAKPOINT_RW},
                {pmu.type, 0, 0x10'0003, sizeof(long), HW_BREAKPOINT_X},
                {pmu.type, 0, 0xffff'ffff'8000'0010, HW_BREAKPOINT_LEN_4, HW_BREAKPOINT_W}};
  return pmu;
}

OpenPmu ReferencePmu(std::uint32_t type) {
  OpenPmu pmu;
  pmu.type = type;
  pmu.config = 0x01d0;
  pmu.refusals = KernelRefusals(true);
  pmu.generic = pmu.extended = true;
  pmu.driver = kReference;
  for (const RefpmuEvent& event : kRefpmuEvents) {
    pmu.events.push_back({type, event.code, RefpmuConfig1(event.code)});
    pmu.events.push_back({PERF_TYPE_RAW, event.code | kRefpmuEdge | kRefpmuInv | 1u << 24});
  }
  for (std::uint64_t i = 0; i < kRefpmuGeneric.size(); ++i) {
    pmu.events.push_back({PERF_TYPE_HARDWARE, i});
    pmu.events.push_back({PERF_TYPE_HARDWARE, i | std::uint64_t{type} << 32});
  }
  for (const RefpmuCacheEvent& event : kRefpmuCaches) {
    pmu.events.push_back({PERF_TYPE_HW_CACHE, event.id});
  }
  return pmu;
}

OpenPmu ReferenceUncorePmu(std::uint32_t type, bool scoped) {
  OpenPmu pmu;
  pmu.type = type;
  pmu.config = 0x0101;
  pmu.refusals = KernelRefusals(true);
  pmu.refusals["exclude"] = EINVAL;
  pmu.tasks = false;
  pmu.cpu_local = scoped;
  pmu.driver = kUncore;
  for (const std::uint64_t code : {0x0101, 0x0201, 0x0104, 0x0204, 0x0108}) {
    pmu.events.push_back({type, code});
  }
  return pmu;
}

OpenPmu OpaquePmu(std::uint32_t type) {
  OpenPmu pmu;
  pmu.type = type;
  return pmu;
}

std::vector<std::span<const OpenCheck>> OpenDrivers() {
  return {kSoftware, kTracepoint, kBreakpoint, kReference, kUncore};
}

}  // namespace pmuconf
