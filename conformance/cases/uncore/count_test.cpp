// SPDX-License-Identifier: Apache-2.0
// Each event of the machine is counted once, independent of the CPU that opens, generates or reads
// it.
#include <thread>

#include "cases/subject.h"
#include "cases/uncore/uncore.h"
#include "rules/CTX.h"
#include "rules/UNC.h"

namespace pmuconf {
namespace {

// The numbers of the device's registers.
constexpr std::uint32_t kGlobalControl = 0x38f;
constexpr std::uint32_t kEventSelect = 0x186;  // of counter 0; those of the other counters follow

CONFORMANCE_CASE(Uncore, OnlyEnabledTimeIsCounted, .rules = {rule::UNC_005},
                 .needs = {Cap::kStimulus, Cap::kSystemWide}, .over = {Over<dim::Cpu>()}) {
  for (const EventSpec& spec : target().Events()) {
    const Event event = Open(spec);
    Pulse(spec, 3);
    event.Enable();
    Pulse(spec, 1'000);
    event.Disable();
    Pulse(spec, 7);
    EXPECT_THAT(event.Read(), Counted(spec, 1'000));
    event.Enable();
    Pulse(spec, 500);
    EXPECT_THAT(event.Read(), Counted(spec, 1'500));
  }
}

CONFORMANCE_CASE(Uncore, EventCountsActivityOfAllCpus, .rules = {rule::UNC_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSystemWide, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  std::uint64_t want = 0;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    Pulse(spec, i, {.cpu = static_cast<int>(i % 2)});
    EXPECT_THAT(event.Read(), Counted(spec, want += i));
  }
}

CONFORMANCE_CASE(Uncore, EventsOpenedOnAnyCpuCountTheSame, .rules = {rule::UNC_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSystemWide, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Event on_0 = Open(spec, {.pid = -1, .cpu = 0, .disabled = false});
  const Event on_1 = Open(spec, {.pid = -1, .cpu = 1, .disabled = false});
  Pulse(spec, 20, {.cpu = 0});
  Pulse(spec, 300, {.cpu = 1});
  EXPECT_THAT(on_0.Read(), Counted(spec, 320));
  EXPECT_THAT(on_1.Read(), Counted(spec, 320));
  on_0.Disable();
  Pulse(spec, 1'000);
  EXPECT_THAT(on_0.Read(), Counted(spec, 320));
  EXPECT_THAT(on_1.Read(), Counted(spec, 1'320));
}

CONFORMANCE_CASE(Uncore, NothingIsLostBetweenCpus, .rules = {rule::UNC_005, rule::UNC_006},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kCpus2}, .cpu = -1) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  const auto drive = [&](int cpu) {
    PinTo(cpu);
    for (int i = 0; i < 500; ++i) Pulse(spec, 3);
  };
  std::jthread on_0(drive, 0);
  std::jthread on_1(drive, 1);
  std::uint64_t last = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t now = event.Read().value;
    EXPECT_GE(now, last) << rule::UNC_006;
    last = now;
  }
  on_0.join();
  on_1.join();
  EXPECT_THAT(event.Read(), Counted(spec, 3'000)) << rule::UNC_005;
}

CONFORMANCE_CASE(Uncore, AnyCpuReadsTheNewestCount, .rules = {rule::UNC_006, rule::CTX_007},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kCpus2}, .cpu = -1) {
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  std::vector<std::uint64_t> want(specs.size());
  for (int turn = 0; turn < 6; ++turn) {
    PinTo(turn % 2);
    const std::vector<std::uint64_t> more = PulseEach(specs, 100);
    PinTo((turn + 1) % 2);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      EXPECT_THAT(events[i].Read(), Counted(specs[i], want[i] += more[i])) << rule::UNC_006;
    }
  }
}

CONFORMANCE_CASE(Uncore, ProcessesShareTheDevice, .rules = {rule::UNC_011},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSystemWide, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  Pulse(spec, 10);
  Child child([&spec] {
    const Event own = Open(spec, {.disabled = false});
    Pulse(spec, 100);
    const std::uint64_t want = 100 * spec.accuracy.step;
    const bool exact = own.Read().value == want;
    own.Disable();
    Pulse(spec, 1'000);
    return exact && own.Read().value == want ? 0 : 1;
  });
  EXPECT_EQ(child.Run(), 0);
  Pulse(spec, 10'000);
  EXPECT_THAT(event.Read(), Counted(spec, 11'110));
}

CONFORMANCE_CASE(Uncore, StopOfOneEventStopsNoOther, .rules = {rule::UNC_011},
                 .needs = {Cap::kStimulus, Cap::kSystemWide}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  std::uint64_t want = 0;
  const auto count = [&](std::uint64_t n, const char* after) {
    Pulse(spec, n);
    EXPECT_THAT(event.Read(), Counted(spec, want += n)) << rule::UNC_011 << after;
  };
  count(10, "alone");
  Event other = Open(spec, {.disabled = false});
  count(200, "another event was opened");
  other.Disable();
  count(3'000, "the other event was disabled");
  other.Enable();
  count(40'000, "the other event was enabled");
  other.Reset();
  count(500'000, "the other event was reset");
  other.Close();
  count(6'000'000, "the other event was closed");
}

// Each open reaches the driver's event_init, which must not touch the device.
CONFORMANCE_CASE(Uncore, OpensLeaveRunningCountsAlone, .rules = {rule::UNC_011, rule::UNC_012},
                 .needs = {Cap::kStimulus, Cap::kSystemWide}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  perf_event_attr unknown = MakeAttr(spec);
  unknown.config = ~std::uint64_t{0};
  std::uint64_t want = 0;
  for (int i = 0; i < 5; ++i) {
    Pulse(spec, 45);
    TryOpen(spec);
    EXPECT_THAT(event.Read(), Counted(spec, want += 45)) << rule::UNC_011;
    Pulse(spec, 7);
    // The driver refuses these events.
    TryOpen(unknown);
    TryOpen(spec, {.sample_period = 100});
    EXPECT_THAT(event.Read(), Counted(spec, want += 7)) << rule::UNC_012;
  }
}

CONFORMANCE_CASE(Uncore, OthersThatComeAndGoDisturbNothing, .rules = {rule::UNC_011},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kConstraints},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const EventSpec picky = target().Events({.constrained = true}).front();
  const Event event = Open(spec, {.disabled = false});
  const Event other = Open(spec, {.disabled = false});
  // Only some counters can count this event. The events on them must move.
  const std::vector guests(std::min<std::size_t>(CounterCount(picky), 2), picky);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const std::vector<Event> come = OpenEach(guests, {.disabled = false});
    Pulse(spec, 7);
    Pulse(picky, 5);
    for (const Event& guest : come) EXPECT_THAT(guest.Read(), Counted(picky, 5));
    EXPECT_THAT(event.Read(), Counted(spec, 7 * i));
    EXPECT_THAT(other.Read(), Counted(spec, 7 * i));
  }
}

CONFORMANCE_CASE(Uncore, ClosedEventsLeaveTheDeviceIdle, .rules = {rule::UNC_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSystemWide},
                 .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast)}) {
  const std::vector<EventSpec> specs = FullSet();
  std::vector<Event> events;
  for (const EventSpec& spec : specs) {
    OpenOptions options = {.disabled = false};
    if (At<dim::Member>() == dim::Member::kLast && !events.empty()) {
      options.group_fd = events.front().fd();
    }
    events.push_back(Open(spec, options));
  }
  PulseEach(specs, 5);
  EXPECT_NE(port().Stats().used, 0u);
  // The siblings go first. After its leader, a sibling would be a group of its own.
  while (!events.empty()) events.pop_back();
  EXPECT_EQ(port().Stats().used, 0u);
  if (!target().Has(Cap::kRegisters)) return;
  EXPECT_EQ(port().Stats().live_events, 0u);
  EXPECT_EQ(port().ReadRegister(kGlobalControl), 0u);
  for (unsigned i = 0; i < target().general(); ++i) {
    EXPECT_EQ(port().ReadRegister(kEventSelect + i), 0u) << i;
  }
}

}  // namespace
}  // namespace pmuconf
