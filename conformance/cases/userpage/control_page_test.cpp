// SPDX-License-Identifier: Apache-2.0
// The control page as a way to read an event: its contents if user space cannot read the counters.
#include "cases/common.h"
#include "perf/ring.h"
#include "rules/RDP.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(UserPage, CapabilityBitsAreConsistent, .rules = {rule::RDP_002, rule::RDP_006},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {}, 0);
  target().Stimulate(spec, 10);
  EXPECT_EQ(std::uint64_t{ring.page().cap_bit0_is_deprecated}, 1u) << rule::RDP_002;
  EXPECT_EQ(std::uint64_t{ring.page().cap_bit0}, 0u) << rule::RDP_002;
  EXPECT_EQ(ring.page().cap_user_rdpmc != 0, target().Claims(Cap::kUserReads)) << rule::RDP_002;
  EXPECT_EQ(ring.page().cap_user_time != 0, ring.page().time_mult != 0) << rule::RDP_006;
}

CONFORMANCE_CASE(UserPage, ReservedBytesAreZero, .rules = {rule::RDP_016},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {}, 0);
  target().Stimulate(spec, 10);
  event.Disable();
  const volatile perf_event_mmap_page& page = ring.page();
  EXPECT_EQ(page.size, offsetof(perf_event_mmap_page, __reserved));
  EXPECT_EQ(page.__reserved_1, 0u);
  EXPECT_EQ(std::uint64_t{page.cap_____res}, 0u);
  const auto* bytes = reinterpret_cast<const volatile unsigned char*>(&page);
  for (std::size_t i = page.size; i < offsetof(perf_event_mmap_page, data_head); ++i) {
    ASSERT_EQ(bytes[i], 0) << "byte " << i;
  }
  for (std::size_t i = sizeof(page); i < PageSize(); ++i) {
    ASSERT_EQ(bytes[i], 0) << "byte " << i;
  }
}

CONFORMANCE_CASE(UserPage, IndexIsZeroWithoutUserReads, .rules = {rule::RDP_003},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t period : {std::uint64_t{0}, std::uint64_t{10}}) {
    const Event event = Open(spec, {.sample_period = period});
    const Ring ring(event, 1);
    EXPECT_EQ(ring.page().index, 0u);
    event.Enable();
    EXPECT_EQ(ring.page().index, 0u);
    target().Stimulate(spec, 25);
    EXPECT_EQ(ring.page().index, 0u);
    event.Disable();
    EXPECT_EQ(ring.page().index, 0u);
  }
}

CONFORMANCE_CASE(UserPage, IndexIsZeroOnEveryCounter, .rules = {rule::RDP_003},
                 .needs = {Cap::kStimulus}) {
  const std::vector<Event> events = OpenEach(FullSet());
  EnableEach(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Ring ring(events[i], 0);
    EXPECT_EQ(ring.page().index, 0u) << i;
    events[i].Disable();
    EXPECT_EQ(ring.page().index, 0u) << i;
  }
}

CONFORMANCE_CASE(UserPage, TimesNeverExceedLaterRead, .rules = {rule::RDP_005},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  const Ring ring(event, 0);
  for (int i = 0; i < 5; ++i) {
    event.Enable();
    target().Stimulate(spec, 10);
    const std::uint64_t enabled = ring.page().time_enabled;
    const std::uint64_t running = ring.page().time_running;
    const Reading reading = event.Read();
    EXPECT_LE(enabled, reading.time_enabled);
    EXPECT_LE(running, reading.time_running);
    event.Disable();
    const std::uint64_t off = ring.page().time_enabled;
    target().Stimulate(spec, 10);
    EXPECT_EQ(ring.page().time_enabled, off);
  }
}

}  // namespace
}  // namespace pmuconf
