// SPDX-License-Identifier: Apache-2.0
// The count and the times in the control page: of one event, of several events, and during an
// update.
#include <atomic>
#include <thread>

#include "cases/common.h"
#include "cases/subject.h"
#include "perf/ring.h"
#include "perf/user_page.h"
#include "rules/RDP.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(UserPage, StoppedEventPageEqualsRead, .rules = {rule::RDP_001, rule::RDP_012},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kAnyTask}) {
  for (const EventSpec& spec : target().Events()) {
    SCOPED_TRACE(spec.name);
    const Event event = Open(spec);
    const Ring ring(event, 0);
    std::uint64_t total = 0;
    for (const std::uint64_t n : {0, 1, 1'000, 0x1'2345}) {
      const std::uint32_t lock = ReadUserPage(ring.page()).lock;
      event.Enable();
      target().Stimulate(spec, n);
      event.Disable();
      const UserPage page = ReadUserPage(ring.page());
      total += n;
      EXPECT_NE(page.lock, lock) << rule::RDP_001;
      EXPECT_EQ(page.count, event.Read().value) << rule::RDP_001;
      EXPECT_THAT(page.count, Counted(spec, total)) << rule::RDP_001;
      if (n != 1'000) continue;
      event.Reset();
      total = 0;
      EXPECT_EQ(ReadUserPage(ring.page()).count, 0u) << rule::RDP_012;
    }
  }
}

CONFORMANCE_CASE(UserPage, StoppedMemberPageEqualsRead, .rules = {rule::RDP_001},
                 .needs = {Cap::kStimulus, Cap::kCounters},
                 .over = {Over<dim::Scope>(), Over<dim::Member>(),
                          Over(dim::Before::kFresh, dim::Before::kReset, dim::Before::kMoved)}) {
  const Subject subject(*this);
  const Ring ring(subject.event(), 0);
  std::uint64_t total = 0;
  for (const std::uint64_t n : {1, 1'000}) {
    subject.event().Enable();
    Pulse(subject.spec(), n);
    subject.event().Disable();
    total += n;
    const UserPage page = ReadUserPage(ring.page());
    EXPECT_THAT(page.count, Counted(subject.spec(), total));
    EXPECT_EQ(page.count, subject.event().Read().value);
  }
}

CONFORMANCE_CASE(UserPage, NewPageOfAStoppedEventEqualsRead, .rules = {rule::RDP_001},
                 .needs = {Cap::kStimulus, Cap::kCounters}, .over = {Over<dim::Scope>()}) {
  const Subject subject(*this);
  subject.event().Enable();
  Pulse(subject.spec(), 700);
  subject.event().Disable();
  const Ring ring(subject.event(), 0);
  const UserPage page = ReadUserPage(ring.page());
  const Reading read = subject.event().Read();
  EXPECT_THAT(page.count, Counted(subject.spec(), 700));
  EXPECT_EQ(page.count, read.value);
  EXPECT_EQ(page.time_enabled, read.time_enabled);
  EXPECT_EQ(page.time_running, read.time_running);
}

CONFORMANCE_CASE(UserPage, ResetWhileCountingStartsThePageAtZero, .rules = {rule::RDP_012},
                 .needs = {Cap::kStimulus, Cap::kCounters},
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  const Subject subject(*this);
  const auto [spec, event] = subject.Parts();
  const Ring ring(event, 0);
  event.Enable();
  target().Stimulate(spec, 500);
  event.Reset();
  target().Stimulate(spec, 7);
  event.Disable();
  const UserPage page = ReadUserPage(ring.page());
  EXPECT_THAT(page.count, Counted(spec, 7));
  EXPECT_EQ(page.count, event.Read().value);
}

CONFORMANCE_CASE(UserPage, ConcurrentReaderSeesNoTornPage, .rules = {rule::RDP_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kCpus2}) {
  constexpr std::uint64_t kPeriod = 10;
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod});
  const Ring ring(event, 0);
  event.Enable();
  std::atomic<bool> done = false;
  std::thread reader([&] {
    PinTo(target().Cpu(1));
    UserPage last;
    while (!done) {
      const UserPage page = ReadUserPage(ring.page());
      ASSERT_EQ(page.lock % 2, 0u);
      // The event never waits for a counter, so the two times are equal. The kernel stores one
      // after the other.
      ASSERT_EQ(page.time_enabled, page.time_running);
      ASSERT_GE(page.time_enabled, last.time_enabled);
      ASSERT_GE(page.count, last.count);
      last = page;
    }
  });
  for (int i = 0; i < 100; ++i) target().Stimulate(spec, 20 * kPeriod);
  done = true;
  reader.join();
  event.Disable();
  EXPECT_THAT(ReadUserPage(ring.page()).count, Counted(spec, 20'000));
}

CONFORMANCE_CASE(UserPage, RunningTimeFallsBehindUnderRotation, .rules = {rule::RDP_005},
                 .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kAnyTask},
                 .timing =
                     "waits until three events have both waited for a counter and run on one, at "
                     "most 5 s; a turn takes 1 ms") {
  const MuxInterval interval(1);
  std::vector<EventSpec> specs = FullSet();
  specs.insert(specs.end(), 2, target().AnyEvent());
  const std::vector<Event> events = OpenEach(specs);
  std::vector<Ring> rings;
  for (const Event& event : events) rings.emplace_back(event, 0);
  EnableEach(events);
  std::size_t behind = 0;  // events of one code, which share counters
  const auto all_behind = [&] {
    behind = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const UserPage page = ReadUserPage(rings[i].page());
      EXPECT_LE(page.time_running, page.time_enabled);
      if (page.time_running > 0 && page.time_running < page.time_enabled) ++behind;
    }
    return behind >= 3;
  };
  EXPECT_TRUE(RepeatUntil([] { BusyWait(0.001); }, all_behind)) << behind;
  DisableEach(events);
}

