// SPDX-License-Identifier: Apache-2.0
// The checks of perf_event_open(2) and their errnos.
#include "oracle/open_model.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "oracle/open_facts.h"

namespace pmuconf {

namespace {

constexpr std::size_t kFirstSize = 64;  // PERF_ATTR_SIZE_VER0, the first published size of the attr
constexpr std::uint64_t kFlags =
    PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;
constexpr std::uint64_t kSampleTypes = (1ull << 25) - 1;
constexpr std::uint64_t kReadFormats = (1ull << 5) - 1;

template <typename T>
T At(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value = {};
  std::memcpy(&value, &bytes[offset], sizeof(T));
  return value;
}

}  // namespace

namespace {

using F = OpenFacts;

constexpr OpenWhere kShared = kSharedContexts;
constexpr OpenWhere kOwn = kOwnContexts;

constexpr OpenCheck kChecks[] = {
    {"ABI-034", "unknown bit of flags", kAll, EINVAL,
     [](const F& f) { return (f.call.flags & ~kFlags) != 0; }},

    // Checks of the attr alone.
    {"ABI-001", "unreadable attr", kAll, EFAULT,
     [](const F& f) { return f.call.readable < 8; }, true},
    {"ABI-003", "size below the minimum", kAll, E2BIG,
     [](const F& f) { return f.size < kFirstSize; }, true},
    {"ABI-005", "size above the page size", kAll, E2BIG,
     [](const F& f) { return f.size > f.system.page_size; }, true},
    {"ABI-007", "nonzero byte beyond the kernel's attr", kAll, E2BIG,
     [](const F& f) {
       const std::size_t end = std::min({f.size, f.call.readable, f.call.attr.size()});
       for (std::size_t i = f.known; i < end; ++i) {
         if (f.call.attr[i] != std::byte{0}) return true;
       }
       return false;
     },
     true},
    {"ABI-011", "size beyond readable memory", kAll, EFAULT,
     [](const F& f) { return f.size > f.call.readable; }, true},
    {"ABI-012", "reserved attr flag", kAll, EINVAL,
     [](const F& f) { return f.flag_bits >> f.kernel.attr_flags != 0; }, true},
    {"ABI-013", "__reserved_2", kAll, EINVAL, [](const F& f) { return f.attr.__reserved_2 != 0; },
     true},
    {"ABI-014", "__reserved_3", kAll, EINVAL,
     [](const F& f) { return f.reserved_3 >> f.kernel.aux_action_bits != 0; }, true},
    {"ABI-016", "unknown bit of sample_type", kAll, EINVAL,
     [](const F& f) { return f.Samples(~kSampleTypes); }, true},
    {"ABI-017", "unknown bit of read_format", kAll, EINVAL,
     [](const F& f) { return (f.attr.read_format & ~kReadFormats) != 0; }, true},
    {"ABI-018", "unknown bit of branch_sample_type", kAll, EINVAL,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_BRANCH_STACK) &&
              f.attr.branch_sample_type >> f.kernel.branch_bits != 0;
     },
     true},
    {"ABI-019", "no branch type", kAll, EINVAL,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_BRANCH_STACK) &&
              (f.attr.branch_sample_type & ~kOpenBranchPrivileges) == 0;
     },
     true},
    {"PRM-010", "no privilege for kernel branches", kAll, EACCES,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_BRANCH_STACK) && !f.MayProfileKernel() &&
              (f.BranchPrivileges() & ~std::uint64_t{PERF_SAMPLE_BRANCH_USER}) != 0;
     },
     true},
    {"ABI-022", "invalid user registers", kAll, EINVAL,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_REGS_USER) && f.InvalidRegisters(f.attr.sample_regs_user);
     },
     true},
    {"ABI-024", "invalid user stack size", kAll, EINVAL,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_STACK_USER) &&
              (f.attr.sample_stack_user >= 65'535 || f.attr.sample_stack_user % 8 != 0);
     },
     true},
    {"ABI-026", "two weight formats", kAll, EINVAL,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_WEIGHT) && f.Samples(PERF_SAMPLE_WEIGHT_STRUCT);
     },
     true},
    {"ABI-028", "inherit_thread without inherit", kAll, EINVAL,
     [](const F& f) { return f.attr.inherit_thread && !f.attr.inherit; }, true},
    {"ABI-029", "remove_on_exec with enable_on_exec", kAll, EINVAL,
     [](const F& f) { return f.attr.remove_on_exec && f.attr.enable_on_exec; }, true},
    {"ABI-030", "sigtrap without remove_on_exec", kAll, EINVAL,
     [](const F& f) { return f.attr.sigtrap && !f.attr.remove_on_exec; }, true},
    {"ABI-023", "invalid interrupt registers", kAll, EINVAL,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_REGS_INTR) && f.InvalidRegisters(f.attr.sample_regs_intr);
     },
     true},

    // Checks of privileges and arguments.
    {"PRM-005", "no privilege for any event", kAll, EACCES,
     [](const F& f) {
       return f.system.paranoid_any && f.system.paranoid > 2 && !f.system.administrator;
     }},
    {"PRM-001", "no privilege for kernel events", kAll, EACCES,
     [](const F& f) {
       const bool text = f.attr.text_poke && f.kernel.protects_text_poke;
       return (!f.attr.exclude_kernel || text) && !f.MayProfileKernel();
     }},
    {"PRM-009", "no privilege for kernel call chains", kAll, EACCES,
     [](const F& f) {
       return f.kernel.protects_call_chains && f.Samples(PERF_SAMPLE_CALLCHAIN) &&
              !f.attr.exclude_callchain_kernel && !f.MayProfileKernel();
     }},
    {"PRM-008", "no privilege for namespaces", kAll, EACCES,
     [](const F& f) { return f.attr.namespaces && !f.system.administrator; }},
    {"ABI-032", "frequency above the limit", kAll, EINVAL,
     [](const F& f) { return f.attr.freq && f.attr.sample_freq > f.system.max_sample_rate; }},
    {"ABI-033", "period of 64 bits", kAll, EINVAL,
     [](const F& f) { return !f.attr.freq && f.attr.sample_period >> 63 != 0; }},
    {"PRM-008", "no privilege for physical addresses", kAll, EACCES,
     [](const F& f) { return f.Samples(PERF_SAMPLE_PHYS_ADDR) && !f.MayProfileKernel(); }},
    {"PRM-012", "interrupt registers under lockdown", kAll, EPERM,
     [](const F& f) { return f.Samples(PERF_SAMPLE_REGS_INTR) && f.system.lockdown; }},
    {"ERR-016", "cgroup without a descriptor or a CPU", kAll, EINVAL,
     [](const F& f) {
       return f.Cgroup() && (f.call.who == OpenWho::kAllTasks || f.call.cpu == OpenCpu::kAny);
     }},
    {"ERR-006", "no descriptor available", kAll, EMFILE,
     [](const F& f) { return !f.call.descriptors_available; }},
    {"ERR-001", "group_fd is not an event", kAll, EBADF,
     [](const F& f) {
       return f.call.group == OpenGroup::kClosed || f.call.group == OpenGroup::kFile;
     }},
    {"ERR-022", "group_fd of an exited task's event", kAll, ENODEV,
     [](const F& f) {
       return f.kernel.refuses_dead_leader_early && f.call.group == OpenGroup::kExitedTask;
     }},
    {"ERR-002", "no such task", kAll, ESRCH,
     [](const F& f) { return f.Task() && f.call.who == OpenWho::kNoTask; }},
    {"ERR-012", "inherit differs from the leader's", kAll, EINVAL,
     [](const F& f) { return f.Task() && f.Grouped() && f.attr.inherit; }},

    // Checks of the event alone.
    {"ERR-003", "neither task nor CPU", kAll, EINVAL,
     [](const F& f) { return !f.Task() && f.call.cpu == OpenCpu::kAny; }},
    {"ERR-004", "invalid CPU", kAll, EINVAL,
     [](const F& f) { return f.call.cpu == OpenCpu::kInvalid; }},
    {"ABI-031", "sigtrap without a task", kAll, EINVAL,
     [](const F& f) { return f.attr.sigtrap && !f.Task(); }},
    {"INH-009", "inherit with PERF_SAMPLE_READ", kAll, EINVAL,
     [](const F& f) {
       const bool permitted = f.kernel.inherited_read && f.Samples(PERF_SAMPLE_TID);
       return f.attr.inherit && f.Samples(PERF_SAMPLE_READ) && !permitted;
     }},
    {"INI-009", "generic event for a PMU without generic events", kAll, ENOENT,
     [](const F& f) { return f.misnamed; }},
    {"INI-001", "type without a PMU", kAll, ENOENT, [](const F&) { return true; }},

    // Checks of the driver: first invalid fields, then features that the device lacks.
    {"INI-011", "unsupported config2", kAll, 0,
     [](const F& f) { return f.attr.config2 != f.pmu->config2; }, false, "config2"},
    {"ABI-015", "unsupported config3", kAll, 0, [](const F& f) { return f.config3 != 0; },
     false, "config3"},
    {"INI-011", "unsupported config4", kAll, 0,
     [](const F& f) { return f.config4 != 0; }, false, "config4"},
    {"ERR-025", "event of no CPU rejected by the driver", kAll, 0,
     [](const F& f) { return !f.pmu->tasks && f.call.cpu == OpenCpu::kAny; }, false, "no_cpu"},
    {"ERR-025", "task event rejected by the driver", kAll, 0,
     [](const F& f) { return f.Task(); }, false, "task"},
    {"INI-028", "precise_ip of a counting event", kAll, 0,
     [](const F& f) { return f.attr.precise_ip != 0 && !f.Sampling(); }, false,
     "precise_counting"},
    {"INI-012", "sampling not supported", kAll, 0,
     [](const F& f) { return f.Sampling(); }, false, "sampling"},
    {"INI-015", "branch stack not supported", kAll, 0,
     [](const F& f) { return f.Samples(PERF_SAMPLE_BRANCH_STACK); }, false, "branch_stack"},
    {"INI-028", "precise_ip not supported", kAll, 0,
     [](const F& f) { return f.attr.precise_ip != 0; }, false, "precise"},
    {"ERR-032", "exclude_idle not supported", kAll, 0,
     [](const F& f) { return f.attr.exclude_idle != 0; }, false, "exclude_idle"},
    {"ERR-032", "exclude_host not supported", kAll, 0,
     [](const F& f) { return f.attr.exclude_host != 0; }, false, "exclude_host"},

    // Checks of the PMU's capabilities, which the driver announced to the kernel.
    {"INI-014", "extended registers not supported", kShared, 0,
     [](const F& f) {
       return ((f.attr.sample_regs_user | f.attr.sample_regs_intr) &
               f.system.extended_registers) != 0;
     },
     false, "extended_registers"},
    {"INI-013", "exclude bits not supported", kAll, 0,
     [](const F& f) {
       return f.attr.exclude_user || f.attr.exclude_kernel || f.attr.exclude_hv ||
              f.attr.exclude_idle || f.attr.exclude_host || f.attr.exclude_guest;
     },
     false, "exclude"},
    {"INI-014", "extended registers not supported", kOwn, 0,
     [](const F& f) {
       return ((f.attr.sample_regs_user | f.attr.sample_regs_intr) &
               f.system.extended_registers) != 0;
     },
     false, "extended_registers"},
    {"ERR-026", "cgroup event on a PMU without task events", kAll, EINVAL,
     [](const F& f) { return f.Cgroup() && !f.pmu->tasks; }},
    {"ERR-025", "task event not supported", kShared, EINVAL,
     [](const F& f) { return f.Task() && !f.pmu->tasks; }},
    {"AUX-008", "aux_output not supported", kAll, 0,
     [](const F& f) { return f.attr.aux_output != 0; }, false, "aux_output"},
    {"AUX-008", "aux_output with a pause", kAll, EOPNOTSUPP,
     [](const F& f) { return f.attr.aux_output && f.AuxAction(); }},
    {"ERR-031", "aux_pause with aux_resume", kAll, EINVAL,
     [](const F& f) {
       return (f.reserved_3 & kOpenAuxPause) != 0 && (f.reserved_3 & kOpenAuxResume) != 0;
     }},
    {"ERR-031", "aux_start_paused not supported", kAll, 0,
     [](const F& f) { return (f.reserved_3 & kOpenAuxStartPaused) != 0; }, false,
     "aux_start_paused"},
    {"ERR-016", "cgroup event in a kernel without them", kNoCgroupEvents, EINVAL,
     [](const F& f) { return f.Cgroup(); }},
    {"ERR-016", "descriptor is not a cgroup", kAll, EBADF,
     [](const F& f) { return f.Cgroup() && f.call.who != OpenWho::kCgroup; }},
    {"ERR-017", "leader outside the cgroup", kAll, EINVAL,
     [](const F& f) { return f.Cgroup() && f.Grouped(); }},
    {"ERR-021", "exclusive PMU with events of the other scope", kAll, 0,
     [](const F& f) { return f.call.other == (f.Task() ? OpenOther::kOnCpu : OpenOther::kOnTask); },
     false, "exclusive"},
    {"ABI-025", "call chain above the limit", kAll, EOVERFLOW,
     [](const F& f) {
       return f.Samples(PERF_SAMPLE_CALLCHAIN) && f.attr.sample_max_stack > f.system.max_stack;
     }},

    // Checks of the event in its context. Kernels differ mainly in when they look up the context.
    {"INI-012", "sampling refused by the kernel", kAll, 0,
     [](const F& f) { return f.Sampling(); }, false, "no_interrupt"},
    {"ERR-023", "invalid clock", kAll, EINVAL,
     [](const F& f) {
       constexpr std::int32_t kClocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,
                                           CLOCK_BOOTTIME, CLOCK_TAI};
       return f.attr.use_clockid &&
              std::find(std::begin(kClocks), std::end(kClocks), f.attr.clockid) ==
                  std::end(kClocks);
     }},
    {"ERR-023", "clock not readable in NMI context", kAll, 0,
     [](const F& f) {
       return f.attr.use_clockid && f.attr.clockid != CLOCK_MONOTONIC &&
              f.attr.clockid != CLOCK_MONOTONIC_RAW;
     },
     false, "clock"},
    {"PRM-007", "no privilege for the task", kShared, EACCES,
     [](const F& f) {
       return f.Task() && f.call.who != OpenWho::kThisTask && !f.system.administrator;
     }},
    {"PRM-002", "no privilege for CPU events", kAll, EACCES,
     [](const F& f) { return !f.Task() && !f.MayProfileCpu(); }},
    {"ERR-025", "task event not supported", kOwn, EINVAL,
     [](const F& f) { return f.Task() && !f.pmu->tasks; }},
    {"ERR-029", "exited task", kAll, ESRCH,
     [](const F& f) { return f.Task() && f.call.who == OpenWho::kExited; }},
    {"ERR-005", "offline CPU", kShared, ENODEV,
     [](const F& f) { return !f.Task() && f.OnOfflineCpu(); }},
    {"ERR-008", "leader is a sibling", kAll, EINVAL,
     [](const F& f) { return f.Grouped() && f.call.group == OpenGroup::kSibling; }},
    {"ERR-011", "clock differs from the leader's", kAll, EINVAL,
     [](const F& f) { return f.Grouped() && f.attr.use_clockid; }},
    {"ERR-009", "CPU differs from the leader's", kAll, EINVAL,
     [](const F& f) { return f.Grouped() && f.Cpu() != f.call.group_cpu; }},
    {"ERR-010", "task differs from the leader's", kAll, EINVAL,
     [](const F& f) { return f.Grouped() && !f.SameContext(); }},
    {"ERR-013", "pinned or exclusive sibling", kAll, EINVAL,
     [](const F& f) { return f.Grouped() && (f.attr.pinned || f.attr.exclusive); }},
    {"ERR-018", "output to another CPU's buffer", kAll, EINVAL,
     [](const F& f) { return f.Output() && f.Cpu() != f.call.group_cpu; }},
    {"ERR-018", "output to another task's buffer", kAll, EINVAL,
     [](const F& f) {
       return f.Output() && f.call.group_cpu == OpenCpu::kAny && !f.SameTask();
     }},
    {"ERR-018", "output to a buffer with another clock", kAll, EINVAL,
     [](const F& f) { return f.Output() && f.attr.use_clockid; }},
    {"ERR-018", "output to a buffer with another write direction", kAll, EINVAL,
     [](const F& f) { return f.Output() && f.attr.write_backward; }},
    {"ERR-018", "output to an event without a buffer", kAll, EINVAL,
     [](const F& f) { return f.Output() && f.call.group != OpenGroup::kBuffer; }},
    {"PRM-007", "no privilege for the task", kOwn, EACCES,
     [](const F& f) {
       return f.Task() && f.call.who != OpenWho::kThisTask && !f.system.administrator;
     }},
    {"ERR-015", "group reading too long", kAll, E2BIG,
     [](const F& f) { return f.Grouped() && f.call.group == OpenGroup::kReadSizeLimit; }},
    {"ERR-005", "offline CPU", kOwn, ENODEV,
     [](const F& f) { return !f.Task() && f.OnOfflineCpu(); }},
    {"ERR-031", "aux_sample_size without a suitable leader", kAll, EINVAL,
     [](const F& f) { return f.attr.aux_sample_size != 0; }},
    {"ERR-031", "aux_pause or aux_resume without a suitable leader", kAll, EINVAL,
     [](const F& f) { return f.AuxAction(); }},
    {"ERR-021", "exclusive PMU in use", kAll, 0,
     [](const F& f) {
       return f.Task() ? f.call.other == OpenOther::kOnTask && f.call.who == OpenWho::kThisTask
                       : f.call.other == OpenOther::kOnCpu && f.call.cpu == OpenCpu::kFirst;
     },
     false, "exclusive"},
};

