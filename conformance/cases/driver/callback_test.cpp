// SPDX-License-Identifier: Apache-2.0
// Contracts between perf and the driver, verified from the log of callbacks and register accesses.
#include <map>

#include "cases/common.h"
#include "harness/behaviour.h"
#include "perf/kernel_behaviour.h"
#include "perf/ring.h"
#include "rules/DRC.h"
#include "rules/DRV.h"
#include "rules/GRP.h"

namespace pmuconf {
namespace {

// Registers of the modelled device (Intel SDM, architectural performance monitoring).
constexpr std::uint32_t kSelect = 0x186;
constexpr std::uint32_t kFixedControl = 0x38d;
constexpr std::uint32_t kGlobalStatus = 0x38e;
constexpr std::uint32_t kGlobalControl = 0x38f;
constexpr std::uint32_t kFixedValue = 0x309;
constexpr std::uint32_t kFullWidthValue = 0x4c1;
constexpr std::uint64_t kSelectEnable = std::uint64_t{1} << 22;
constexpr std::uint64_t kGeneral = 0xffff'ffff;  // the general counters, as bits of GLOBAL_CTRL

bool IsCall(const refpmu_log_entry& entry, refpmu_call call) {
  return entry.kind == REFPMU_LOG_CALL && entry.what == call;
}

void ExpectIdle(int cpu) {
  const refpmu_stats stats = port().Stats(cpu);
  EXPECT_EQ(stats.used, 0u) << rule::DRV_039;
  EXPECT_EQ(stats.disable_depth, 0u) << rule::DRV_003;
  EXPECT_EQ(stats.calls[REFPMU_CALL_ENABLE], stats.calls[REFPMU_CALL_DISABLE]) << rule::DRV_003;
  // GLOBAL_CTRL may stay on, because a counter also needs its own enable bit to count.
  EXPECT_EQ(port().ReadRegister(kFixedControl, cpu), 0u) << rule::DRV_039;
  for (unsigned i = 0; i < target().general(); ++i) {
    EXPECT_EQ(port().ReadRegister(kSelect + i, cpu) & kSelectEnable, 0u) << rule::DRV_039;
  }
  EXPECT_EQ(port().ReadRegister(kGlobalStatus, cpu), 0u) << rule::DRV_008;
}

CONFORMANCE_CASE(Driver, IdlePmuIsOffAndBalanced, .rules = {rule::DRV_003, rule::DRV_039},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kGroups, Cap::kSampling}) {
  ExpectIdle(CurrentCpu());
  const std::vector<EventSpec> specs = FullSet();
  for (const OpenOptions& place : {OpenOptions{}, OpenOptions{.pid = -1, .cpu = CurrentCpu()},
                                   OpenOptions{.sample_period = 100}}) {
    {
      Group group(specs, place);
      group.Enable();
      PulseEach(specs, 1'000);
      group.Disable();
      ExpectIdle(CurrentCpu());
      group.Enable();
      group[1].Disable();
      PulseEach(specs, 250);
    }
    ExpectIdle(CurrentCpu());
    const std::vector<Event> events = OpenEach(specs, place);
    EnableEach(events);
    PulseEach(specs, 333);
    DisableEach(events);
    ExpectIdle(CurrentCpu());
  }
}

CONFORMANCE_CASE(Driver, EachEventLeavesThePmuIdle, .rules = {rule::DRV_039},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  for (const EventSpec& spec : target().Events({.wide = true})) {
    SCOPED_TRACE(spec.name);
    const Event event = Open(spec, {.disabled = false});
    Pulse(spec, 10);
    event.Disable();
    ExpectIdle(CurrentCpu());
  }
}

CONFORMANCE_CASE(Driver, AddAndDelFindThePmuDisabled, .rules = {rule::DRV_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kGroups, Cap::kLog}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  group.Enable();
  group[2].Disable();
  group[2].Enable();
  group.Disable();
  bool off = false;
  std::uint64_t released = 0;
  std::uint64_t adds = 0;
  for (const refpmu_log_entry& entry : port().Log()) {
    if (IsCall(entry, REFPMU_CALL_DISABLE)) off = true;
    if (IsCall(entry, REFPMU_CALL_ENABLE)) off = false;
    if (IsCall(entry, REFPMU_CALL_ADD) || IsCall(entry, REFPMU_CALL_DEL)) {
      EXPECT_TRUE(off);
      EXPECT_EQ(released, 0u);
      ++adds;
    }
    if (entry.kind == REFPMU_LOG_WRITE && entry.what == kGlobalControl) {
      released = entry.arg;
      EXPECT_TRUE(!off || released == 0);
    }
  }
  EXPECT_GE(adds, 2 * specs.size()) << "the log has too few calls of add() and del()";
}

// The fixed counters that FIXED_CTR_CTRL enables, as bits of GLOBAL_CTRL.
std::uint64_t FixedOnes(std::uint64_t control) {
  std::uint64_t on = 0;
  for (unsigned i = 0; i < target().fixed(); ++i) {
    if ((control >> (4 * i) & 3) != 0) on |= std::uint64_t{1} << (32 + i);
  }
  return on;
}

// The driver must write the start value of a counter before it sets the counter's own enable bit.
// GLOBAL_CTRL gives no protection, because other events may have left it on.
CONFORMANCE_CASE(Driver, CounterIsProgrammedBeforeItIsEnabled, .rules = {rule::DRV_040},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kLog}) {
  const std::vector<EventSpec> specs = FullSet();
  for (int round = 0; round < 2; ++round) {
    Group group(specs);
    group.Enable();
    group.Disable();
  }
  std::uint64_t ready = 0;
  std::uint64_t selected = 0;
  std::uint64_t started = 0;
  for (const refpmu_log_entry& entry : port().Log()) {
    if (entry.kind != REFPMU_LOG_WRITE) continue;
    const std::uint32_t reg = entry.what;
    if (reg >= kFullWidthValue && reg < kFullWidthValue + target().general()) {
      ready |= std::uint64_t{1} << (reg - kFullWidthValue);
    }
    if (reg >= kFixedValue && reg < kFixedValue + target().fixed()) {
      ready |= std::uint64_t{1} << (32 + reg - kFixedValue);
    }
    if (reg >= kSelect && reg < kSelect + target().general()) {
      const std::uint64_t bit = std::uint64_t{1} << (reg - kSelect);
      selected = (entry.arg & kSelectEnable) ? selected | bit : selected & ~bit;
    }
    if (reg == kFixedControl) selected = (selected & kGeneral) | FixedOnes(entry.arg);
    ASSERT_EQ(selected & ~ready, 0u);
    started |= selected;
  }
  EXPECT_EQ(std::popcount(started), static_cast<int>(specs.size()))
      << "the log does not show the start of each counter";
}

CONFORMANCE_CASE(Driver, CancelledTransactionFollowsItsDeletes,
                 .rules = {rule::DRV_006, rule::DRV_018},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing}) {
  const EventSpec spec = target().AnyEvent();
  const Event pinned = Open(spec, {.disabled = false, .pinned = true});
  Group group(std::vector(CounterCount(spec), spec));
  group.Enable();
  Pulse(spec, 6);
  std::map<std::uint64_t, int> added;
  std::uint64_t last = 0;  // last event to be added: if its add failed, nothing is deleted
  bool in_transaction = false;
  int cancelled = 0;
  for (const refpmu_log_entry& entry : port().Log()) {
    if (IsCall(entry, REFPMU_CALL_START_TXN)) {
      in_transaction = true;
      added.clear();
    }
    if (in_transaction && IsCall(entry, REFPMU_CALL_ADD)) ++added[last = entry.event];
    if (in_transaction && IsCall(entry, REFPMU_CALL_DEL)) --added[entry.event];
    if (IsCall(entry, REFPMU_CALL_CANCEL_TXN)) {
      added.erase(last);
      for (const auto& [event, balance] : added) EXPECT_EQ(balance, 0) << rule::DRV_018;
      in_transaction = false;
      ++cancelled;
    }
  }
  EXPECT_GT(cancelled, 0) << "no transaction failed";
  EXPECT_EQ(std::popcount(port().Stats().used), 1) << rule::DRV_006;
  EXPECT_THAT(pinned.Read(), Counted(spec, 6)) << rule::DRV_018;
}

