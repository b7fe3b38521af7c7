// SPDX-License-Identifier: Apache-2.0
// Interrupts while perf has disabled the PMU.
#include "harness/case.h"
#include "perf/ring.h"
#include "rules/DRC.h"

namespace pmuconf {
namespace {

constexpr std::uint32_t kGlobalControl = 0x38f;

// The number of writes in this part of a log that enable counters of a disabled PMU.
int EnablingWrites(const std::vector<refpmu_log_entry>& log) {
  int writes = 0;
  bool disabled = false;  // unknown before the first call
  for (const refpmu_log_entry& entry : log) {
    if (entry.kind == REFPMU_LOG_CALL && entry.what == REFPMU_CALL_DISABLE) disabled = true;
    if (entry.kind == REFPMU_LOG_CALL && entry.what == REFPMU_CALL_ENABLE) disabled = false;
    writes += disabled && entry.kind == REFPMU_LOG_WRITE && entry.what == kGlobalControl &&
              entry.arg != 0;
  }
  return writes;
}

// Time drives the counter. Its last events before a disable often end a period, and the interrupt
// then finds the PMU disabled.
CONFORMANCE_CASE(Interrupt, HandlerDoesNotEnableADisabledPmu, .rules = {rule::DRC_080},
                 .needs = {Cap::kSampling, Cap::kManualClock, Cap::kRegisters, Cap::kLog},
                 .budget_s = 30, .over = {Over<dim::Cpu>()}) {
  const EventSpec clock = target().Events({.stimulus = StimulusKind::kClock}).front();
  const Event event = Open(clock, {.sample_period = 20'000});
  const AutoClock running;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 10; ++i) {
      event.Enable();
      event.Disable();
    }
    ASSERT_EQ(EnablingWrites(port().Log()), 0) << rule::DRC_080.text;
  }
}

}  // namespace
}  // namespace pmuconf