// Returns the index of the first check with that name.
constexpr std::size_t CheckIndex(std::string_view name) {
  std::size_t i = 0;
  while (kChecks[i].name != name) ++i;
  return i;
}

constexpr std::size_t kMisnamedPlace = CheckIndex("generic event for a PMU without generic events");
constexpr std::size_t kChoicePlace = CheckIndex("type without a PMU") + 1;
constexpr std::size_t kEventPlace = CheckIndex("extended registers not supported");
constexpr std::span<const OpenCheck> kAllChecks = kChecks;
// kCallChecks: before the kernel looks for a PMU. kNoPmuChecks: if no PMU has accepted the event.
// kChoices: by a driver that has no list of checks of its own. kEventChecks: by the kernel after a
// PMU has accepted the event.
constexpr std::span<const OpenCheck> kCallChecks = kAllChecks.first(kMisnamedPlace);
constexpr std::span<const OpenCheck> kNoPmuChecks =
    kAllChecks.subspan(kMisnamedPlace, kChoicePlace - kMisnamedPlace);
constexpr std::span<const OpenCheck> kChoices =
    kAllChecks.subspan(kChoicePlace, kEventPlace - kChoicePlace);
constexpr std::span<const OpenCheck> kEventChecks = kAllChecks.subspan(kEventPlace);

}  // namespace

