// SPDX-License-Identifier: Apache-2.0
// Violations: for each check one change that makes a call of perf_event_open(2) fail it.
#include <time.h>

#include "oracle/open_model.h"

namespace pmuconf {
namespace {

using Call = OpenCall;
using Attr = perf_event_attr;

void Size(Call& call, std::uint32_t size) { call.Put(offsetof(Attr, size), size); }

// Adds sample types; other sample types of the call stay.
void Samples(Call& call, std::uint64_t types) {
  call.Edit([types](Attr& attr) { attr.sample_type |= types; });
}

void Branches(Call& call, std::uint64_t of) {
  Samples(call, PERF_SAMPLE_BRANCH_STACK);
  call.Edit([of](Attr& attr) { attr.branch_sample_type = of; });
}

void Clock(Call& call, std::int32_t clock) {
  call.Edit([clock](Attr& attr) {
    attr.use_clockid = 1;
    attr.clockid = clock;
  });
}

// Redirects the output to the ring buffer of an event that is not the leader.
void Output(Call& call) {
  call.group = OpenGroup::kBuffer;
  call.flags |= PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;
}

constexpr OpenViolation kViolations[] = {
    {"unknown flag", [](Call& c) { c.flags |= 1ul << 17; }},
    {"unreadable attr", [](Call& c) { c.readable = 0; }},
    {"size 63", [](Call& c) { Size(c, 63); }},
    {"size 1 MiB", [](Call& c) { Size(c, 1u << 20); }},
    {"unknown byte",
     [](Call& c) {
       Size(c, 208);
       c.Put(200, std::uint8_t{1});
     }},
    {"attr into unmapped memory",
     [](Call& c) {
       Size(c, 112);
       c.readable = 80;
     }},
    {"__reserved_1", [](Call& c) { c.Put(kOpenFlagBits + 7, std::uint8_t{0x40}); }},
    {"__reserved_2", [](Call& c) { c.Edit([](Attr& a) { a.__reserved_2 = 2; }); }},
    {"__reserved_3", [](Call& c) { c.Put(kOpenReserved3, std::uint32_t{0x80}); }},
    {"config3",
     [](Call& c) {
       Size(c, 136);
       c.Put(kOpenConfig3, std::uint64_t{1});
     },
     [](const OpenBehaviour& b) { return b.attr_size < kOpenConfig4; }},
    {"config3",
     [](Call& c) {
       Size(c, 136);
       c.Put(kOpenConfig3, std::uint64_t{1});
     },
     [](const OpenBehaviour& b) { return b.attr_size >= kOpenConfig4; }, false, false, "config3"},
    {"unknown sample_type", [](Call& c) { Samples(c, 1ull << 40); }},
    {"unknown read_format", [](Call& c) { c.Edit([](Attr& a) { a.read_format |= 1u << 9; }); }},
    {"unknown branch", [](Call& c) { Branches(c, PERF_SAMPLE_BRANCH_ANY | 1u << 30); }},
    {"branches of no kind", [](Call& c) { Branches(c, PERF_SAMPLE_BRANCH_USER); }},
    {"no user register", [](Call& c) { Samples(c, PERF_SAMPLE_REGS_USER); }},
    {"no interrupt register", [](Call& c) { Samples(c, PERF_SAMPLE_REGS_INTR); }},
    {"user stack of 12 bytes",
     [](Call& c) {
       Samples(c, PERF_SAMPLE_STACK_USER);
       c.Edit([](Attr& a) { a.sample_stack_user = 12; });
     }},
    {"two weights", [](Call& c) { Samples(c, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT); }},
    {"inherit_thread", [](Call& c) { c.Edit([](Attr& a) { a.inherit_thread = 1; }); }},
    {"remove_on_exec with enable_on_exec",
     [](Call& c) { c.Edit([](Attr& a) { a.remove_on_exec = a.enable_on_exec = 1; }); }},
    {"sigtrap", [](Call& c) { c.Edit([](Attr& a) { a.sigtrap = 1; }); }},
    {"frequency too high",
     [](Call& c) {
       c.Edit([](Attr& a) {
         a.freq = 1;
         a.sample_freq = 1ull << 40;
       });
     }},
    {"period of 64 bits", [](Call& c) { c.Edit([](Attr& a) { a.sample_period = 1ull << 63; }); }},
    {"cgroup -1",
     [](Call& c) {
       c.flags |= PERF_FLAG_PID_CGROUP;
       c.who = OpenWho::kAllTasks;
     }},
    {"no cgroup",
     [](Call& c) {
       c.flags |= PERF_FLAG_PID_CGROUP;
       c.who = OpenWho::kFile;
       c.cpu = OpenCpu::kFirst;
     }},
    {"no descriptor left", [](Call& c) { c.descriptors_available = false; }},
    {"closed group_fd", [](Call& c) { c.group = OpenGroup::kClosed; }},
    {"group_fd of a file", [](Call& c) { c.group = OpenGroup::kFile; }},
    {"group_fd of a dead event", [](Call& c) { c.group = OpenGroup::kExitedTask; }, nullptr, true},
    {"no such task", [](Call& c) { c.who = OpenWho::kNoTask; }},
    {"inherit under a leader without",
     [](Call& c) {
       c.group = OpenGroup::kLeader;
       c.Edit([](Attr& a) { a.inherit = 1; });
     },
     nullptr, true},
    {"neither task nor CPU",
     [](Call& c) {
       c.who = OpenWho::kAllTasks;
       c.cpu = OpenCpu::kAny;
     }},
    {"impossible CPU", [](Call& c) { c.cpu = OpenCpu::kInvalid; }},
    {"sigtrap on a CPU",
     [](Call& c) {
       c.who = OpenWho::kAllTasks;
       c.cpu = OpenCpu::kFirst;
       c.Edit([](Attr& a) { a.sigtrap = a.remove_on_exec = 1; });
     }},
    {"inherited samples of counts",
     [](Call& c) {
       Samples(c, PERF_SAMPLE_READ);
       c.Edit([](Attr& a) { a.inherit = 1; });
     }},
    {"unknown type", [](Call& c) { c.Edit([](Attr& a) { a.type = 0x7fff'fff0; }); }},
    {"config2", [](Call& c) { c.Edit([](Attr& a) { a.config2 ^= 1ull << 63; }); }, nullptr, false,
     false, "config2"},
    {"no CPU",
     [](Call& c) {
       c.who = OpenWho::kOtherTask;
       c.cpu = OpenCpu::kAny;
     },
     nullptr, false, false, "no_cpu"},
    {"task", [](Call& c) { c.who = OpenWho::kOtherTask; }, nullptr, false, false, "task"},
    {"precise counting", [](Call& c) { c.Edit([](Attr& a) { a.precise_ip = 1; }); }, nullptr, false,
     false, "precise_counting"},
    {"precise", [](Call& c) { c.Edit([](Attr& a) { a.precise_ip = 2; }); }, nullptr, false, false,
     "precise"},
    {"sampling", [](Call& c) { c.Edit([](Attr& a) { a.sample_period = 1'000; }); }, nullptr, false,
     false, "sampling"},
    {"sampling without interrupt",
     [](Call& c) { c.Edit([](Attr& a) { a.sample_period = 1'000; }); }, nullptr, false, false,
     "no_interrupt"},
    {"branches", [](Call& c) { Branches(c, PERF_SAMPLE_BRANCH_ANY); }, nullptr, false, false,
     "branch_stack"},
    {"exclude_idle", [](Call& c) { c.Edit([](Attr& a) { a.exclude_idle = 1; }); }, nullptr, false,
     false, "exclude_idle"},
    {"exclude_host", [](Call& c) { c.Edit([](Attr& a) { a.exclude_host = 1; }); }, nullptr, false,
     false, "exclude_host"},
    {"exclude_user", [](Call& c) { c.Edit([](Attr& a) { a.exclude_user = 1; }); }, nullptr, false,
     false, "exclude"},
    {"extended registers",
     [](Call& c) { c.Edit([](Attr& a) { a.sample_regs_user = 1ull << 40; }); }, nullptr, false,
     false, "extended_registers"},
    {"cgroup",
     [](Call& c) {
       c.flags |= PERF_FLAG_PID_CGROUP;
       c.who = OpenWho::kCgroup;
       c.cpu = OpenCpu::kFirst;
     }},
    {"aux_output", [](Call& c) { c.Edit([](Attr& a) { a.aux_output = 1; }); }, nullptr, false,
     false, "aux_output"},
    {"aux_pause and aux_resume", [](Call& c) { c.Put(kOpenReserved3, std::uint32_t{6}); }},
    {"aux_start_paused", [](Call& c) { c.Put(kOpenReserved3, std::uint32_t{1}); }, nullptr, false,
     false, "aux_start_paused"},
    {"aux_pause", [](Call& c) { c.Put(kOpenReserved3, std::uint32_t{2}); }},
    {"leader outside the cgroup",
     [](Call& c) {
       c.flags |= PERF_FLAG_PID_CGROUP;
       c.who = OpenWho::kCgroup;
       c.cpu = OpenCpu::kFirst;
       c.group = OpenGroup::kLeader;
     }},
    {"in use on a CPU", [](Call& c) { c.other = OpenOther::kOnCpu; }, nullptr, true, false,
     "exclusive"},
    {"in use on the task", [](Call& c) { c.other = OpenOther::kOnTask; }, nullptr, true, false,
     "exclusive"},
    {"long call chain",
     [](Call& c) {
       Samples(c, PERF_SAMPLE_CALLCHAIN);
       c.Edit([](Attr& a) { a.sample_max_stack = 0xffff; });
     }},
    {"unknown clock", [](Call& c) { Clock(c, CLOCK_THREAD_CPUTIME_ID); }},
    {"CLOCK_TAI", [](Call& c) { Clock(c, CLOCK_TAI); }, nullptr, false, false, "clock"},
    {"exited task", [](Call& c) { c.who = OpenWho::kExited; }, nullptr, true},
    {"sibling as leader", [](Call& c) { c.group = OpenGroup::kSibling; }},
    {"another clock than the leader's",
     [](Call& c) {
       c.group = OpenGroup::kLeader;
       Clock(c, CLOCK_MONOTONIC);
     }},
    {"another CPU than the leader's",
     [](Call& c) {
       c.group = OpenGroup::kLeader;
       c.cpu = OpenCpu::kSecond;
     },
     nullptr, false, true},
    {"another task than the leader's",
     [](Call& c) {
       c.group = OpenGroup::kLeader;
       c.who = OpenWho::kOtherTask;
     },
     nullptr, true},
    {"pinned sibling",
     [](Call& c) {
       c.group = OpenGroup::kLeader;
       c.Edit([](Attr& a) { a.pinned = 1; });
     }},
    {"exclusive sibling",
     [](Call& c) {
       c.group = OpenGroup::kLeader;
       c.Edit([](Attr& a) { a.exclusive = 1; });
     }},
    {"output to another CPU",
     [](Call& c) {
       Output(c);
       c.cpu = OpenCpu::kSecond;
     },
     nullptr, false, true},
    {"output to another task",
     [](Call& c) {
       Output(c);
       c.who = OpenWho::kOtherTask;
     },
     nullptr, true},
    {"output with another clock",
     [](Call& c) {
       Output(c);
       Clock(c, CLOCK_MONOTONIC_RAW);
     }},
    {"output backwards",
     [](Call& c) {
       Output(c);
       c.Edit([](Attr& a) { a.write_backward = 1; });
     }},
    {"output to no buffer",
     [](Call& c) {
       c.group = OpenGroup::kLeader;
       c.flags |= PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;
     }},
    {"aux_sample_size", [](Call& c) { c.Edit([](Attr& a) { a.aux_sample_size = 4'096; }); }},
    {"unchecked rights of a task", [](Call& c) { c.who = OpenWho::kOtherTask; }, nullptr, true},
    {"everyone",
     [](Call& c) {
       c.who = OpenWho::kAllTasks;
       c.cpu = OpenCpu::kFirst;
     }},
    {"physical addresses", [](Call& c) { Samples(c, PERF_SAMPLE_PHYS_ADDR); }},
    {"call chain", [](Call& c) { Samples(c, PERF_SAMPLE_CALLCHAIN); }},
    {"namespaces", [](Call& c) { c.Edit([](Attr& a) { a.namespaces = 1; }); }},
};

}  // namespace

std::span<const OpenViolation> OpenViolations() { return kViolations; }

std::vector<const OpenViolation*> ApplicableViolations(const OpenModel& model) {
  const OpenPmu& pmu = model.pmu();
  const bool two_cpus = pmu.cpu_local && pmu.cpus > 1;
  std::vector<const OpenViolation*> fit;
  for (const OpenViolation& violation : kViolations) {
    const bool can = Includes(violation.where, model.system().behaviour) &&
                     (pmu.tasks || !violation.tasks) && (two_cpus || !violation.cpu_local) &&
                     (violation.choice.empty() || pmu.Refuses(violation.choice));
    if (can) fit.push_back(&violation);
  }
  return fit;
}

}  // namespace pmuconf
