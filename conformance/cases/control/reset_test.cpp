// SPDX-License-Identifier: Apache-2.0
// PERF_EVENT_IOC_RESET sets the count to 0 and changes nothing else.
#include "cases/common.h"
#include "cases/subject.h"
#include "rules/CTL.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Control, ResetZeroesTheCountAlone, .rules = {rule::CTL_007},
                 .needs = {Cap::kStimulus}) {
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    event.Enable();
    target().Stimulate(spec, 250);
    event.Disable();
    const Reading before = event.Read();
    event.Reset();
    const Reading after = event.Read();
    EXPECT_THAT(after, Counted(spec, 0));
    EXPECT_EQ(after.time_enabled, before.time_enabled);
    EXPECT_EQ(after.time_running, before.time_running);
    event.Enable();
    target().Stimulate(spec, 3);
    EXPECT_THAT(event.Read(), Counted(spec, 3));
  }
}

CONFORMANCE_CASE(Control, ResetWhileRunningRestartsAtZero, .rules = {rule::CTL_010},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    event.Enable();
    for (const std::uint64_t n : {std::uint64_t{1}, target().counter_mask() + 9}) {
      Pulse(spec, n);
      event.Reset();
      EXPECT_THAT(event.Read(), Counted(spec, 0));
      Pulse(spec, 77);
      event.Reset();
      Pulse(spec, n);
      EXPECT_THAT(event.Read(), Counted(spec, n));
    }
    event.Disable();
    EXPECT_THAT(event.Read(), Counted(spec, target().counter_mask() + 9));
  }
}

CONFORMANCE_CASE(Control, ResetZeroesTheCountInEachPlace, .rules = {rule::CTL_007, rule::CTL_010},
                 .needs = {Cap::kStimulus, Cap::kPort},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>(),
                          Over<dim::Before>()}) {
  const Subject subject(*this);
  const auto [spec, event] = subject.Parts();
  for (const bool running : {false, true}) {
    event.Enable();
    Pulse(spec, 250);
    if (!running) event.Disable();
    event.Reset();
    EXPECT_EQ(event.Read().value, 0u) << rule::CTL_007;
    event.Enable();
    Pulse(spec, 3);
    EXPECT_THAT(event.Read(), Counted(spec, 3)) << rule::CTL_010;
    event.Disable();
    event.Reset();
  }
}

CONFORMANCE_CASE(Control, ResetOfALeaderLeavesTheOthers, .rules = {rule::CTL_008},
                 .needs = {Cap::kStimulus, Cap::kGroups}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  group.Enable();
  const std::vector<std::uint64_t> first = PulseEach(specs, 600);
  group.leader().Reset();
  const std::vector<std::uint64_t> second = PulseEach(specs, 30);
  group.Disable();
  const GroupReading reading = group.Read();
  EXPECT_THAT(reading.entries[0], Counted(specs[0], second[0]));
  for (std::size_t i = 1; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], first[i] + second[i]));
  }
  group.Reset();
  for (const GroupEntry& entry : group.Read().entries) {
    EXPECT_EQ(entry.value, 0u);
  }
}

}  // namespace
}  // namespace pmuconf