perf_event_attr OpenCall::Attr() const {
  perf_event_attr out = {};
  std::memcpy(&out, attr.data(), PERF_ATTR_SIZE_VER7);
  return out;
}

void OpenCall::Edit(const std::function<void(perf_event_attr&)>& edit) {
  perf_event_attr copy = Attr();
  edit(copy);
  std::memcpy(attr.data(), &copy, PERF_ATTR_SIZE_VER7);
}

std::span<const OpenCheck> OpenChecks() { return kChecks; }
std::span<const OpenCheck> OpenEventChecks() { return kEventChecks; }

OpenModel::OpenModel(OpenSystem system, OpenPmu pmu, std::vector<OpenPmu> others)
    : system_(std::move(system)), pmus_(std::move(others)) {
  pmus_.insert(pmus_.begin(), std::move(pmu));
  const auto here = [this](std::span<const OpenCheck> checks, const OpenPmu* of) {
    std::vector<const OpenCheck*> made;
    for (const OpenCheck& check : checks) {
      const bool chosen = check.choice.empty() || (of != nullptr && of->Refuses(check.choice));
      if (chosen && Includes(check.where, system_.behaviour)) made.push_back(&check);
    }
    return made;
  };
  checks_.call = here(kCallChecks, nullptr);
  for (const OpenPmu& each : pmus_) {
    checks_.driver.push_back(here(each.driver.empty() ? kChoices : each.driver, &each));
    checks_.event.push_back(here(kEventChecks, &each));
  }
}

