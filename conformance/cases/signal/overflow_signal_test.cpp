// SPDX-License-Identifier: Apache-2.0
// Signals on overflow: their number, their descriptor, their reason, and their receiver.
#include <poll.h>

#include <future>
#include <optional>
#include <thread>

#include "cases/precise/precise.h"
#include "harness/case.h"
#include "overflow_signals.h"
#include "perf/ring.h"
#include "rules/SIG.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Signal, EachOverflowIsSignalled, .rules = {rule::SIG_001, rule::SIG_004},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  const OverflowSignals signals(event, gettid(), SIGRTMIN + 3);
  event.Enable();
  const std::uint64_t last = target().min_period();  // the driver may lengthen a shorter period
  for (int i = 0; i < 5; ++i) {
    target().Stimulate(spec, 10 - last);
    EXPECT_THAT(signals.Drain(), testing::IsEmpty()) << rule::SIG_001;
    target().Stimulate(spec, last);
    const std::vector<siginfo_t> got = signals.Drain();
    ASSERT_EQ(got.size(), 1u) << rule::SIG_004;
    EXPECT_EQ(got[0].si_fd, event.fd()) << rule::SIG_001;
    EXPECT_EQ(got[0].si_code, POLL_IN) << rule::SIG_001;
  }
}

CONFORMANCE_CASE(Signal, SignalIdentifiesItsEvent, .rules = {rule::SIG_001},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event first = Open(specs[0], {.sample_period = 5});
  const Event second = Open(specs[1], {.sample_period = 7});
  const OverflowSignals signals(first, gettid(), SIGRTMIN);
  const OverflowSignals same_signal(second, gettid(), SIGRTMIN);
  first.Enable();
  second.Enable();
  for (const Event* event : {&first, &second, &first}) {
    target().Stimulate(specs[event == &second], event->attr().sample_period);
    const std::vector<siginfo_t> got = signals.Drain();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].si_fd, event->fd());
  }
}

CONFORMANCE_CASE(Signal, LastOverflowOfARefreshHangsUp, .rules = {rule::SIG_002},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  std::uint64_t counted = 0;
  for (const int limit : {3, 1, 2}) {
    event.Refresh(limit);
    for (int i = 1; i <= limit; ++i) {
      target().Stimulate(spec, 10);
      const std::vector<siginfo_t> got = signals.Drain();
      ASSERT_EQ(got.size(), 1u);
      EXPECT_EQ(got[0].si_code, i == limit ? POLL_HUP : POLL_IN);
    }
    counted += 10 * static_cast<std::uint64_t>(limit);
    target().Stimulate(spec, 45);
    EXPECT_THAT(signals.Drain(), testing::IsEmpty());
    EXPECT_THAT(event.Read(), Counted(spec, counted));
  }
}

CONFORMANCE_CASE(Signal, RefreshLimitStopsBurst, .rules = {rule::SIG_002},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10, .sample_type = PERF_SAMPLE_PERIOD});
  Ring ring(event, 1);
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  event.Refresh(1);
  target().Stimulate(spec, 1'000);
  const std::vector<siginfo_t> got = signals.Drain();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].si_code, POLL_HUP);
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
  EXPECT_THAT(event.Read(), Counted(spec, 10));
}

CONFORMANCE_CASE(Signal, WakeupEventsDoNotHoldSignalsBack, .rules = {rule::SIG_005, rule::SIG_004},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10, .wakeup_events = 4});
  Ring ring(event, 1);
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  event.Enable();
  for (int i = 0; i < 9; ++i) {
    target().Stimulate(spec, 10);
    EXPECT_EQ(signals.Drain().size(), 1u) << rule::SIG_005;
  }
  EXPECT_EQ(ring.Drain().samples.size(), 9u);
}

