// SPDX-License-Identifier: Apache-2.0
// Counters without an interrupt: the driver must read them before it misses a wrap, and only while
// an event counts.
#include <bit>

#include "cases/subject.h"
#include "cases/uncore/uncore.h"
#include "rules/UNC.h"

namespace pmuconf {
namespace {

constexpr std::uint32_t kCounter0 = 0x4c1;  // the register with its full-width value

CONFORMANCE_CASE(Uncore, ManyWrapsAreCounted, .rules = {rule::UNC_008},
                 .needs = {Cap::kStimulus, Cap::kSystemWide}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  std::uint64_t want = 0;
  for (int i = 0; i < 9; ++i) {
    Pulse(spec, CounterRange());
    want += CounterRange();
  }
  Pulse(spec, 12'345);
  EXPECT_THAT(event.Read(), Counted(spec, want + 12'345));
}

// The driver derives the longest time between two reads from the width of the counters.
CONFORMANCE_CASE(Uncore, CountersAreAsWideAsClaimed, .rules = {rule::UNC_008},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kSystemWide}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  ASSERT_EQ(std::popcount(port().Stats().used), 1);
  const auto counter =
      kCounter0 + static_cast<std::uint32_t>(std::countr_zero(port().Stats().used));
  const std::uint64_t top = target().counter_mask();
  refpmu_reg write = {
      .size = sizeof(write), .cpu = REFPMU_CPU_CURRENT, .reg = counter, .write = 1, .value = top};
  ASSERT_THAT(port().TryIoctl(REFPMU_IOC_REG, &write), Succeeds());
  Pulse(spec, 3);
  EXPECT_EQ(port().ReadRegister(counter), 2u);
}

CONFORMANCE_CASE(Uncore, EveryCounterIsPolledBeforeWrap, .rules = {rule::UNC_008},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  group.Enable();
  const std::vector<std::uint64_t> first = PulseEach(specs, CounterRange() + 2);
  const std::vector<std::uint64_t> second = PulseEach(specs, CounterRange() + 3);
  const GroupReading reading = group.Read();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], first[i] + second[i]));
  }
}

CONFORMANCE_CASE(Uncore, WrapsAroundAStopAreCounted, .rules = {rule::UNC_008},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSystemWide},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>()}) {
  const Subject subject(*this);
  const auto [spec, event] = subject.Parts();
  std::uint64_t want = 0;
  for (const std::uint64_t n : {CounterRange() / 2, CounterRange() - 1, CounterRange(),
                                CounterRange() + 1, CounterRange() / 2 - 1}) {
    event.Enable();
    Pulse(spec, n);
    event.Disable();
    Pulse(spec, 17);
    EXPECT_THAT(event.Read(), Counted(spec, want += n));
  }
}

CONFORMANCE_CASE(Uncore, CountersArePolledOnlyWhileEventCounts, .rules = {rule::UNC_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPolled, Cap::kSystemWide,
                           Cap::kGroups},
                 .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const Event first = Open(spec);
  const Event second = Open(spec);
  std::uint64_t idle = Polls();
  BusyWait(0.2);
  EXPECT_EQ(Polls(), idle);
  first.Enable();
  second.Enable();
  EXPECT_TRUE(PollsContinue());
  first.Disable();
  EXPECT_TRUE(PollsContinue());
  second.Disable();
  idle = Polls();
  BusyWait(0.2);
  EXPECT_EQ(Polls(), idle);
  first.Enable();
  EXPECT_TRUE(PollsContinue());
}

}  // namespace
}  // namespace pmuconf
