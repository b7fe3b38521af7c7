// SPDX-License-Identifier: Apache-2.0
// Replaces the placeholders of programs with the numbers of a machine.
#include "tools/repro/machine.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "harness/case.h"
#include "oracle/open_machine.h"
#include "system/context.h"
#include "system/root_cgroup.h"
#include "system/sysfs.h"
#include "tools/repro/program.h"

namespace pmuconf {
namespace {

constexpr std::uint32_t kUnusedType = 0x4000'0000;
constexpr std::uint64_t kNoTracepoint = 1ull << 40;
constexpr std::uint64_t kHalf = 32;

OpenModel ModelFor(OpenSystem system, const std::vector<OpenPmu>& pmus, bool rights) {
  system.administrator = rights;
  return OpenModel(std::move(system), pmus.front(), {pmus.begin() + 1, pmus.end()});
}

bool Generic(const perf_event_attr& attr) {
  return attr.type == PERF_TYPE_HARDWARE || attr.type == PERF_TYPE_HW_CACHE;
}

std::optional<std::uint32_t> TraceTypeOf(const std::string& pmu) {
  const std::string trace = pmu + "_trace";
  const std::vector<std::string> there = ListFolder(kEventSource);
  if (std::find(there.begin(), there.end(), trace) == there.end()) return std::nullopt;
  return TypeOfPmu(trace);
}

}  // namespace

ProgramMachine::ProgramMachine(OpenSystem system, const std::vector<OpenPmu>& pmus,
                               std::string port, Fd cgroup, std::optional<std::uint32_t> trace)
    : with_(ModelFor(system, pmus, true)),
      without_(ModelFor(std::move(system), pmus, false)),
      port_(std::move(port)),
      cgroup_(std::move(cgroup)),
      trace_(trace) {}

const OpenPmu* ProgramMachine::PmuOf(std::uint32_t type) const {
  const auto& pmus = with_.pmus();
  const auto found = std::find_if(pmus.begin(), pmus.end(),
                                  [type](const OpenPmu& pmu) { return pmu.type == type; });
  return found == pmus.end() ? nullptr : &*found;
}

bool ProgramMachine::IsOpaque(const perf_event_attr& attr) const {
  const OpenPmu& own = with_.pmu();
  if (own.events.empty() && attr.type == own.type) return true;
  if (!Generic(attr) && attr.type != PERF_TYPE_RAW) return false;
  const OpenPmu* const raw = PmuOf(PERF_TYPE_RAW);
  return own.events.empty() || (raw != nullptr && raw->events.empty());
}

OpenCall ProgramMachine::Bind(OpenCall call) const {
  const auto known = [this](std::uint32_t type) {
    if (type == kProgramOwnType) return with_.pmu().type;
    if (type == kProgramTraceType) return trace_.value_or(type | kUnusedType);
    const OpenPmu* const pmu = PmuOf(type);
    return pmu != nullptr && pmu->events.empty() ? type | kUnusedType : type;
  };
  call.Edit([&](perf_event_attr& attr) {
    if (Generic(attr) && attr.config >> kHalf != 0) {
      const std::uint64_t named = known(static_cast<std::uint32_t>(attr.config >> kHalf));
      attr.config = (attr.config & 0xffff'ffff) | named << kHalf;
    }
    attr.type = known(attr.type);
    if (attr.type != PERF_TYPE_TRACEPOINT) return;
    const OpenPmu* const pmu = PmuOf(attr.type);
    const std::uint64_t place = attr.config - kProgramTracepoints;
    const bool there = pmu != nullptr && place < pmu->events.size();
    attr.config = there ? pmu->events[place].config : attr.config | kNoTracepoint;
  });
  return call;
}

ProgramMachine LocalProgramMachine() {
  const OpenSystem system = LocalSystem();
  const std::string& device = target().device();
  return {system, LocalPmus(system), "/dev/" + device, RootCgroup(), TraceTypeOf(device)};
}

ProgramMachine ProgramMachineFor(const std::string& pmu) {
  const OpenSystem system = LocalSystem();
  return {system, LocalPmusFor(pmu, system), "/dev/" + pmu, RootCgroup(), TraceTypeOf(pmu)};
}

std::vector<Fd> HoldStaticKeys(const ProgramMachine& machine) {
  std::vector<Fd> held;
  for (const OpenPmu& pmu : machine.model(true).pmus()) {
    if (!pmu.software || pmu.type == PERF_TYPE_BREAKPOINT) continue;
    for (const OpenEvent& event : pmu.events) {
      perf_event_attr attr = {};
      attr.size = PERF_ATTR_SIZE_VER7;
      attr.type = event.type;
      attr.config = event.config;
      attr.disabled = 1;
      attr.sample_type = PERF_SAMPLE_CALLCHAIN;
      held.emplace_back(
          static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    }
  }
  return held;
}

}  // namespace pmuconf
