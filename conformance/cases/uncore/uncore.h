// SPDX-License-Identifier: Apache-2.0
// Helpers of the cases about a PMU of the whole machine: its CPU, its range and its timer.
#ifndef PMUCONF_CASES_UNCORE_UNCORE_H_
#define PMUCONF_CASES_UNCORE_UNCORE_H_

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>

#include "cases/common.h"
#include "harness/offline.h"

namespace pmuconf {

// The parameter of the reference driver that moves the events. Other drivers have none.
inline std::string CpuParameter() {
  return "/sys/module/" + target().module() + "/parameters/uncore_cpu";
}
inline bool HasCpuParameter() { return ReadFile(CpuParameter()).has_value(); }

// The CPU of the case that goes offline: the driver moves the events away from it.
inline int LeavingCpu() { return std::max(target().Cpu(0), target().Cpu(1)); }

// Loads the module of the target again, on `cpu`: many drivers keep their events on the CPU that
// loads them. No event may be open. Returns false if this machine has no file of the module.
inline bool LoadModuleOn(int cpu) {
  const std::string& name = target().module();
  for (const std::string& file : ListFolder("/modules")) {
    std::string stem = file.substr(0, file.rfind('.'));
    std::ranges::replace(stem, '-', '_');
    if (stem != name) continue;
    const Fd module(open(("/modules/" + file).c_str(), O_RDONLY | O_CLOEXEC));
    if (module.get() < 0 || syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) != 0) return false;
    const OnCpu here(cpu);
    const std::string& parameters = target().machine().parameters;
    if (syscall(SYS_finit_module, module.get(), parameters.c_str(), 0) != 0)
      throw BrokenErrno("loading " + file + " again", errno);
    if (TypeOfPmu(target().device()) != target().type()) throw Broken("the PMU has another type");
    return true;
  }
  return false;
}

// Moves the events of the target to `cpu`: by the parameter, or by taking the other CPUs offline
// for a moment. SKIPs the case if that is not possible.
inline void MoveEventsTo(int cpu) {
  if (HasCpuParameter()) {
    std::ofstream file(CpuParameter());
    file << cpu << std::flush;
    if (!file.good()) {
      SkipCase(Cap::kHotplug, CpuParameter() + " does not choose the CPU of the events");
    }
    return;
  }
  std::deque<Offline> others;
  while (target().DesignatedCpu() != cpu) {
    const int now = target().DesignatedCpu();
    if (!CanLeave(now)) {
      SkipCase(Cap::kHotplug, "the events are on CPU " + std::to_string(now) +
                                  ", which cannot go offline: load the module on another CPU");
    }
    if (std::ranges::count(OnlineCpus(), now) == 0) {
      ADD_FAILURE() << "cpumask names CPU " << now << ", which is offline";
      return;
    }
    others.emplace_back(now);
  }
}

// As MoveEventsTo. If the events cannot leave their CPU, it loads the module on `cpu`, so no event
// may be open.
inline void StartEventsOn(int cpu) {
  const int now = target().DesignatedCpu();
  if (now != cpu && !HasCpuParameter() && !CanLeave(now)) LoadModuleOn(cpu);
  MoveEventsTo(cpu);
}

// Checks that the driver has moved the events from `cpu`, which is offline, to another CPU.
inline void ExpectMovedFrom(int cpu, const Rule& rule) {
  const int now = target().DesignatedCpu();
  EXPECT_NE(now, cpu) << rule;
  EXPECT_EQ(std::ranges::count(OnlineCpus(), now), 1) << rule << " CPU " << now;
}

// The number of counts after which a counter of the target is 0 again. Of 64 bits: half of it. So
// each number of ranges fits into a pulse, and a counter that starts in the middle overflows.
inline std::uint64_t CounterRange() {
  return target().width() == 64 ? std::uint64_t{1} << 63 : target().counter_mask() + 1;
}

// How often the driver's timer has read the counters.
inline std::uint64_t Polls() { return port().Stats().pmi; }

// Whether the driver's timer reads the counters within five seconds.
inline bool PollsContinue() {
  const std::uint64_t before = Polls();
  return RepeatUntil([] { sched_yield(); }, [&] { return Polls() > before; });
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_UNCORE_UNCORE_H_
