// SPDX-License-Identifier: Apache-2.0
// The locked memory of ring buffers: how much a user may have, and that the kernel releases it.
#include <sys/resource.h>

#include <optional>

#include "cases/common.h"
#include "cases/locked_memory.h"
#include "perf/ring.h"
#include "rules/RB.h"
#include "stimulus/aux.h"

namespace pmuconf {
namespace {

Event OpenSampling() { return Open(target().AnyEvent(), {.sample_period = 1'000}); }

// The errno of a child with that RLIMIT_MEMLOCK that maps `pages` data pages and the control page.
int ErrnoOfMapping(std::size_t pages, std::size_t limit_pages, bool may_lock = false) {
  Child child([=] {
    const Event event = OpenSampling();
    const rlimit limit = {limit_pages * PageSize(), limit_pages * PageSize()};
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) throw Broken("setrlimit");
    if (!may_lock) DropIpcLock();
    return Ring::TryMap(event, pages).error;
  });
  return child.Run();
}

CONFORMANCE_CASE(RingBuffer, LockedMemoryHasALimit, .rules = {rule::RB_015},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const Sysctl paranoid(kParanoid, "0");
  const OtherUser user;
  const std::size_t beyond = 17 - FreePages();
  ASSERT_GT(beyond, 0u);
  EXPECT_EQ(ErrnoOfMapping(16, beyond), 0);
  EXPECT_EQ(ErrnoOfMapping(16, beyond - 1), EPERM);
  EXPECT_EQ(ErrnoOfMapping(16, 0, true), 0) << "CAP_IPC_LOCK";
  {
    const Sysctl not_paranoid(kParanoid, "-1");
    EXPECT_EQ(ErrnoOfMapping(16, 0), 0);
  }
  const Sysctl more(kFree, std::to_string(17 * PageSize() / 1'024));
  EXPECT_EQ(ErrnoOfMapping(16, 0), 0) << "all pages are free";
}

CONFORMANCE_CASE(RingBuffer, UnmapReleasesLockedMemory, .rules = {rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const OtherUser user;
  const std::size_t before = Pinned();
  const std::size_t charged = before + 33 - FreePages();
  for (const bool close_first : {false, true}) {
    Event event = OpenSampling();
    {
      const Ring ring(event, 32);
      EXPECT_EQ(Pinned(), charged);
      EXPECT_THAT(Ring::TryMap(event, 16), FailsWith(EINVAL));
      EXPECT_EQ(Pinned(), charged) << "a refused mapping costs nothing";
      if (close_first) event.Close();
      EXPECT_EQ(Pinned(), charged);
    }
    EXPECT_EQ(Pinned(), before);
  }
}

CONFORMANCE_CASE(RingBuffer, LockedMemoryIsReleasedInAnyOrder, .rules = {rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const OtherUser user;
  const std::size_t before = Pinned();
  for (const std::size_t goes_first : {0, 1, 2}) {
    std::vector<Event> events;
    std::vector<std::optional<Ring>> rings(3);
    for (std::optional<Ring>& ring : rings) {
      events.push_back(OpenSampling());
      ring.emplace(events.back(), 32);
    }
    EXPECT_EQ(Pinned(), before + 3 * 33 - FreePages());
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(goes_first));
    rings[goes_first].reset();
    events.clear();
    rings[(goes_first + 1) % 3].reset();
    rings[(goes_first + 2) % 3].reset();
    EXPECT_EQ(Pinned(), before);
  }
}

CONFORMANCE_CASE(RingBuffer, ExitReleasesLockedMemory, .rules = {rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const OtherUser user;
  const std::size_t before = Pinned();
  const Event event = OpenSampling();
  for (const bool event_of_parent : {true, false}) {
    Child maps([&] {
      const Event own = OpenSampling();
      // The child does not unmap it: the exit of the process must release it.
      auto* ring = new Ring(event_of_parent ? event : own, 32);
      return Pinned() == 33 - FreePages() && ring->head() == 0 ? 0 : 1;
    });
    EXPECT_EQ(maps.Run(), 0);
    EXPECT_EQ(Pinned(), before);
    const Ring ring(event, 32);
    EXPECT_EQ(Pinned(), before + 33 - FreePages()) << "the user has its free pages again";
  }
  EXPECT_EQ(Pinned(), before);
}

// A wrong charge is visible in the next mapping: the user has fewer free pages then.
CONFORMANCE_CASE(RingBuffer, SecondMappingIsNotCharged, .rules = {rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const OtherUser user;
  const std::size_t before = Pinned();
  const std::size_t charged = before + 33 - FreePages();
  const Event event = OpenSampling();
  for (const bool in_child : {false, true}) {
    {
      const Ring ring(event, 32);
      EXPECT_EQ(Pinned(), charged);
      if (in_child) {
        Child child(
            [&event] { return Ring::TryMap(event, 32).error + static_cast<int>(Pinned()); });
        EXPECT_EQ(child.Run(), 0) << "charged to another process";
      } else {
        EXPECT_THAT(Ring::TryMap(event, 32), Succeeds());
      }
      EXPECT_EQ(Pinned(), charged) << "one buffer, charged once";
    }
    const Ring next(event, 32);
    EXPECT_EQ(Pinned(), charged) << "the user has its free pages again";
  }
}

// An AUX area that the kernel refuses must not keep a use of the buffer that it would belong to.
CONFORMANCE_CASE(RingBuffer, RefusedAreaLeavesNoCharge, .rules = {rule::RB_016, rule::RB_017},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const OtherUser user;
  const std::size_t before = Pinned();
  const std::size_t charged = before + 33 - FreePages();
  const Event event = OpenSampling();
  for (int i = 0; i < 3; ++i) {
    {
      Ring ring(event, 32);
      EXPECT_THAT(AuxArea::TryMap(event, &ring), FailsWith(EOPNOTSUPP));
      EXPECT_EQ(Pinned(), charged) << rule::RB_016;
    }
    EXPECT_EQ(Pinned(), before) << rule::RB_016;
  }
  EXPECT_THAT(Ring::TryMap(event, 16), Succeeds())
      << "the event has no buffer any more: " << rule::RB_017;
}

// Then the user already has more pages than are free. Only the pages of the new buffer count.
CONFORMANCE_CASE(RingBuffer, LoweredLimitChargesNewPagesOnly, .rules = {rule::RB_035, rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const OtherUser user;
  const std::size_t before = Pinned();
  const Event first = OpenSampling(), second = OpenSampling();
  std::optional<Ring> free_ring;
  {
    const Sysctl many_pages(kFree, std::to_string(33 * PageSize() / 1'024));
    free_ring.emplace(first, 32);
    EXPECT_EQ(Pinned(), before) << "all its pages are free: " << rule::RB_035;
  }
  const Sysctl free_pages(kFree, OnePage());
  for (int i = 0; i < 2; ++i) {
    const Ring ring(second, 64);
    EXPECT_EQ(Pinned(), before + 65) << rule::RB_035;
  }
  EXPECT_EQ(Pinned(), before) << rule::RB_016;
  free_ring.reset();
  const Ring ring(second, 64);
  EXPECT_EQ(Pinned(), before + 65 - FreePages())
      << "the user has its free pages again: " << rule::RB_016;
}

CONFORMANCE_CASE(RingBuffer, BufferBeyondTheMemoryIsRefused, .rules = {rule::RB_024, rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const std::size_t before = Pinned();
  const Event event = OpenSampling();
  EXPECT_THAT(Ring::TryMap(event, std::size_t{1} << 21), FailsWith(ENOMEM)) << rule::RB_024;
  EXPECT_EQ(Pinned(), before) << rule::RB_016;
  EXPECT_THAT(Ring::TryMap(event, 1), Succeeds()) << rule::RB_024;
}

}  // namespace
}  // namespace pmuconf
