// SPDX-License-Identifier: Apache-2.0
// Counts beyond the width of the hardware counter: with prompt and late interrupts, on each
// counter.
#include "cases/common.h"
#include "cases/subject.h"
#include "rules/CNT.h"
#include "rules/DRV.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Counting, WrapIsExactWithPromptInterrupt,
                 .rules = {rule::CNT_007, rule::CNT_008, rule::CNT_018},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters}) {
  for (const EventSpec& spec : target().Events()) {
    const std::uint64_t top = target().counter_mask(spec);
    const Event event = Open(spec);
    const refpmu_stats before = port().Stats();
    event.Enable();
    std::uint64_t want = 0;
    for (std::uint64_t n : {top / 2 - 1, std::uint64_t{1}, std::uint64_t{1}, top / 2, top - 1, top,
                            top + 1, 2 * top + 12'345}) {
      Pulse(spec, n);
      want += n;
      ASSERT_THAT(event.Read(), Counted(spec, want)) << rule::CNT_007;
    }
    event.Disable();
    EXPECT_THAT(event.Read(), Counted(spec, want)) << rule::CNT_018;
    const refpmu_stats after = port().Stats();
    EXPECT_GT(after.pmi_claimed, before.pmi_claimed) << spec.name;
    EXPECT_EQ(after.overflows, before.overflows) << rule::CNT_008;
  }
}

CONFORMANCE_CASE(Counting, WrapIsExactOnAllCountersTogether,
                 .rules = {rule::CNT_007, rule::CNT_008, rule::CNT_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters}) {
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs);
  EnableEach(events);
  const std::uint64_t n = target().counter_mask() - 3;
  const std::vector<std::uint64_t> first = PulseEach(specs, n);
  const std::vector<std::uint64_t> second = PulseEach(specs, n / 2 + 77);
  DisableEach(events);
  PulseEach(specs, 1'000);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(events[i].Read(), Counted(specs[i], first[i] + second[i])) << rule::CNT_007;
  }
}

// While the test holds the interrupt line, the driver detects the wrap only from the counter's
// value.
CONFORMANCE_CASE(Counting, WrapIsExactWithLateInterrupt, .rules = {rule::CNT_007, rule::CNT_008},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kLog}) {
  const std::uint64_t half = target().counter_mask() / 2;
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    event.Enable();
    HoldLine line;
    Pulse(spec, half + 54'321);
    EXPECT_THAT(event.Read(), Counted(spec, half + 54'321)) << rule::CNT_007;
    Pulse(spec, half);
    EXPECT_THAT(event.Read(), Counted(spec, 2 * half + 54'321)) << rule::CNT_007;
    Pulse(spec, 9);
    line.Release();
    EXPECT_THAT(event.Read(), Counted(spec, 2 * half + 54'330)) << rule::CNT_008;
    Pulse(spec, half + 1);
    EXPECT_THAT(event.Read(), Counted(spec, 3 * half + 54'331)) << rule::CNT_008;
  }
}

// No read folds the counter meanwhile. So the remaining range after the overflow must be enough.
CONFORMANCE_CASE(Counting, InterruptLateByHalfRangeLosesNothing, .rules = {rule::CNT_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kLog}) {
  const std::uint64_t half = target().counter_mask() / 2;
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    event.Enable();
    Pulse(spec, half + 54'321);
    HoldLine line;
    Pulse(spec, half);
    EXPECT_THAT(event.Read(), Counted(spec, 2 * half + 54'321));
  }
}

CONFORMANCE_CASE(Counting, WrapIsExactWhenStoppedBeforeTheInterrupt,
                 .rules = {rule::CNT_007, rule::DRV_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kLog}) {
  const std::uint64_t half = target().counter_mask() / 2;
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    event.Enable();
    HoldLine line;
    Pulse(spec, half + half / 2);
    event.Disable();
    Pulse(spec, 1'000);
    EXPECT_THAT(event.Read(), Counted(spec, half + half / 2)) << rule::DRV_007;
    line.Release();
    EXPECT_THAT(event.Read(), Counted(spec, half + half / 2)) << rule::CNT_007;
    event.Enable();
    Pulse(spec, 17);
    EXPECT_THAT(event.Read(), Counted(spec, half + half / 2 + 17)) << rule::CNT_007;
  }
}

CONFORMANCE_CASE(Counting, WrapIsExactInEachPlace,
                 .rules = {rule::CNT_007, rule::CNT_008, rule::CNT_018},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kLog},
                 .over = {Over<dim::Cpu>(), Over<dim::Interrupt>(), Over<dim::Member>(),
                          Over<dim::Counter>()}) {
  const std::uint64_t half = target().counter_mask() / 2;
  const Subject subject(*this, {.pid = -1, .cpu = CurrentCpu()});
  const auto [spec, event] = subject.Parts();
  event.Enable();
  std::uint64_t want = 0;
  for (int round = 0; round < 2; ++round) {
    std::optional<HoldLine> hold;
    if (At<dim::Interrupt>() != dim::Interrupt::kPrompt) hold.emplace();
    Pulse(spec, half + 77);
    if (At<dim::Interrupt>() == dim::Interrupt::kStopped) event.Disable();
    want += half + 77;
    EXPECT_THAT(event.Read(), Counted(spec, want)) << rule::CNT_007;
    hold.reset();
    EXPECT_THAT(event.Read(), Counted(spec, want)) << rule::CNT_008;
    event.Enable();
    Pulse(spec, half);
    want += half;
    EXPECT_THAT(event.Read(), Counted(spec, want)) << rule::CNT_018;
  }
}

CONFORMANCE_CASE(Counting, LargeCountsAreReturnedWhole, .rules = {rule::CNT_018, rule::CNT_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters}) {
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    std::uint64_t want = 0;
    for (unsigned bit = 30; bit < std::min(target().width(spec) + 4, 64U); ++bit) {
      const std::uint64_t n = (std::uint64_t{1} << bit) + bit;
      event.Enable();
      Pulse(spec, n);
      event.Disable();
      want += n;
      ASSERT_THAT(event.Read(), Counted(spec, want)) << rule::CNT_018;
    }
  }
}

}  // namespace
}  // namespace pmuconf
