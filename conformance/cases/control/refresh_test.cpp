// SPDX-License-Identifier: Apache-2.0
// PERF_EVENT_IOC_REFRESH: the event stops after a number of overflows.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "cases/common.h"
#include "cases/subject.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/CTL.h"
#include "rules/DRV.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kPeriod = 100;

CONFORMANCE_CASE(Control, RefreshedEventStopsAfterItsOverflows,
                 .rules = {rule::CTL_011, rule::DRV_007},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kCounters3},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(),
                          Over(dim::Counter::kFirst, dim::Counter::kFixed)}) {
  const Event bystander = Open(target().AnyEvent());
  const Subject subject(*this, {.sample_period = kPeriod});
  const auto [spec, event] = subject.Parts();
  Ring ring(event, 1);
  bystander.Enable();  // now, since opening and mapping may cause page faults
  for (std::uint64_t n = 1; n <= 2; ++n) {
    event.Refresh(3);
    event.Refresh(1);
    Pulse(spec, 10 * kPeriod);
    EXPECT_THAT(event.Read(), Counted(spec, n * 4 * kPeriod)) << rule::CTL_011;
    EXPECT_EQ(ring.Drain().samples.size(), 4u) << rule::CTL_011;
    if (!ShareStimulus(spec, target().AnyEvent())) Pulse(target().AnyEvent(), 10 * kPeriod);
    EXPECT_THAT(bystander.Read(), Counted(spec, n * 10 * kPeriod)) << rule::DRV_007;
  }
}

CONFORMANCE_CASE(Control, LastRefreshOverflowSignalsHangUp, .rules = {rule::CTL_011},
                 .needs = {Cap::kStimulus, Cap::kSampling},
                 .over = {Over<dim::Cpu>(), Over<dim::Member>()}) {
  const Subject subject(*this, {.sample_period = kPeriod});
  const auto [spec, event] = subject.Parts();
  const int signal = SIGRTMIN + 1;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  fcntl(event.fd(), F_SETOWN, getpid());
  fcntl(event.fd(), F_SETSIG, signal);
  fcntl(event.fd(), F_SETFL, O_ASYNC);

  event.Refresh(3);
  std::vector<int> codes;
  for (int i = 0; i < 5; ++i) {
    Pulse(spec, kPeriod);
    siginfo_t info = {};
    const timespec now = {};
    if (sigtimedwait(&set, &info, &now) == signal) codes.push_back(info.si_code);
  }
  EXPECT_EQ(codes, (std::vector<int>{POLL_IN, POLL_IN, POLL_HUP}));
}

CONFORMANCE_CASE(Control, RefreshByZeroOnlyEnables, .rules = {rule::CTL_012},
                 .needs = {Cap::kStimulus, Cap::kSampling},
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  {
    const Subject subject(*this, {.sample_period = kPeriod});
    const Event& unlimited = subject.event();
    unlimited.Refresh(0);
    Pulse(subject.spec(), 7 * kPeriod);
    unlimited.Disable();
    EXPECT_THAT(unlimited.Read(), Counted(subject.spec(), 7 * kPeriod));
  }
  const Subject subject(*this, {.sample_period = kPeriod});
  const Event& limited = subject.event();
  limited.Refresh(2);
  Pulse(subject.spec(), kPeriod);
  limited.Disable();
  limited.Refresh(0);
  Pulse(subject.spec(), 7 * kPeriod);
  EXPECT_THAT(limited.Read(), Counted(subject.spec(), 2 * kPeriod));
}

CONFORMANCE_CASE(Control, RefreshNeedsASamplingEvent, .rules = {rule::CTL_013},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event counting = Open(spec);
  EXPECT_THAT(counting.TryRefresh(1), FailsWith(EINVAL));
  const Event inherited = Open(spec, {.sample_period = kPeriod, .inherit = true});
  EXPECT_THAT(inherited.TryRefresh(1), FailsWith(EINVAL));
  Pulse(spec, 2 * kPeriod);
  EXPECT_THAT(counting.Read(), Counted(spec, 0));
  EXPECT_THAT(inherited.Read(), Counted(spec, 0));
}

CONFORMANCE_CASE(Control, RefreshAffectsCalledMemberOnly, .rules = {rule::CTL_014},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Event leader = Open(spec);
  const Event member = Open(spec, {.group_fd = leader.fd(), .sample_period = kPeriod});
  leader.Enable();
  EXPECT_THAT(leader.TryRefresh(2), FailsWith(EINVAL));
  EXPECT_THAT(member.TryRefresh(2), Succeeds());
  Pulse(spec, 5 * kPeriod);
  EXPECT_THAT(leader.Read(), Counted(spec, 5 * kPeriod));
  EXPECT_THAT(member.Read(), Counted(spec, 2 * kPeriod));
}

// State of the signal handler of the next case.
volatile sig_atomic_t handled = 0;
int refreshed_fd = -1;
constexpr int kRefreshes = 1'000;

void RefreshAgain(int) {
  handled = handled + 1;
  if (handled < kRefreshes) ioctl(refreshed_fd, PERF_EVENT_IOC_REFRESH, 1);
}

CASE_USES(Control, RefreshedTimerSamplesOnceForEachRefresh, Feature::kHighResTimers);
CONFORMANCE_CASE(Control, RefreshedTimerSamplesOnceForEachRefresh, .rules = {rule::CTL_030},
                 .budget_s = 60, .timing = "waits for 1000 timers of 50 us, at most 5 s for 100") {
  const Event event =
      Open(Software(PERF_COUNT_SW_CPU_CLOCK), {.pid = getpid(), .sample_period = 50'000});
  Ring ring(event, 16);
  refreshed_fd = event.fd();
  struct sigaction action = {};
  action.sa_handler = RefreshAgain;
  ASSERT_EQ(sigaction(SIGIO, &action, nullptr), 0);
  const f_owner_ex thread = {F_OWNER_TID, gettid()};
  ASSERT_EQ(fcntl(event.fd(), F_SETOWN_EX, &thread), 0);
  ASSERT_EQ(fcntl(event.fd(), F_SETFL, O_ASYNC), 0);
  event.Refresh(1);
  for (int n = 100; n <= kRefreshes; n += 100) {
    ASSERT_TRUE(RepeatUntil([] {}, [n] { return handled >= n; }));
  }
  BusyWait(0.001);  // twenty periods
  EXPECT_EQ(handled, kRefreshes);
  EXPECT_EQ(ring.Drain().samples.size(), std::size_t{kRefreshes});
}

}  // namespace
}  // namespace pmuconf
