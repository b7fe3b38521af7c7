// SPDX-License-Identifier: Apache-2.0
// The data that a program reads about an overflow, and the effect of its return value.
#include <vector>

#include "harness/case.h"
#include "overflow_facts.skel.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "rules/BPF.h"
#include "rules/DRC.h"

namespace pmuconf {
namespace {

// Same layout as in overflow_facts.bpf.c.
struct OverflowFact {
  std::uint64_t sample_period;
  std::uint64_t addr;
  std::uint64_t counter;
  std::uint64_t enabled;
  std::uint64_t running;
  std::uint64_t cookie;
  std::int64_t read_error;
};

// Consumes all facts in the program's BPF ring buffer.
std::vector<OverflowFact> DrainFacts(Skeleton<overflow_facts_bpf>& bpf) {
  std::vector<OverflowFact> facts;
  const auto append = [](void* to, void* data, std::size_t size) {
    if (size != sizeof(OverflowFact)) return -EINVAL;
    static_cast<std::vector<OverflowFact>*>(to)->push_back(*static_cast<OverflowFact*>(data));
    return 0;
  };
  ring_buffer* ring = ring_buffer__new(bpf_map__fd(bpf->maps.facts), append, &facts, nullptr);
  if (ring == nullptr) throw Broken("ring_buffer__new");
  const int consumed = ring_buffer__consume(ring);
  ring_buffer__free(ring);
  EXPECT_EQ(consumed, static_cast<int>(facts.size()));
  EXPECT_EQ(bpf->bss->dropped, 0u);
  return facts;
}

CONFORMANCE_CASE(Bpf, ContextHoldsPeriodAndAddress, .rules = {rule::BPF_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf,
                           Cap::kAddresses}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10, .sample_type = PERF_SAMPLE_ADDR});
  Skeleton<overflow_facts_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  for (const std::uint64_t period : {10, 1, 777, 1'000'000}) {
    event.Period(period);
    for (const std::uint64_t addr : {0x1000, 0x2345, 0}) {
      target().Stimulate(spec, period, {.addr = addr});
      const std::vector<OverflowFact> facts = DrainFacts(bpf);
      ASSERT_EQ(facts.size(), 1u);
      EXPECT_EQ(facts[0].sample_period, period);
      EXPECT_EQ(facts[0].addr, addr);
    }
  }
}

CONFORMANCE_CASE(Bpf, ProgramReadsItsEventsCount, .rules = {rule::BPF_008},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 33});
  Skeleton<overflow_facts_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  target().Stimulate(spec, 33 * 40 + 5);
  event.Disable();
  const std::vector<OverflowFact> facts = DrainFacts(bpf);
  ASSERT_EQ(facts.size(), 40u);
  std::uint64_t enabled = 0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    EXPECT_EQ(facts[i].read_error, 0);
    EXPECT_EQ(facts[i].counter, 33 * (i + 1));
    EXPECT_GE(facts[i].enabled, enabled);
    EXPECT_LE(facts[i].running, facts[i].enabled);
    enabled = facts[i].enabled;
  }
  EXPECT_LE(enabled, event.Read().time_enabled);
}

CONFORMANCE_CASE(Bpf, CookieIsTheOneGivenAtAttach, .rules = {rule::BPF_013},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kBpf,
                           Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  Skeleton<overflow_facts_bpf> bpf;
  std::vector<Event> events;
  std::vector<BpfLink> links;
  for (const std::uint64_t i : {0, 1}) {
    events.push_back(Open(specs[i], {.sample_period = 10}));
    links.push_back(AttachBpf(bpf->progs.on_overflow, events[i], 0xc00c1e00'00000000 + i));
    events[i].Enable();
  }
  for (const std::uint64_t i : {0, 1, 1, 0}) {
    target().Stimulate(specs[i], 10);
    const std::vector<OverflowFact> facts = DrainFacts(bpf);
    ASSERT_EQ(facts.size(), 1u);
    EXPECT_EQ(facts[0].cookie, 0xc00c1e00'00000000 + i);
  }
}

CONFORMANCE_CASE(Bpf, ReturnZeroDropsSample, .rules = {rule::BPF_003, rule::DRC_077},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf,
                           Cap::kAddresses}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10, .sample_type = PERF_SAMPLE_ADDR});
  Ring ring(event, 4);
  Skeleton<overflow_facts_bpf> bpf;
  bpf->bss->drop_mask = 0x5555'5555'5555'5555;  // drops the first overflow, the third, ...
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  for (std::uint64_t i = 0; i < 20; ++i) target().Stimulate(spec, 10, {.addr = i});
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 10u) << rule::BPF_003;
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(got.samples[i].addr, 2 * i + 1) << rule::BPF_003;
  }
  EXPECT_EQ(bpf->bss->overflows, 20u) << rule::BPF_003;
  EXPECT_THAT(event.Read(), Counted(spec, 200)) << rule::BPF_003;

  bpf->bss->drop_mask = ~0ull;
  target().Stimulate(spec, 100);
  EXPECT_THAT(ring.DrainRaw(), testing::IsEmpty()) << rule::BPF_003;
  EXPECT_THAT(event.Read(), Counted(spec, 300)) << rule::BPF_003;
}

}  // namespace
}  // namespace pmuconf
