// SPDX-License-Identifier: Apache-2.0
// poll(2) on an event: its wakeups and its hang-ups.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "cases/precise/precise.h"
#include "harness/case.h"
#include "perf/ring.h"
#include "rules/SIG.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

// The current result of poll(2), without a wait.
short Poll(const Event& event) {
  pollfd what = {event.fd(), POLLIN, 0};
  if (poll(&what, 1, 0) < 0) throw Broken("poll");
  return what.revents;
}

const std::size_t kPage = PageSize();

CONFORMANCE_CASE(Poll, WakesEveryWakeupEventsSamples, .rules = {rule::SIG_006, rule::SIG_011},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint32_t wakeup : {1, 2, 5}) {
    auto [event, ring] = Sampler(spec, {.sample_period = 10, .wakeup_events = wakeup}, 4);
    for (std::uint32_t i = 1; i <= 4 * wakeup; ++i) {
      target().Stimulate(spec, 10);
      EXPECT_EQ(Poll(event), i % wakeup == 0 ? POLLIN : 0) << rule::SIG_006;
      EXPECT_EQ(Poll(event), 0) << rule::SIG_011;
    }
  }
}

// The samples of a precise event may wait in the PMU's buffer, except when a reader waits for a
// wakeup.
CONFORMANCE_CASE(Poll, PreciseEventWakesEveryWakeupEventsSamples, .rules = {rule::SIG_006},
                 .needs = {Cap::kStimulus, Cap::kPrecise}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint32_t wakeup : {1, 3}) {
    OpenOptions options = Precise(10);
    options.wakeup_events = wakeup;
    auto [event, ring] = Sampler(spec, options, 4);
    for (std::uint32_t i = 1; i <= 4 * wakeup; ++i) {
      target().Stimulate(spec, 10);
      EXPECT_EQ(Poll(event), i % wakeup == 0 ? POLLIN : 0);
    }
  }
}

CONFORMANCE_CASE(Poll, WakesAboveTheWatermark, .rules = {rule::SIG_007},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(
      spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_ADDR, .wakeup_watermark = 100}, 4);
  target().Stimulate(spec, 6);
  ASSERT_EQ(ring.head(), 96u);
  EXPECT_EQ(Poll(event), 0);
  target().Stimulate(spec, 1);
  ASSERT_EQ(ring.head(), 112u);
  EXPECT_EQ(Poll(event), POLLIN);
}

CONFORMANCE_CASE(Poll, WakesAboveHalfTheBufferByDefault, .rules = {rule::SIG_008},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event =
      Open(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD});
  for (const std::size_t pages : {1, 4}) {
    const Ring ring(event, pages);
    event.Enable();
    target().Stimulate(spec, pages * kPage / 2 / 24);
    EXPECT_EQ(Poll(event), 0);
    target().Stimulate(spec, 1);
    EXPECT_EQ(Poll(event), POLLIN);
    event.Disable();
  }
}

CONFORMANCE_CASE(Poll, OtherRecordsDoNotCountAsWakeupEvents, .rules = {rule::SIG_019},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec,
                               {.sample_period = 10,
                                .wakeup_events = 2,
                                .edit = [](perf_event_attr& attr) { attr.comm = 1; }},
                               4);
  target().Stimulate(spec, 10);
  for (const char* name : {"one", "two", "three"}) prctl(PR_SET_NAME, name);
  EXPECT_EQ(Poll(event), 0);
  target().Stimulate(spec, 10);
  EXPECT_EQ(Poll(event), POLLIN);
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 2u);
  EXPECT_EQ(got.others.size(), 3u);
}

CONFORMANCE_CASE(Poll, HangsUpWhenTheTargetExits, .rules = {rule::SIG_009},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  Child child([&spec] {
    target().Stimulate(spec, 25);
    return 0;
  });
  auto [event, ring] = Sampler(spec, {.pid = child.pid(), .sample_period = 10}, 1);
  EXPECT_EQ(Poll(event), 0);
  ASSERT_EQ(child.Run(), 0);
  EXPECT_EQ(Poll(event) & POLLHUP, POLLHUP);
  EXPECT_EQ(ring.Drain().samples.size(), 2u);
}

CONFORMANCE_CASE(Poll, HangsUpWithoutABuffer, .rules = {rule::SIG_010}, .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000'000});
  event.Enable();
  EXPECT_EQ(Poll(event), POLLHUP);
}

// epoll(7) notices a record only if the kernel wakes those that wait for the event.
CONFORMANCE_CASE(Poll, RedirectedRecordsWakeTheBuffersReader, .rules = {rule::SIG_018},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const OpenOptions options = {.sample_period = 10, .wakeup_events = 1};
  const Event owner = Open(specs[0], options);
  const Event redirected = Open(specs[1], options);
  Ring ring(owner, 1);
  redirected.SetOutput(owner);
  const Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event ready = {.events = EPOLLIN, .data = {.u64 = 0}};
  ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, owner.fd(), &ready), 0);
  redirected.Enable();
  const std::uint64_t last = target().min_period();  // the driver may lengthen a shorter period
  target().Stimulate(specs[1], 10 - last);
  EXPECT_EQ(Poll(owner), 0);
  EXPECT_EQ(epoll_wait(epoll.get(), &ready, 1, 0), 0);
  target().Stimulate(specs[1], last);
  ASSERT_EQ(epoll_wait(epoll.get(), &ready, 1, 0), 1);
  EXPECT_EQ(ready.events, std::uint32_t{EPOLLIN});
  EXPECT_EQ(ring.Drain().samples.size(), 1u);
}

CONFORMANCE_CASE(Poll, EpollReportsEachWakeupOnce, .rules = {rule::SIG_011},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint32_t trigger : {0u, static_cast<std::uint32_t>(EPOLLET)}) {
    const Event event = Open(spec, {.sample_period = 10, .wakeup_events = 1});
    Ring ring(event, 1);
    const Fd epoll(epoll_create1(EPOLL_CLOEXEC));
    epoll_event what = {.events = EPOLLIN | trigger, .data = {.u64 = 77}};
    ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, event.fd(), &what), 0);
    const auto ready = [&] { return epoll_wait(epoll.get(), &what, 1, 0); };
    event.Enable();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(ready(), 0);
      target().Stimulate(spec, 10);
      ASSERT_EQ(ready(), 1);
      EXPECT_EQ(what.events, std::uint32_t{EPOLLIN});
      EXPECT_EQ(what.data.u64, 77u);
      EXPECT_EQ(ready(), 0);
    }
  }
}

}  // namespace
}  // namespace pmuconf
