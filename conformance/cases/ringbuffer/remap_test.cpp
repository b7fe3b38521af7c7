// SPDX-License-Identifier: Apache-2.0
// Ring buffers whose mapping is shortened, moved, covered, or unmapped last.
#include "cases/remap.h"

#include <poll.h>
#include <sys/mman.h>

#include "cases/common.h"
#include "cases/subject.h"
#include "harness/behaviour.h"
#include "perf/ring.h"
#include "rules/RB.h"

namespace pmuconf {
namespace {

OpenOptions Sampling() { return {.sample_period = 1, .sample_type = PERF_SAMPLE_ADDR}; }

void* AddressOf(const Ring& ring) {
  return const_cast<std::byte*>(ring.data().data()) - PageSize();
}

short Polled(const Event& event) {
  pollfd wait = {event.fd(), POLLIN, 0};
  if (poll(&wait, 1, 0) < 0) throw Broken("poll");
  return wait.revents;
}

CONFORMANCE_CASE(RingBuffer, PartialUnmapAndResizeAreRefused, .rules = {rule::RB_004},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Sampling());
  Ring ring(event, 4);
  for (const RemapAttempt& attempt : RefusedRemaps(AddressOf(ring), 5)) {
    if (attempt.expected == kCovered) {
      ASSERT_TRUE(IsBehaviour(rule::RB_004, "covered", attempt.error)) << attempt.what;
    } else {
      ASSERT_EQ(attempt.error, attempt.expected) << attempt.what;
    }
  }
  event.Enable();
  Pulse(spec, 600);
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 600u);
}

CONFORMANCE_CASE(RingBuffer, MovedMappingIsTheSameBuffer, .rules = {rule::RB_004},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Sampling());
  const Ring other(event, 4);
  const std::size_t size = 5 * PageSize();
  void* const first = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event.fd(), 0);
  ASSERT_NE(first, MAP_FAILED);
  void* const moved = MoveElsewhere(first, size);
  ASSERT_NE(moved, MAP_FAILED);
  event.Enable();
  Pulse(spec, 10);
  const auto* page = static_cast<const volatile perf_event_mmap_page*>(moved);
  EXPECT_EQ(page->data_head, other.head());
  EXPECT_EQ(page->data_head, 160u);
  ASSERT_EQ(munmap(moved, size), 0);
  Pulse(spec, 10);
  EXPECT_EQ(other.head(), 320u) << "the other mapping keeps the buffer";
}

CONFORMANCE_CASE(RingBuffer, CoveredMappingIsReleased, .rules = {rule::RB_004, rule::RB_017},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Sampling());
  const std::size_t size = 5 * PageSize();
  void* const first = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, event.fd(), 0);
  ASSERT_NE(first, MAP_FAILED);
  event.Enable();
  Pulse(spec, 10);
  ASSERT_EQ(
      mmap(first, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
      first)
      << rule::RB_004;
  Pulse(spec, 10);
  EXPECT_EQ(static_cast<const volatile perf_event_mmap_page*>(first)->data_head, 0u)
      << rule::RB_004;
  const Ring remapped(event, 1);
  EXPECT_EQ(remapped.head(), 0u) << "the buffer ended with its mapping: " << rule::RB_017;
  munmap(first, size);
}

CONFORMANCE_CASE(RingBuffer, LastUnmapDetachesWriters, .rules = {rule::RB_017},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event owner = Open(specs[0], AtScope(*this, Sampling()));
  const Event redirected = Open(specs[1], AtScope(*this, Sampling()));
  {
    const Ring ring(owner, 1);
    redirected.SetOutput(owner);
    redirected.Enable();
    Pulse(specs[1], 5);
    EXPECT_EQ(ring.head(), 80u);
    EXPECT_EQ(Polled(redirected) & POLLHUP, 0);
  }
  EXPECT_EQ(Polled(redirected), POLLHUP);
  Pulse(specs[1], 100);
  const Ring remapped(owner, 2);
  Pulse(specs[1], 100);
  EXPECT_EQ(remapped.head(), 0u);
  // The owner itself still writes to the new buffer.
  owner.Enable();
  Pulse(specs[0], 3);
  owner.Disable();
  EXPECT_EQ(remapped.head(), 48u);
  Ring own(redirected, 4);
  Pulse(specs[1], 7);
  EXPECT_EQ(own.Drain().samples.size(), 7u);
  EXPECT_THAT(redirected.Read(), Counted(specs[1], 212));
}

