// SPDX-License-Identifier: Apache-2.0
// An event that overflows until the kernel throttles it.
#ifndef PMUCONF_CASES_THROTTLE_THROTTLED_H_
#define PMUCONF_CASES_THROTTLE_THROTTLED_H_

#include <time.h>

#include <utility>
#include <vector>

#include "cases/common.h"
#include "cases/subject.h"
#include "perf/ring.h"
#include "rules/THR.h"
#include "system/sysctl.h"

namespace pmuconf {

inline constexpr std::uint64_t kOnePerTick = 1;  // the lowest rate: one overflow per tick

// An event with a ring buffer. Drain() appends its records to `got`, in order.
struct Throttled {
  EventSpec spec;
  Event event;
  Ring ring;
  RingContents got = {};
  std::vector<Event> companions = {};

  // The event of the case's dimensions.
  Throttled(const Case& at, std::uint64_t period, std::uint64_t sample_type = PERF_SAMPLE_PERIOD)
      : Throttled(Subject(at, {.sample_period = period,
                               .sample_type = sample_type | PERF_SAMPLE_ID,
                               .sample_id_all = true})) {}
  explicit Throttled(Subject subject)
      : spec(subject.spec()),
        event(std::move(subject.mutable_event())),
        ring(event, 16),
        companions(subject.TakeOthers()) {
    // A kernel may write the records for the leader of the group.
    for (const Event& leader : companions) leader.SetOutput(event);
    event.Enable();
  }

  explicit Throttled(std::uint64_t period, std::uint64_t sample_type = PERF_SAMPLE_PERIOD,
                     const EventSpec& of = target().AnyEvent(), bool pinned = false)
      : spec(of),
        event(Open(spec, {.sample_period = period,
                          .sample_type = sample_type | PERF_SAMPLE_ID,
                          .pinned = pinned,
                          .sample_id_all = true})),
        ring(event, 16) {
    event.Enable();
  }

  void Drain() {
    const RingContents more = ring.Drain();
    got.samples.insert(got.samples.end(), more.samples.begin(), more.samples.end());
    got.throttles.insert(got.throttles.end(), more.throttles.begin(), more.throttles.end());
    got.order.insert(got.order.end(), more.order.begin(), more.order.end());
    EXPECT_THAT(more.lost, testing::IsEmpty());
  }

  bool throttled() const { return !got.throttles.empty() && got.throttles.back().throttle; }

  // Generates overflows until the last record is a THROTTLE. One batch is enough, unless a tick
  // intervenes.
  void UntilThrottled() {
    for (int i = 0; i < 1'000 && !throttled(); ++i) {
      Pulse(spec, 20 * event.attr().sample_period);
      Drain();
    }
    ASSERT_TRUE(throttled()) << rule::THR_001;
  }

  // Waits at most `limit_ns` until the event is unthrottled. It reads the clock before the buffer.
  // If the machine does not run in between, its tick has come when the buffer is read.
  void UntilUnthrottled(std::int64_t limit_ns = 2'000'000'000) {
    timespec start = {};
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
      clock_gettime(CLOCK_MONOTONIC, &now);
      Drain();
    } while (throttled() &&
             (now.tv_sec - start.tv_sec) * 1'000'000'000 + now.tv_nsec - start.tv_nsec < limit_ns);
    ASSERT_FALSE(throttled()) << rule::THR_002;
  }

  // Waits for the end of a throttle. Before Linux 6.16 a tick does not restart a sibling. The next
  // switch of tasks does.
  void UntilRestarted() {
    if (!companions.empty()) {
      Child child([] { return 0; });
      ASSERT_EQ(child.Run(), 0);
    }
    UntilUnthrottled();
  }
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_THROTTLE_THROTTLED_H_