CONFORMANCE_CASE(Driver, FailedGroupsDoNotUseUpThePmu,
                 .rules = {rule::DRV_006, rule::DRV_018, rule::GRP_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kMultiplexing}) {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  {
    const Event pinned = Open(spec, {.disabled = false, .pinned = true});
    Group never(std::vector(CounterCount(spec), spec));
    never.Enable();
    // More failed attempts than any device has counters.
    EXPECT_TRUE(RepeatUntil([&] { Pulse(spec, 1); },
                            [&] { return port().Stats().calls[REFPMU_CALL_CANCEL_TXN] > 64; }));
    EXPECT_EQ(never.Read().time_running, 0u);
  }
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  group.Enable();
  const std::vector<std::uint64_t> want = PulseEach(specs, 15);
  const GroupReading reading = group.Read();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], want[i])) << rule::DRV_018;
  }
}

CONFORMANCE_CASE(Driver, DelFreesTheCounterEveryTime, .rules = {rule::DRV_007, rule::DRV_008},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  const std::vector<EventSpec> specs = FullSet();
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::vector<Event> events = OpenEach(specs, {.disabled = false});
    const std::vector<std::uint64_t> want = PulseEach(specs, 70 + round);
    if (round % 2 == 0) DisableEach(events);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const Reading reading = events[i].Read();
      ASSERT_THAT(reading, Counted(specs[i], want[i])) << rule::DRV_007;
      ASSERT_EQ(reading.time_running, reading.time_enabled) << rule::DRV_008;
    }
  }
  EXPECT_EQ(port().Stats().used, 0u) << rule::DRV_008;
}

