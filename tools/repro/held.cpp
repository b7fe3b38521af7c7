// SPDX-License-Identifier: Apache-2.0
// Tracks the events of a program.
#include "tools/repro/held.h"

#include <linux/perf_event.h>

#include <cstring>
#include <utility>

namespace pmuconf {
namespace {

bool OfSlot(OpenGroup group) {
  return group != OpenGroup::kNone && group != OpenGroup::kClosed && group != OpenGroup::kFile;
}

}  // namespace

bool PlainLeader(const ProgramMachine& machine, const OpenCall& call) {
  perf_event_attr attr = call.Attr();
  const OpenPmu* const pmu = machine.PmuOf(attr.type);
  if (pmu == nullptr || pmu->events.empty() || pmu->type == PERF_TYPE_BREAKPOINT) return false;
  const bool task = call.who == OpenWho::kThisTask && call.cpu == OpenCpu::kAny;
  const bool cpu = call.who == OpenWho::kEveryone && call.cpu == OpenCpu::kFirst;
  perf_event_attr plain = {};
  plain.type = pmu->type;
  plain.config = pmu->config;
  plain.config1 = pmu->config1;
  plain.config2 = pmu->config2;
  plain.disabled = 1;
  attr.size = 0;
  return (task || cpu) && (call.flags & ~std::uint64_t{PERF_FLAG_FD_CLOEXEC}) == 0 &&
         std::memcmp(&attr, &plain, sizeof(attr)) == 0;
}

std::optional<OpenCall> HeldEvents::Question(const ProgramMachine& machine, OpenCall call,
                                             unsigned leader) const {
  if (machine.IsTrace(call.Attr().type)) return std::nullopt;
  // The model does not count the few breakpoint registers of the processor.
  if (breakpoints_ && call.Attr().type == PERF_TYPE_BREAKPOINT) return std::nullopt;
  if (!OfSlot(call.group)) return call;
  const Held& held = slots_[leader];
  if (!held.open) {
    call.group = OpenGroup::kClosed;
    return call;
  }
  if (!held.plain) return std::nullopt;
  call.group = held.buffer ? OpenGroup::kBuffer : OpenGroup::kLeader;
  call.group_who = held.call.who;
  call.group_cpu = held.call.cpu;
  call.group_type = held.call.Attr().type;
  call.group_software = machine.PmuOf(call.group_type)->software;
  return call;
}

void HeldEvents::Opened(const ProgramMachine& machine, const OpenCall& call, unsigned slot,
                        unsigned leader) {
  Held held;
  held.open = true;
  held.call = call;
  held.plain = call.group == OpenGroup::kNone && PlainLeader(machine, call);
  if (OfSlot(call.group)) slots_[leader].plain = false;
  slots_[slot] = std::move(held);
  breakpoints_ = breakpoints_ || call.Attr().type == PERF_TYPE_BREAKPOINT;
}

void HeldEvents::Closed(unsigned slot) { slots_[slot] = {}; }

void HeldEvents::AllTouched() {
  for (Held& held : slots_) held.plain = false;
}

}  // namespace pmuconf