OpenCall OpenModel::ValidCall() const {
  const OpenPmu& target = pmu();
  OpenCall call;
  call.attr.resize(256);
  call.group_type = target.type;
  call.group_software = target.software;
  call.Edit([&target](perf_event_attr& attr) {
    attr.size = PERF_ATTR_SIZE_VER7;
    attr.type = target.type;
    attr.config = target.config;
    attr.config1 = target.config1;
    attr.config2 = target.config2;
    attr.bp_type = target.bp_type;
    attr.disabled = 1;
  });
  if (!target.tasks) {
    call.who = call.group_who = OpenWho::kAllTasks;
    call.cpu = call.group_cpu = OpenCpu::kFirst;
  }
  return call;
}

OpenFacts OpenModel::Read(const OpenCall& call) const {
  OpenFacts facts = {.call = call,
                     .system = system_,
                     .kernel = system_.behaviour,
                     .pmu = &pmu(),
                     .known = attr_size()};
  std::vector<std::byte> bytes(256);
  const auto size = At<std::uint32_t>(call.attr, offsetof(perf_event_attr, size));
  facts.size = size == 0 ? kFirstSize : size;
  std::copy_n(call.attr.begin(), std::min({facts.size, facts.known, bytes.size()}), bytes.begin());
  std::memcpy(&facts.attr, bytes.data(), PERF_ATTR_SIZE_VER7);
  facts.flag_bits = At<std::uint64_t>(bytes, kOpenFlagBits);
  facts.reserved_3 = At<std::uint32_t>(bytes, kOpenReserved3);
  facts.config3 = At<std::uint64_t>(bytes, kOpenConfig3);
  facts.config4 = At<std::uint64_t>(bytes, kOpenConfig4);
  return facts;
}