CONFORMANCE_CASE(Driver, DelClearsPendingOverflow, .rules = {rule::DRV_008},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  for (const EventSpec& spec : target().Events()) {
    const std::vector<EventSpec> all(CounterCount(spec), spec);
    HoldLine line;
    {
      const std::vector<Event> first = OpenEach(all, {.sample_period = 100, .disabled = false});
      Pulse(spec, 130);
    }
    const std::vector<Event> second = OpenEach(all, {.sample_period = 50, .disabled = false});
    const std::uint64_t before = port().Stats().overflows;
    line.Release();
    EXPECT_EQ(port().Stats().overflows, before) << spec.name;
    EXPECT_EQ(port().ReadRegister(kGlobalStatus), 0u) << spec.name;
    Pulse(spec, 49);
    EXPECT_EQ(port().Stats().overflows, before) << spec.name;
    Pulse(spec, 1);
    EXPECT_EQ(port().Stats().overflows, before + all.size());
    for (const Event& event : second) EXPECT_THAT(event.Read(), Counted(spec, 50));
  }
}

CONFORMANCE_CASE(Driver, DestroyRunsOncePerEvent, .rules = {rule::DRV_015},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kGroups}) {
  const std::vector<EventSpec> specs = FullSet();
  const refpmu_stats before = port().Stats();
  for (std::uint64_t round = 1; round <= 4; ++round) {
    {
      Group group(specs);
      if (round % 2 == 0) group.Enable();
      EXPECT_EQ(port().Stats().live_events, before.live_events + specs.size());
      group.leader().Close();
    }
    const refpmu_stats after = port().Stats();
    EXPECT_EQ(after.live_events, before.live_events);
    EXPECT_EQ(after.calls[REFPMU_CALL_DESTROY] - before.calls[REFPMU_CALL_DESTROY],
              round * specs.size());
  }
}

CONFORMANCE_CASE(Driver, ReadTransactionsDisturbNothing, .rules = {rule::DRV_019, rule::GRP_007},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kGroups}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  group.Enable();
  std::vector<std::uint64_t> want(specs.size());
  for (std::uint64_t round = 1; round <= 10; ++round) {
    const std::vector<std::uint64_t> more = PulseEach(specs, round);
    for (int repeat = 0; repeat < 3; ++repeat) group.Read();
    const GroupReading reading = group.Read();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      want[i] += more[i];
      ASSERT_THAT(reading.entries[i], Counted(specs[i], want[i])) << rule::DRV_019;
    }
    EXPECT_EQ(port().Stats().disable_depth, 0u) << rule::DRV_019;
  }
}

// A kernel whose PMUs have contexts of their own reads such a group in a transaction of the
// leader's PMU.
CONFORMANCE_CASE(Driver, SoftwareLeaderOpensTransactionOfTheHardware, .rules = {rule::DRC_084},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kGroups, Cap::kLog}) {
  if (!HasSharedContexts()) SkipWithout("one context for all PMUs of a task");
  const std::vector<EventSpec> hardware = FullSet();
  std::vector<EventSpec> specs = hardware;
  specs.insert(specs.begin(), Software(PERF_COUNT_SW_DUMMY));
  Group group(specs);
  const auto calls = [](refpmu_call call) { return port().Stats().calls[call]; };
  const std::uint64_t adds = calls(REFPMU_CALL_START_TXN);
  group.Enable();
  const std::uint64_t reads = calls(REFPMU_CALL_START_TXN);
  EXPECT_GT(reads, adds) << "to add";
  const std::vector<std::uint64_t> want = PulseEach(hardware, 20);
  const GroupReading reading = group.Read();
  EXPECT_GT(calls(REFPMU_CALL_START_TXN), reads) << "to read";
  for (std::size_t i = 0; i < hardware.size(); ++i) {
    EXPECT_THAT(reading.entries[i + 1], Counted(hardware[i], want[i]));
  }
}

}  // namespace
}  // namespace pmuconf
