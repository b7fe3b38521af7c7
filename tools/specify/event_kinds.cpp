// SPDX-License-Identifier: Apache-2.0
// Tables of events: those of the reference PMUs, and the kernel's own.
#include "tools/specify/event_kinds.h"

#include <linux/perf_event.h>

#include <array>
#include <span>

#include "oracle/refpmu_events.h"
#include "target/target.h"
#include "tools/repro/program.h"

namespace pmuconf {
namespace {

constexpr unsigned kFixedShift = 32;
constexpr unsigned kGeneral = 4, kFixed = 3;
constexpr std::uint64_t kAll = 0xf, kFirstTwo = 0x3, kLast = 0x8, kEven = 0x5;

// The clocks are PMUs of their own. The PMU of the target is 0.
constexpr unsigned kSoftwarePmu = 1, kFirstClockPmu = 2, kTracepointPmu = 4;

struct UncoreEvent {
  std::uint16_t code;
  std::uint64_t counters;
};
constexpr std::array<UncoreEvent, 5> kUncore = {
    {{0x0101, kAll}, {0x0201, kAll}, {0x0104, kAll}, {0x0204, kAll}, {0x0108, kFirstTwo}}};

struct SoftwareEvent {
  std::uint64_t config;
  SpecSource source;
};
constexpr std::array<SoftwareEvent, 7> kSoftware = {
    {{PERF_COUNT_SW_DUMMY, SpecSource::kNothing},
     {PERF_COUNT_SW_CPU_CLOCK, SpecSource::kTime},
     {PERF_COUNT_SW_TASK_CLOCK, SpecSource::kTime},
     {PERF_COUNT_SW_PAGE_FAULTS, SpecSource::kFaults},
     {PERF_COUNT_SW_CONTEXT_SWITCHES, SpecSource::kSwitches},
     {PERF_COUNT_SW_CPU_MIGRATIONS, SpecSource::kNothing},
     {PERF_COUNT_SW_EMULATION_FAULTS, SpecSource::kNothing}}};

int ShiftOf(int fixed) {
  constexpr std::array<int, 3> kShifts = {1, 0, 2};  // instructions, cycles, ref-cycles
  return fixed < 0 ? -1 : kShifts[static_cast<std::size_t>(fixed)];
}

std::uint64_t CountersOf(const RefpmuEvent& event) {
  std::uint64_t counters = kAll;
  if (event.place == RefpmuPlace::kFirstTwo) counters = kFirstTwo;
  if (event.place == RefpmuPlace::kLast) counters = kLast;
  if (event.place == RefpmuPlace::kPairs) counters = kEven;
  if (event.fixed >= 0) counters |= 1ull << (kFixedShift + static_cast<unsigned>(event.fixed));
  return counters;
}

void AddOwn(TargetKinds& kinds, std::uint16_t code, SpecKind kind) {
  const std::span<const std::uint32_t> pulses = ProgramPulses();
  for (unsigned i = 0; i < pulses.size(); ++i) {
    if (pulses[i] != code) continue;
    kind.source = SpecSource::kPulses;
    kind.code = code;
    kinds.events.push_back({kProgramOwnType, code, kind, i});
  }
}

}  // namespace

TargetKinds KindsOf(const std::string& target) {
  TargetKinds kinds;
  if (target == "refpmu") {
    for (const RefpmuEvent& event : kRefpmuEvents) {
      SpecKind kind;
      kind.shift = ShiftOf(event.fixed);
      kind.counters = CountersOf(event);
      kind.wide = event.place == RefpmuPlace::kPairs;
      AddOwn(kinds, static_cast<std::uint16_t>(event.code), kind);
    }
    kinds.machine.fixed = kFixed;
    kinds.clock = true;
  } else if (target == "refpmu_uncore") {
    for (const UncoreEvent& event : kUncore) {
      SpecKind kind;
      kind.counters = event.counters;
      AddOwn(kinds, event.code, kind);
    }
    kinds.tasks = kinds.sampling = kinds.excludes = false;
    kinds.machine.disabled_members_need_room = true;
  } else if (target != "software" && target != "tracepoint") {
    throw ConfigError("no specification of target '" + target +
                      "' (known: refpmu, refpmu_uncore, software, tracepoint)");
  }
  kinds.machine.general = kGeneral;
  kinds.machine.poll_reports_rdnorm = true;
  for (const SoftwareEvent& event : kSoftware) {
    SpecKind kind;
    kind.source = event.source;
    const bool clock =
        event.config == PERF_COUNT_SW_CPU_CLOCK || event.config == PERF_COUNT_SW_TASK_CLOCK;
    kind.pmu = clock ? kFirstClockPmu + static_cast<unsigned>(event.config) : kSoftwarePmu;
    kinds.events.push_back({PERF_TYPE_SOFTWARE, event.config, kind, 0});
  }
  if (target == "tracepoint") {
    SpecKind kind;
    kind.pmu = kTracepointPmu;
    kind.source = SpecSource::kSwitches;
    kinds.events.push_back({PERF_TYPE_TRACEPOINT, kProgramTracepoints, kind, 0});
    kind.source = SpecSource::kSyscalls;
    kinds.events.push_back({PERF_TYPE_TRACEPOINT, kProgramTracepoints + 1, kind, 0});
  }
  return kinds;
}

EventKind KindOf(const TargetKinds& kinds, std::uint32_t type, std::uint64_t config) {
  for (const EventKind& event : kinds.events) {
    if (event.type == type && event.config == config) return event;
  }
  return {type, config, SpecKind{}, 0};
}

}  // namespace pmuconf
