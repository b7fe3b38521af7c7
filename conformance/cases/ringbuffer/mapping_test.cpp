// SPDX-License-Identifier: Apache-2.0
// Mapping the ring buffer of an event: valid sizes and flags, and the permissions of its pages.
#include <signal.h>
#include <sys/mman.h>

#include "harness/case.h"
#include "perf/ring.h"
#include "rules/RB.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

const std::size_t kPage = PageSize();

CONFORMANCE_CASE(RingBuffer, SizeIsAPowerOfTwoAndOnePage, .rules = {rule::RB_001},
                 .needs = {Cap::kSampling}) {
  for (std::size_t pages = 0; pages <= 17; ++pages) {
    SCOPED_TRACE(pages);
    const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
    const bool fits = (pages & (pages - 1)) == 0 || pages == 0;
    EXPECT_EQ(Ring::TryMap(event, pages).error, fits ? 0 : EINVAL);
  }
}

CONFORMANCE_CASE(RingBuffer, PrivateMappingIsRefused, .rules = {rule::RB_002},
                 .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  for (const int protection : {PROT_READ, PROT_READ | PROT_WRITE}) {
    const void* base = mmap(nullptr, 2 * kPage, protection, MAP_PRIVATE, event.fd(), 0);
    EXPECT_EQ(base, MAP_FAILED);
    EXPECT_EQ(errno, EINVAL);
  }
}

CONFORMANCE_CASE(RingBuffer, SecondMappingHasTheSameSize, .rules = {rule::RB_003},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  Ring first(event, 4);
  EXPECT_THAT(Ring::TryMap(event, 8), FailsWith(EINVAL));
  EXPECT_THAT(Ring::TryMap(event, 2), FailsWith(EINVAL));
  const Ring second(event, 4);
  event.Enable();
  target().Stimulate(spec, 30);
  EXPECT_EQ(second.head(), first.head());
  EXPECT_EQ(first.Drain().samples.size(), 3u);
  EXPECT_EQ(second.tail(), first.tail());
}

CONFORMANCE_CASE(RingBuffer, DataPagesAreReadOnly, .rules = {rule::RB_005},
                 .needs = {Cap::kSampling}) {
  Child writes_data([] {
    const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
    const Ring ring(event, 1);
    *const_cast<volatile std::byte*>(ring.data().data()) = std::byte{1};
    return 0;
  });
  EXPECT_EQ(writes_data.Run(), -SIGBUS);
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  Ring ring(event, 1);
  ring.set_tail(0);
  EXPECT_EQ(ring.tail(), 0u);
}

CONFORMANCE_CASE(RingBuffer, ForkedChildHasNoMapping, .rules = {rule::RB_006},
                 .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  const Ring ring(event, 1);
  Child reads([&ring] { return static_cast<int>(ring.head()); });
  EXPECT_EQ(reads.Run(), -SIGSEGV);
  EXPECT_EQ(ring.head(), 0u);
}

CONFORMANCE_CASE(RingBuffer, ControlPageReportsLayout, .rules = {rule::RB_014},
                 .needs = {Cap::kSampling}) {
  for (const std::size_t pages : {1, 2, 8, 64}) {
    const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
    const Ring ring(event, pages);
    EXPECT_EQ(ring.page().version, 0u);
    EXPECT_EQ(ring.page().data_offset, kPage);
    EXPECT_EQ(ring.page().data_size, pages * kPage);
    EXPECT_EQ(ring.head(), 0u);
  }
}

CONFORMANCE_CASE(RingBuffer, PauseNeedsDataPages, .rules = {rule::RB_013},
                 .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_PAUSE_OUTPUT, 1), FailsWith(EINVAL));
  const Event control_page_only = Open(target().AnyEvent(), {.sample_period = 1'000});
  const Ring page(control_page_only, 0);
  EXPECT_THAT(control_page_only.TryIoctl(PERF_EVENT_IOC_PAUSE_OUTPUT, 1), FailsWith(EINVAL));
  const Ring ring(event, 1);
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_PAUSE_OUTPUT, 1), Succeeds());
}

}  // namespace
}  // namespace pmuconf
