// SPDX-License-Identifier: Apache-2.0
// Times without a system call: the clock's cycles, converted with the values in the control page.
#include "cases/common.h"
#include "harness/behaviour.h"
#include "perf/ring.h"
#include "perf/user_page.h"
#include "rules/RDP.h"

namespace pmuconf {
namespace {

// The kernel recalibrates its clock from time to time, and a control page has the old values until
// its next update. So the case ignores a round with a recalibration.
class Calibration {
 public:
  explicit Calibration(const Ring& ring) : page_(ring.page()), before_(Now()) {}
  bool IsUnchanged() const { return Now() == before_; }

 private:
  std::pair<std::uint32_t, std::uint16_t> Now() const {
    return {page_.time_mult, page_.time_shift};
  }

  const volatile perf_event_mmap_page& page_;
  std::pair<std::uint32_t, std::uint16_t> before_;
};

constexpr int kRounds = 20;

CONFORMANCE_CASE(UserPage, CyclesScaleToTimeSinceUpdate, .rules = {rule::RDP_006},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  const Ring ring(event, 0);
  if (!ring.page().cap_user_time) SkipWithout("cap_user_time");
  int judged = 0;
  for (int i = 0; i < kRounds; ++i) {
    event.Disable();
    event.Enable();  // updates the page
    const Calibration clock(ring);
    const std::uint64_t before = event.Read().time_enabled;
    const UserPage page = ReadUserPage(ring.page());
    const std::uint64_t after = event.Read().time_enabled;
    event.Disable();
    event.Enable();
    if (!clock.IsUnchanged()) continue;
    ++judged;
    EXPECT_GE(page.time_enabled + page.since, before);
    EXPECT_LE(page.time_enabled + page.since, after);
  }
  EXPECT_GT(judged, 0);
}

CONFORMANCE_CASE(UserPage, CyclesScaleToSampleTime, .rules = {rule::RDP_007},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t period = target().min_period();
  const Event event = Open(spec, {.sample_period = period, .sample_type = PERF_SAMPLE_TIME});
  Ring ring(event, 1);
  if (!ring.page().cap_user_time_zero) SkipWithout("cap_user_time_zero");
  EXPECT_NE(std::uint64_t{ring.page().cap_user_time}, 0u);
  const auto now = [&ring] {
    return ring.page().time_zero + CyclesToTime(ring.page(), ReadCycles());
  };
  event.Enable();
  int judged = 0;
  for (int i = 0; i < kRounds; ++i) {
    const Calibration clock(ring);
    const std::uint64_t before = now();
    target().Stimulate(spec, period);
    const std::uint64_t after = now();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    if (!clock.IsUnchanged()) continue;
    ++judged;
    EXPECT_GE(*got.samples[0].time, before);
    EXPECT_LE(*got.samples[0].time, after);
  }
  EXPECT_GT(judged, 0);
}

CONFORMANCE_CASE(UserPage, ClockidEventHasNoTimeZero, .rules = {rule::RDP_007}) {
  for (const clockid_t id : {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW}) {
    auto [event, ring] = Sampler(target().AnyEvent(),
                                 {.edit =
                                      [id](perf_event_attr& attr) {
                                        attr.use_clockid = 1;
                                        attr.clockid = id;
                                      }},
                                 0);
    EXPECT_EQ(std::uint64_t{ring.page().cap_user_time_zero}, 0u);
    EXPECT_EQ(ring.page().time_zero, 0u);
  }
}

CONFORMANCE_CASE(UserPage, ShortClockReportsMask, .rules = {rule::RDP_007}) {
  auto [event, ring] = Sampler(target().AnyEvent(), {}, 0);
  EXPECT_EQ(ring.page().cap_user_time_short != 0, ring.page().time_mask != 0);
  EXPECT_TRUE(ring.page().cap_user_time_short || ring.page().time_cycles == 0);
}

}  // namespace
}  // namespace pmuconf