CONFORMANCE_CASE(UserPage, ThreadPagesAreIndependent, .rules = {rule::RDP_010},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kCpus2, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    threads.emplace_back([&spec, &ready, n] {
      PinTo(target().Cpu(n % 2));
      const Event event = Open(spec);
      const Ring ring(event, 0);
      ++ready;
      while (ready < 3) std::this_thread::yield();
      for (std::uint64_t total = n; total <= 100 * n; total += n) {
        event.Enable();
        target().Stimulate(spec, n);
        event.Disable();
        ASSERT_THAT(ReadUserPage(ring.page()).count, Counted(spec, total));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

CONFORMANCE_CASE(UserPage, MembersOfAGroupHaveTheirOwnPages, .rules = {rule::RDP_011},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  std::vector<Ring> rings;
  for (const Event& event : group.events()) rings.emplace_back(event, 0);
  group.Enable();
  const std::vector<std::uint64_t> want = PulseEach(specs, 4'000);
  group.Disable();
  const GroupReading reading = group.Read();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const UserPage page = ReadUserPage(rings[i].page());
    EXPECT_THAT(page.count, Counted(specs[i], want[i]));
    EXPECT_EQ(page.count, reading.entries[i].value);
    EXPECT_GT(page.time_running, 0u);
  }
}

CONFORMANCE_CASE(UserPage, PagesOfOtherTasksShowTheirEvents, .rules = {rule::RDP_011},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kQuietFork, Cap::kTasks,
                           Cap::kGroups, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  std::vector<std::unique_ptr<Child>> children;
  std::vector<Event> events;
  std::vector<Ring> rings;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    children.push_back(std::make_unique<Child>([&spec, n] {
      target().Stimulate(spec, 111 * n);
      return 0;
    }));
    events.push_back(Open(spec, {.pid = children.back()->pid(), .disabled = false}));
    rings.emplace_back(events.back(), 0);
  }
  target().Stimulate(spec, 5'000);
  for (const auto& child : children) child->Go();
  for (const auto& child : children) ASSERT_EQ(child->Wait(), 0);
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const UserPage page = ReadUserPage(rings[n - 1].page());
    EXPECT_EQ(page.index, 0u);
    EXPECT_THAT(page.count, Counted(spec, 111 * n));
    EXPECT_EQ(page.count, events[n - 1].Read().value);
    EXPECT_GT(page.time_running, 0u);
  }
}

}  // namespace
}  // namespace pmuconf
