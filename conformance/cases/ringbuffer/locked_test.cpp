// SPDX-License-Identifier: Apache-2.0
// The locked memory of ring buffers: how much a user may have, and that the kernel releases it.
#include <sys/resource.h>

#include <optional>

#include "cases/common.h"
#include "cases/unprivileged.h"
#include "perf/ring.h"
#include "rules/RB.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

constexpr const char* kFree = "kernel/perf_event_mlock_kb";

// The value of perf_event_mlock_kb that gives a user one free page for each CPU, and the number of
// these pages.
std::string OnePage() { return std::to_string(PageSize() / 1'024); }
std::size_t FreePages() { return OnlineCpus().size(); }

// The pages that this process is charged for, in addition to the free pages of its user.
std::size_t Pinned() {
  const std::string status = *ReadFile("/proc/self/status");
  const std::size_t at = status.find("VmPin:");
  if (at == std::string::npos) throw Broken("/proc/self/status has no VmPin");
  return std::stoul(status.substr(at + 6)) * 1'024 / PageSize();
}

Event OpenSampling() { return Open(target().AnyEvent(), {.sample_period = 1'000}); }

void DropIpcLock() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) throw Broken("capget");
  data[0].effective &= ~(1u << CAP_IPC_LOCK);
  if (syscall(SYS_capset, &header, data) != 0) throw Broken("capset");
}

// The errno of a child with that RLIMIT_MEMLOCK that maps `pages` data pages and the control page.
int ErrnoOfMapping(std::size_t pages, std::size_t limit_pages, bool may_lock = false) {
  Child child([=] {
    const Event event = OpenSampling();
    const rlimit limit = {limit_pages * PageSize(), limit_pages * PageSize()};
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) throw Broken("setrlimit");
    if (!may_lock) DropIpcLock();
    return Ring::TryMap(event, pages).error;
  });
  child.Go();
  return child.Wait();
}

CONFORMANCE_CASE(RingBuffer, LockedMemoryHasALimit, .rules = {rule::RB_015},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const Sysctl paranoid(kParanoid, "0");
  const std::size_t beyond = 17 - FreePages();
  ASSERT_GT(beyond, 0u);
  EXPECT_EQ(ErrnoOfMapping(16, beyond), 0) << rule::RB_015.text;
  EXPECT_EQ(ErrnoOfMapping(16, beyond - 1), EPERM) << rule::RB_015.text;
  EXPECT_EQ(ErrnoOfMapping(16, 0, true), 0) << "CAP_IPC_LOCK: " << rule::RB_015.text;
  {
    const Sysctl not_paranoid(kParanoid, "-1");
    EXPECT_EQ(ErrnoOfMapping(16, 0), 0) << rule::RB_015.text;
  }
  const Sysctl more(kFree, std::to_string(17 * PageSize() / 1'024));
  EXPECT_EQ(ErrnoOfMapping(16, 0), 0) << "all pages are free: " << rule::RB_015.text;
}

CONFORMANCE_CASE(RingBuffer, UnmapReleasesLockedMemory, .rules = {rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const std::size_t before = Pinned();
  const std::size_t charged = before + 33 - FreePages();
  for (const bool close_first : {false, true}) {
    Event event = OpenSampling();
    {
      const Ring ring(event, 32);
      EXPECT_EQ(Pinned(), charged) << rule::RB_016.text;
      const Ring remapped(event, 32);
      EXPECT_EQ(Pinned(), charged) << "one buffer, charged once: " << rule::RB_016.text;
      EXPECT_THAT(Ring::TryMap(event, 16), FailsWith(EINVAL));
      EXPECT_EQ(Pinned(), charged) << "a refused mapping costs nothing: " << rule::RB_016.text;
      if (close_first) event.Close();
      EXPECT_EQ(Pinned(), charged) << rule::RB_016.text;
    }
    EXPECT_EQ(Pinned(), before) << rule::RB_016.text;
  }
}

CONFORMANCE_CASE(RingBuffer, LockedMemoryIsReleasedInAnyOrder, .rules = {rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const std::size_t before = Pinned();
  for (const std::size_t goes_first : {0, 1, 2}) {
    std::vector<Event> events;
    std::vector<std::optional<Ring>> rings(3);
    for (std::optional<Ring>& ring : rings) {
      events.push_back(OpenSampling());
      ring.emplace(events.back(), 32);
    }
    EXPECT_EQ(Pinned(), before + 3 * 33 - FreePages()) << rule::RB_016.text;
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(goes_first));
    rings[goes_first].reset();
    events.clear();
    rings[(goes_first + 1) % 3].reset();
    rings[(goes_first + 2) % 3].reset();
    EXPECT_EQ(Pinned(), before) << rule::RB_016.text;
  }
}

CONFORMANCE_CASE(RingBuffer, ExitReleasesLockedMemory, .rules = {rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const std::size_t before = Pinned();
  const Event event = OpenSampling();
  for (const bool event_of_parent : {true, false}) {
    Child maps([&] {
      const Event own = OpenSampling();
      // The child does not unmap it: the exit of the process must release it.
      auto* ring = new Ring(event_of_parent ? event : own, 32);
      return Pinned() == 33 - FreePages() && ring->head() == 0 ? 0 : 1;
    });
    maps.Go();
    EXPECT_EQ(maps.Wait(), 0) << rule::RB_016.text;
    EXPECT_EQ(Pinned(), before) << rule::RB_016.text;
    const Ring ring(event, 32);
    EXPECT_EQ(Pinned(), before + 33 - FreePages())
        << "the user has its free pages again: " << rule::RB_016.text;
    Child maps_too([&event] { return Ring::TryMap(event, 32).error + static_cast<int>(Pinned()); });
    maps_too.Go();
    EXPECT_EQ(maps_too.Wait(), 0) << "the buffer is charged to another process: "
                                  << rule::RB_016.text;
    EXPECT_EQ(Pinned(), before + 33 - FreePages()) << rule::RB_016.text;
  }
  EXPECT_EQ(Pinned(), before) << rule::RB_016.text;
}

CONFORMANCE_CASE(RingBuffer, BufferBeyondTheMemoryIsRefused, .rules = {rule::RB_024, rule::RB_016},
                 .needs = {Cap::kSampling}) {
  const std::size_t before = Pinned();
  const Event event = OpenSampling();
  EXPECT_THAT(Ring::TryMap(event, std::size_t{1} << 21), FailsWith(ENOMEM)) << rule::RB_024.text;
  EXPECT_EQ(Pinned(), before) << rule::RB_016.text;
  EXPECT_THAT(Ring::TryMap(event, 1), Succeeds()) << rule::RB_024.text;
}

}  // namespace
}  // namespace pmuconf
