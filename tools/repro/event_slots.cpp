// SPDX-License-Identifier: Apache-2.0
// Tracks the events of a program.
#include "tools/repro/event_slots.h"

#include <linux/perf_event.h>

#include <cstring>
#include <utility>

namespace pmuconf {
namespace {

bool NeedsSlot(OpenGroup group) {
  return group != OpenGroup::kNone && group != OpenGroup::kClosed && group != OpenGroup::kFile;
}

}  // namespace

bool IsPlainLeader(const ProgramMachine& machine, const OpenCall& call) {
  perf_event_attr attr = call.Attr();
  const OpenPmu* const pmu = machine.PmuOf(attr.type);
  if (pmu == nullptr || pmu->events.empty() || pmu->type == PERF_TYPE_BREAKPOINT) return false;
  const bool task = call.who == OpenWho::kThisTask && call.cpu == OpenCpu::kAny;
  const bool cpu = call.who == OpenWho::kAllTasks && call.cpu == OpenCpu::kFirst;
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

std::optional<OpenCall> EventSlots::ModelCall(const ProgramMachine& machine, OpenCall call,
                                              unsigned leader) const {
  if (machine.IsTrace(call.Attr().type)) return std::nullopt;
  // The model does not count the few breakpoint registers of the processor.
  if (breakpoints_ && call.Attr().type == PERF_TYPE_BREAKPOINT) return std::nullopt;
  if (!NeedsSlot(call.group)) return call;
  const SlotState& state = slots_[leader];
  if (unknown_) return std::nullopt;
  if (!state.open) {
    call.group = OpenGroup::kClosed;
    return call;
  }
  if (!state.plain) return std::nullopt;
  call.group = state.buffer ? OpenGroup::kBuffer : OpenGroup::kLeader;
  call.group_who = state.call.who;
  call.group_cpu = state.call.cpu;
  call.group_type = state.call.Attr().type;
  call.group_software = machine.PmuOf(call.group_type)->software;
  return call;
}

void EventSlots::Opened(const ProgramMachine& machine, const OpenCall& call, unsigned slot,
                        unsigned leader) {
  SlotState state;
  state.open = true;
  state.call = call;
  state.plain = call.group == OpenGroup::kNone && IsPlainLeader(machine, call);
  if (NeedsSlot(call.group)) slots_[leader].plain = false;
  slots_[slot] = std::move(state);
  breakpoints_ = breakpoints_ || call.Attr().type == PERF_TYPE_BREAKPOINT;
}

void EventSlots::Duplicated(unsigned slot, unsigned to) {
  // The model knows each event by one slot.
  slots_[slot].plain = false;
  slots_[to] = slots_[slot];
}

void EventSlots::Closed(unsigned slot) { slots_[slot] = {}; }

void EventSlots::AllModified() {
  for (SlotState& state : slots_) state.plain = false;
}

void EventSlots::AllUnknown() {
  AllModified();
  unknown_ = breakpoints_ = true;
}

}  // namespace pmuconf