std::vector<std::size_t> OpenModel::CandidatePmus(OpenFacts& facts) const {
  std::vector<std::size_t> all, named;
  std::uint32_t type = facts.attr.type;
  const std::uint64_t upper = facts.attr.config >> 32;
  const bool generic = type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;
  if (generic && upper != 0) {
    type = static_cast<std::uint32_t>(upper);
    facts.attr.config &= 0xffff'ffff;
  }
  for (std::size_t i = 0; i < pmus_.size(); ++i) {
    all.push_back(i);
    const bool by_type = pmus_[i].type != PERF_TYPE_SOFTWARE || system_.behaviour.clock_pmus;
    if (pmus_[i].type == type && by_type) named.push_back(i);
  }
  if (named.empty()) return all;
  facts.misnamed = type != facts.attr.type && type != PERF_TYPE_RAW && !pmus_[named[0]].extended;
  return facts.misnamed ? std::vector<std::size_t>() : named;
}

OpenPrediction OpenModel::PredictionFor(const OpenCheck& check, const OpenPmu& pmu) const {
  return {check.choice.empty() ? check.error : pmu.refusals.find(check.choice)->second, &check};
}

OpenPrediction OpenModel::FirstFailing(const std::vector<const OpenCheck*>& checks,
                                       const OpenFacts& facts) const {
  for (const OpenCheck* check : checks) {
    if (check->refuses(facts)) return PredictionFor(*check, *facts.pmu);
  }
  return {};
}