// The records of a precise event could wait in the PMU's buffer. A signal for a full buffer would
// not be the signal of an overflow.
CONFORMANCE_CASE(Signal, PreciseOverflowsAreSignalledOneByOne,
                 .rules = {rule::SIG_005, rule::SIG_004},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kPrecise}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Precise(10));
  Ring ring(event, 1);
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  event.Enable();
  for (int i = 0; i < 5; ++i) {
    target().Stimulate(spec, 9);
    EXPECT_THAT(signals.Drain(), testing::IsEmpty()) << rule::SIG_004;
    target().Stimulate(spec, 1);
    EXPECT_EQ(signals.Drain().size(), 1u) << rule::SIG_005;
  }
  EXPECT_EQ(ring.Drain().samples.size(), 5u);
}

CONFORMANCE_CASE(Signal, OnlyTheOwnerIsSignalled, .rules = {rule::SIG_003},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  std::promise<pid_t> tid;
  std::promise<void> overflowed;
  std::size_t in_thread = 0;
  const OverflowSignals blocked_here_and_in_threads(event, gettid(), SIGRTMIN);
  std::thread owner([&] {
    tid.set_value(gettid());
    overflowed.get_future().wait();
    in_thread = blocked_here_and_in_threads.Drain().size();
  });
  const OverflowSignals to_thread(event, tid.get_future().get(), SIGRTMIN);
  event.Enable();
  target().Stimulate(spec, 10);
  const std::size_t in_main = to_thread.Drain().size();
  overflowed.set_value();
  owner.join();
  EXPECT_EQ(in_thread, 1u);
  EXPECT_EQ(in_main, 0u);
}

CONFORMANCE_CASE(Signal, MappedEventSignalsAfterItsClose, .rules = {rule::SIG_012},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  Event event = Open(spec, {.sample_period = 10, .sample_type = PERF_SAMPLE_PERIOD});
  std::optional<Ring> ring(std::in_place, event, 1);
  const OverflowSignals signals(event, gettid(), SIGRTMIN);
  const int fd = event.fd();
  event.Enable();
  event.Close();
  for (int i = 0; i < 4; ++i) {
    target().Stimulate(spec, 10);
    const std::vector<siginfo_t> got = signals.Drain();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].si_code, POLL_IN);
    EXPECT_EQ(got[0].si_fd, fd);
  }
  EXPECT_EQ(ring->Drain().samples.size(), 4u);
  ring.reset();
  target().Stimulate(spec, 10);
  EXPECT_THAT(signals.Drain(), testing::IsEmpty());
}

// Replaces this process by a program that reads `input`. The next overflow on this CPU signals it.
int ExecSignalled(const EventSpec& spec, int input) {
  const Event event = Open(spec, {.pid = -1, .cpu = EventCpu(), .flags = 0, .sample_period = 10});
  const f_owner_ex self = {F_OWNER_TID, gettid()};
  if (fcntl(event.fd(), F_SETOWN_EX, &self) != 0 || fcntl(event.fd(), F_SETSIG, SIGUSR1) != 0 ||
      fcntl(event.fd(), F_SETFL, O_ASYNC) != 0 || dup2(input, STDIN_FILENO) < 0) {
    return 124;
  }
  event.Enable();
  execl("/bin/cat", "cat", nullptr);
  return 125;
}

CONFORMANCE_CASE(Signal, SignalsComeAfterExec, .rules = {rule::SIG_013},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask},
                 .timing = "waits for the end-of-file from the exec, then for the child's end") {
  const EventSpec spec = target().AnyEvent();
  int input[2], exec[2];
  ASSERT_EQ(pipe2(input, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(exec, O_CLOEXEC), 0);
  Child child([&] { return ExecSignalled(spec, input[0]); });
  close(exec[1]);
  child.Go();
  char byte = 0;
  ASSERT_EQ(read(exec[0], &byte, 1), 0);
  target().Stimulate(spec, 10);
  close(input[1]);  // ends the program if no signal has ended it
  EXPECT_EQ(child.Wait(), -SIGUSR1);
  for (const int fd : {input[0], exec[0]}) close(fd);
}

}  // namespace
}  // namespace pmuconf
