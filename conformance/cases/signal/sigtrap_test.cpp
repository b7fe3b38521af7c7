// SPDX-License-Identifier: Apache-2.0
// sigtrap: a synchronous signal in the monitored task for each overflow.
#include <signal.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "cases/breakpoint.h"
#include "cases/precise/precise.h"
#include "harness/case.h"
#include "rules/SIG.h"

namespace pmuconf {
namespace {

// The fields that the kernel puts behind si_addr for TRAP_PERF. The C library does not define them
// yet.
struct TrapInfo {
  int code;
  std::uint64_t addr;
  std::uint64_t data;
  std::uint32_t type;
  std::uint32_t flags;
};
constexpr int kTrapPerf = 6;
constexpr std::uint32_t kAsync = 1;  // the signal was delayed

std::vector<TrapInfo> traps;

void OnTrap(int, siginfo_t* info, void*) {
  TrapInfo trap = {};
  const auto* bytes = reinterpret_cast<const char*>(info);
  const std::size_t behind_addr = offsetof(siginfo_t, si_addr) + sizeof(info->si_addr);
  trap.code = info->si_code;
  trap.addr = reinterpret_cast<std::uint64_t>(info->si_addr);
  std::memcpy(&trap.data, bytes + behind_addr, sizeof(trap.data));
  std::memcpy(&trap.type, bytes + behind_addr + 8, sizeof(trap.type));
  std::memcpy(&trap.flags, bytes + behind_addr + 12, sizeof(trap.flags));
  traps.push_back(trap);
}

void CatchTraps() {
  traps.reserve(64);
  struct sigaction action = {};
  action.sa_sigaction = OnTrap;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGTRAP, &action, nullptr) != 0) throw Broken("sigaction");
}

CONFORMANCE_CASE(Signal, SigtrapReportsDataTypeAndAddress, .rules = {rule::SIG_014, rule::SIG_016},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kAddresses}) {
  CatchTraps();
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10,
                                  .sample_type = PERF_SAMPLE_ADDR,
                                  .sigtrap = true,
                                  .sig_data = 0x1234'5678'9abc'def0});
  event.Enable();
  for (std::size_t i = 1; i <= 5; ++i) {
    target().Stimulate(spec, 9);
    EXPECT_EQ(traps.size(), i - 1) << rule::SIG_016;
    target().Stimulate(spec, 1, {.addr = 0x7000 + i});
    ASSERT_EQ(traps.size(), i) << rule::SIG_016;
    EXPECT_EQ(traps.back().code, kTrapPerf) << rule::SIG_014;
    EXPECT_EQ(traps.back().addr, 0x7000 + i) << rule::SIG_014;
    EXPECT_EQ(traps.back().data, 0x1234'5678'9abc'def0) << rule::SIG_014;
    EXPECT_EQ(traps.back().type, spec.type) << rule::SIG_014;
  }
  event.Disable();
  EXPECT_THAT(event.Read(), Counted(spec, 50));
}

// An event that sends SIGTRAP once in ten occurrences, with the handler for it.
Event OpenTrapping(const EventSpec& spec) {
  CatchTraps();
  return Open(
      spec,
      {.sample_period = 10, .sample_type = PERF_SAMPLE_ADDR, .sigtrap = true, .sig_data = 77});
}

// Blocks SIGTRAP while the object lives.
class TrapsBlocked {
 public:
  TrapsBlocked() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTRAP);
    if (sigprocmask(SIG_BLOCK, &set_, nullptr) != 0) throw Broken("sigprocmask");
  }
  TrapsBlocked(const TrapsBlocked&) = delete;
  ~TrapsBlocked() { sigprocmask(SIG_UNBLOCK, &set_, nullptr); }

 private:
  sigset_t set_ = {};
};

CONFORMANCE_CASE(Signal, KernelOverflowRaisesSigtrap, .rules = {rule::SIG_016, rule::SIG_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kExcludes,
                           Cap::kAddresses}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenTrapping(spec);
  event.Enable();
  target().Stimulate(spec, 10, {.privilege = Privilege::kKernel, .addr = 0x7123});
  ASSERT_EQ(traps.size(), 1u) << rule::SIG_016;
  EXPECT_EQ(traps[0].code, kTrapPerf) << rule::SIG_014;
  EXPECT_EQ(traps[0].addr, 0x7123u) << rule::SIG_014;
  EXPECT_EQ(traps[0].flags, 0u) << rule::SIG_014;
}

CONFORMANCE_CASE(Signal, PreciseOverflowRaisesSigtrapAtOnce, .rules = {rule::SIG_016},
                 .needs = {Cap::kStimulus, Cap::kPrecise}) {
  CatchTraps();
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = Precise(10, PERF_SAMPLE_ADDR);
  options.sigtrap = true;
  const Event event = Open(spec, options);
  event.Enable();
  for (std::size_t i = 1; i <= 5; ++i) {
    target().Stimulate(spec, 9);
    EXPECT_EQ(traps.size(), i - 1);
    target().Stimulate(spec, 1, {.addr = 0x7000 + i});
    ASSERT_EQ(traps.size(), i);
    EXPECT_EQ(traps.back().addr, 0x7000 + i);
  }
}

