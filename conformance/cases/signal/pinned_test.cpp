// SPDX-License-Identifier: Apache-2.0
// Pinned events in the error state: the results of poll(2), and the signal.
#include <poll.h>

#include <fstream>
#include <sstream>

#include "cases/common.h"
#include "cases/signal/overflow_signals.h"
#include "harness/behaviour.h"
#include "perf/ring.h"
#include "rules/SIG.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

short Polled(const Event& event, int timeout_ms = 0) {
  pollfd wait = {event.fd(), POLLIN, 0};
  if (poll(&wait, 1, timeout_ms) < 0) throw Broken("poll");
  return wait.revents;
}

// Pinned events that take all counters of the PMU.
std::vector<Event> TakeAllCounters() {
  std::vector<Event> events = OpenEach(FullSet(), {.pinned = true});
  EnableEach(events);
  return events;
}

OpenOptions PinnedSampling() { return {.sample_period = 1'000, .pinned = true}; }

CONFORMANCE_CASE(Poll, PinnedEventInErrorReportsIt, .rules = {rule::SIG_020},
                 .needs = {Cap::kSampling, Cap::kMultiplexing, Cap::kTasks},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<Event> others = TakeAllCounters();
  const Event event = Open(target().AnyEvent(), PinnedSampling());
  EXPECT_EQ(Polled(event), POLLHUP) << "it is disabled";
  event.Enable();
  const short unmapped = Polled(event);
  EXPECT_TRUE(IsBehaviour(rule::SIG_020, "unmapped", unmapped));
  const Ring ring(event, 1);
  const short mapped = Polled(event);
  EXPECT_TRUE(IsBehaviour(rule::SIG_020, "mapped", mapped));
  EXPECT_EQ(unmapped == POLLERR, mapped == POLLERR);
  EXPECT_EQ(Polled(event), mapped) << "again";
  EXPECT_EQ(Polled(others[0]), POLLHUP) << "another event";
}

CONFORMANCE_CASE(Signal, PinnedEventInErrorSignalsIt, .rules = {rule::SIG_021},
                 .needs = {Cap::kSampling, Cap::kMultiplexing, Cap::kTasks},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<Event> others = TakeAllCounters();
  const Event event = Open(target().AnyEvent(), PinnedSampling());
  const OverflowSignals signals(event, gettid(), SIGRTMIN + 1);
  EXPECT_THAT(signals.Drain(), testing::IsEmpty());
  event.Enable();
  const std::vector<siginfo_t> got = signals.Drain();
  EXPECT_TRUE(IsBehaviour(rule::SIG_021, "signals", static_cast<std::int64_t>(got.size())));
  // A kernel that knows the error reports it both ways.
  EXPECT_EQ(got.size(), Polled(event) == POLLERR ? 1u : 0u);
  for (const siginfo_t& info : got) {
    EXPECT_EQ(info.si_code, POLL_ERR);
    EXPECT_EQ(info.si_fd, event.fd());
  }
}

// Whether the process sleeps.
bool Sleeps(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(") ");
  return end != std::string::npos && text.substr(end + 2, 1) == "S";
}

CONFORMANCE_CASE(Poll, ReaderWakesWhenItsPinnedEventFails, .rules = {rule::SIG_022},
                 .needs = {Cap::kSampling, Cap::kMultiplexing, Cap::kTasks, Cap::kCpus2},
                 .timing =
                     "waits until the reader sleeps in poll, at most 5 s; the reader waits "
                     "at most 5 s for a wakeup that comes at once") {
  const std::vector<Event> others = TakeAllCounters();
  const Event event = Open(target().AnyEvent(), PinnedSampling());
  const Ring ring(event, 1);
  Child reader([&event] {
    PinTo(target().Cpu(1));
    return static_cast<int>(Polled(event, 5'000));
  });
  reader.Go();
  ASSERT_TRUE(RepeatUntil([] {}, [&reader] { return Sleeps(reader.pid()); }));
  event.Enable();
  EXPECT_EQ(reader.Wait(), POLLERR);
}

CONFORMANCE_CASE(Poll, RecoveredPinnedEventReportsNoError, .rules = {rule::SIG_023},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kMultiplexing, Cap::kTasks},
                 .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  std::vector<Event> others = TakeAllCounters();
  auto [event, ring] = Sampler(spec, {.sample_period = 10, .wakeup_events = 1, .pinned = true}, 1);
  others.clear();
  EXPECT_EQ(Polled(event) & POLLHUP, 0);
  event.Enable();
  EXPECT_EQ(Polled(event), 0);
  target().Stimulate(spec, 30);
  EXPECT_EQ(Polled(event), POLLIN);
  EXPECT_EQ(ring.Drain().samples.size(), 3u);
  EXPECT_THAT(event.Read(), Counted(spec, 30));
}

}  // namespace
}  // namespace pmuconf