OpenPrediction OpenModel::Predict(const OpenCall& call) const {
  OpenFacts facts = Read(call);
  OpenPrediction refused = FirstFailing(checks_.call, facts);
  if (refused.check != nullptr) return refused;

  OpenPrediction not_found;
  for (const std::size_t i : CandidatePmus(facts)) {
    facts.pmu = &pmus_[i];
    if (!facts.AcceptsType()) continue;
    OpenPrediction driver = FirstFailing(checks_.driver[i], facts);
    // ENOENT means that another PMU may accept the event.
    if (driver.error == ENOENT) {
      not_found = driver;
      continue;
    }
    if (driver.check == nullptr) return FirstFailing(checks_.event[i], facts);
    if (pmus_[i].driver.empty()) {
      for (const OpenCheck* check : checks_.driver[i]) {
        if (check->refuses(facts)) driver.any_of.push_back(PredictionFor(*check, pmus_[i]).error);
      }
    }
    return driver;
  }
  if (not_found.check != nullptr) return not_found;
  return FirstFailing({&kNoPmuChecks[0], &kNoPmuChecks[1]}, facts);
}

OpenPrediction OpenModel::PredictBeforePmu(const OpenCall& call) const {
  return FirstFailing(checks_.call, Read(call));
}

OpenPrediction OpenModel::PredictModify(const OpenCall& call) const {
  static constexpr OpenCheck kOther = {"ABI-036", "another type", kAll, EINVAL};
  static constexpr OpenCheck kNever = {"ABI-036", "type that cannot be modified", kAll, EOPNOTSUPP};
  OpenPrediction parsed;
  const OpenFacts facts = Read(call);
  for (const OpenCheck* check : checks_.call) {
    if (!check->parser || !check->refuses(facts)) continue;
    parsed = PredictionFor(*check, pmu());
    break;
  }
  if (parsed.check != nullptr) return parsed;
  const bool same = At<std::uint32_t>(call.attr, 0) == pmu().type;
  return same ? OpenPrediction{EOPNOTSUPP, &kNever} : OpenPrediction{EINVAL, &kOther};
}

}  // namespace pmuconf