// A PMU may buffer the records of several events, and report them one after the other. The order
// makes the address that the first event samples the last one that perf got.
CONFORMANCE_CASE(Signal, SigtrapWithoutAddressReportsNone, .rules = {rule::SIG_025},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kSeveralEvents,
                           Cap::kGroups}) {
  CatchTraps();
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event sampling = Open(specs[0], Precise(10));
  const Ring ring(sampling, 1);
  OpenOptions options = Precise(10, PERF_SAMPLE_IP);
  options.sigtrap = true;
  const Event trapping = Open(specs[1], options);
  sampling.Enable();
  trapping.Enable();
  // A context switch empties the buffer, but sends no signal. A full buffer sends it.
  for (int i = 0; i < 100 && traps.empty(); ++i) {
    target().Stimulate(specs[1], 10);
    target().Stimulate(specs[0], 10 * 500, {.addr = 0x7123});
  }
  ASSERT_FALSE(traps.empty());
  EXPECT_EQ(traps[0].addr, 0u);
}

CONFORMANCE_CASE(Signal, BlockedSigtrapIsLateButNotLost, .rules = {rule::SIG_015},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  Child child([&spec] {
    const Event event = OpenTrapping(spec);
    event.Enable();
    const TrapsBlocked blocked;
    target().Stimulate(spec, 10);
    return traps.empty() ? 0 : 1;
  });
  child.Go();
  // A signal that is forced upon a task ends the task.
  ASSERT_EQ(child.Wait(), 0);
  const Event event = OpenTrapping(spec);
  event.Enable();
  target().Stimulate(spec, 10);
  ASSERT_EQ(traps.size(), 1u);
  EXPECT_EQ(traps[0].flags, 0u);
  for (std::size_t i = 2; i <= 4; ++i) {
    {
      const TrapsBlocked blocked;
      target().Stimulate(spec, 10);
      EXPECT_EQ(traps.size(), i - 1);
    }
    ASSERT_EQ(traps.size(), i);
    EXPECT_EQ(traps.back().flags, kAsync);
    EXPECT_EQ(traps.back().code, kTrapPerf);
    EXPECT_EQ(traps.back().data, 77u);
  }
  target().Stimulate(spec, 10);
  ASSERT_EQ(traps.size(), 5u);
  EXPECT_EQ(traps.back().flags, 0u);
}

CONFORMANCE_CASE(Signal, EventHasAtMostOnePendingSigtrap, .rules = {rule::SIG_017},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenTrapping(spec);
  event.Enable();
  // One call overflows five times. The task returns to user mode, where it gets the signal, only
  // after the last one.
  target().Stimulate(spec, 50);
  EXPECT_EQ(traps.size(), 1u);
  {
    const TrapsBlocked blocked;
    for (int i = 0; i < 5; ++i) target().Stimulate(spec, 10);
  }
  EXPECT_EQ(traps.size(), 2u);
  target().Stimulate(spec, 10);
  EXPECT_EQ(traps.size(), 3u);
  EXPECT_THAT(event.Read(), Counted(spec, 110));
}

CONFORMANCE_CASE(Signal, SigtrapsEndWithTheRefreshLimit, .rules = {rule::SIG_017},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = OpenTrapping(spec);
  std::size_t want = 0;
  for (const int limit : {3, 1, 2}) {
    event.Refresh(limit);
    for (int i = 0; i < 6; ++i) {
      target().Stimulate(spec, 10);
      want += i < limit;
      EXPECT_EQ(traps.size(), want);
    }
    EXPECT_THAT(event.Read(), Counted(spec, 10 * want));
  }
}

volatile std::uint64_t watched = 0;

// The compiler does not know that the handler of the signal changes `traps`.
void Store(std::uint64_t value) {
  watched = value;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// The child exists before the change, with an event of its own.
CONFORMANCE_CASE(Signal, ModifiedDataIsInTheNextSigtrap, .rules = {rule::SIG_024},
                 .needs = {Cap::kTasks, Cap::kBreakpoints}) {
  CatchTraps();
  const Event event = Open(
      CountStores(watched, {.sample_period = 1, .inherit = true, .sigtrap = true, .sig_data = 11}));
  event.Enable();
  Store(1);
  ASSERT_EQ(traps.size(), 1u);
  EXPECT_EQ(traps.back().data, 11u);
  Child child([] {
    Store(2);
    return traps.size() == 2 ? static_cast<int>(traps.back().data) : 125;
  });
  perf_event_attr attr = event.attr();
  attr.sig_data = 22;
  attr.disabled = 0;
  EXPECT_THAT(
      event.TryIoctl(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, reinterpret_cast<unsigned long>(&attr)),
      Succeeds());
  Store(3);
  ASSERT_EQ(traps.size(), 2u);
  EXPECT_EQ(traps.back().data, 22u);
  EXPECT_EQ(child.Run(), 22);
}

}  // namespace
}  // namespace pmuconf