// Only on kernels that map other events than the owner of a buffer (RB-028).
CONFORMANCE_CASE(RingBuffer, BufferLivesAsLongAsOneMapping, .rules = {rule::RB_017},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  Event owner = Open(specs[0], AtScope(*this, Sampling()));
  const Event redirected = Open(specs[1], AtScope(*this, Sampling()));
  std::optional<Ring> owners(std::in_place, owner, 1);
  redirected.SetOutput(owner);
  if (Ring::TryMap(redirected, 1).error == EBUSY) SkipWithout("mappings of redirected events");
  redirected.SetOutput(owner);          // the end of that mapping has ended the redirection
  Ring redirected_ring(redirected, 1);  // a mapping of the same buffer
  redirected.Enable();
  owner.Enable();
  Pulse(specs[0], 3);
  Pulse(specs[1], 5);
  EXPECT_EQ(owners->head(), redirected_ring.head());
  owners.reset();  // the owner's last mapping, so this detaches the owner
  Pulse(specs[0], 11);
  Pulse(specs[1], 5);
  EXPECT_EQ(redirected_ring.Drain().samples.size(), 13u);
  owner.Close();
  Pulse(specs[1], 4);
  EXPECT_EQ(redirected_ring.Drain().samples.size(), 4u);
}

CONFORMANCE_CASE(RingBuffer, BufferLivesUntilItsLastUnmap, .rules = {rule::RB_017},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  Event owner = Open(specs[0], AtScope(*this, Sampling()));
  const Event redirected = Open(specs[1], AtScope(*this, Sampling()));
  std::optional<Ring> first(std::in_place, owner, 1);
  Ring second(owner, 1);
  redirected.SetOutput(owner);
  owner.Enable();
  redirected.Enable();
  Pulse(specs[0], 3);
  Pulse(specs[1], 5);
  EXPECT_EQ(first->head(), second.head());
  first.reset();
  Pulse(specs[0], 11);
  Pulse(specs[1], 5);
  EXPECT_EQ(second.Drain().samples.size(), 24u);
  owner.Close();
  Pulse(specs[1], 4);
  EXPECT_EQ(second.Drain().samples.size(), 4u);
  EXPECT_EQ(Polled(redirected) & POLLHUP, 0);
}

CONFORMANCE_CASE(RingBuffer, BufferOutlivesClosedOwner, .rules = {rule::RB_017},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kGroups},
                 .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event redirected = Open(specs[1], AtScope(*this, Sampling()));
  {
    Event owner = Open(specs[0], AtScope(*this, Sampling()));
    Ring ring(owner, 1);
    redirected.SetOutput(owner);
    owner.Close();
    redirected.Enable();
    Pulse(specs[1], 9);
    EXPECT_EQ(ring.Drain().samples.size(), 9u);
  }
  Pulse(specs[1], 300);
  EXPECT_EQ(Polled(redirected), POLLHUP);
  Ring own(redirected, 1);
  Pulse(specs[1], 2);
  EXPECT_EQ(own.Drain().samples.size(), 2u);
}

CONFORMANCE_CASE(RingBuffer, MappingNeedsNoRunningEvent, .rules = {rule::RB_025},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kTasks,
                           Cap::kGroups, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  Child child([&spec] {
    target().Stimulate(spec, 20);
    return 0;
  });
  const Event of_child = Open(spec, {.pid = child.pid(), .sample_period = 1, .disabled = false});
  ASSERT_EQ(child.Run(), 0);
  const Event leader = Open(spec, Sampling());
  OpenOptions as_member = Sampling();
  as_member.group_fd = leader.fd();
  const Event sibling = Open(spec, as_member);
  leader.EnableGroup();
  Pulse(spec, 20);
  leader.DisableGroup();
  for (const Event* event : {&of_child, &leader, &sibling}) {
    Ring ring(*event, 1);
    EXPECT_EQ(ring.head(), 0u);
    EXPECT_EQ(ring.page().data_size, PageSize());
    EXPECT_EQ(event->Read().value, 20u);
    EXPECT_THAT(ring.Drain().order, testing::IsEmpty());
  }
}

}  // namespace
}  // namespace pmuconf
