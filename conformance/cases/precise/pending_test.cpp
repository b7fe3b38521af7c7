// SPDX-License-Identifier: Apache-2.0
// Records that are pending when the event stops or is read, and samples for which no record may
// wait.
#include <poll.h>

#include "arch/arch.h"
#include "cases/common.h"
#include "cases/precise/precise.h"
#include "rules/DRV.h"
#include "rules/PRC.h"
#include "rules/REC.h"
#include "rules/SIG.h"

namespace pmuconf {
namespace {

// The record is written when the event stops. It is the last one that the limit allows, so it would
// stop the event again.
CONFORMANCE_CASE(Precise, PendingRecordAtTheLimitStopsTheEventOnce,
                 .rules = {rule::PRC_009, rule::PRC_012, rule::DRV_009},
                 .needs = {Cap::kStimulus, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    const Event event = Open(spec, Precise(10, type));
    Ring ring(event, 1);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      event.Refresh(1);
      target().Stimulate(spec, 10);
      event.Disable();
      EXPECT_EQ(ring.Drain().samples.size(), 1u) << rule::PRC_009;
      EXPECT_THAT(event.Read(), Counted(spec, 10 * round)) << rule::PRC_012;
    }
  }
}

CONFORMANCE_CASE(Precise, NoRecordWaitsIfSamplesAreAwaited, .rules = {rule::SIG_006},
                 .needs = {Cap::kStimulus, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // a context switch drains the buffer of records
  const EventSpec spec = target().AnyEvent();
  for (const std::uint32_t samples : {1u, 3u}) {
    OpenOptions options = Precise(10);
    options.wakeup_events = samples;
    auto [event, ring] = Sampler(spec, options, 1);
    for (int i = 0; i < 3; ++i) {
      pollfd ready = {event.fd(), POLLIN, 0};
      target().Stimulate(spec, 10 * samples - 1);
      EXPECT_EQ(poll(&ready, 1, 0), 0);
      target().Stimulate(spec, 1);
      // The interrupt wakes this task. Nothing here may wait for it asleep.
      EXPECT_TRUE(RepeatUntil([] {}, [&] { return poll(&ready, 1, 0) == 1; }));
      EXPECT_EQ(ring.Drain().samples.size(), samples);
    }
  }
}

// No record holds this register. The sample needs it from the interrupt.
CONFORMANCE_CASE(Precise, RegisterOutsideTheRecordIsShown, .rules = {rule::PRC_006, rule::REC_019},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = Precise(10, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR);
  options.edit = [precise = options.edit](perf_event_attr& attr) {
    precise(attr);
    attr.sample_regs_intr = reg::Bit(reg::kUnrecorded);
  };
  auto [event, ring] = Sampler(spec, options, 1);
  target().Stimulate(spec, 20);
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 2u);
  for (const Sample& sample : got.samples) {
    ASSERT_EQ(sample.regs_intr->size(), 1u) << rule::REC_019;
    EXPECT_NE(sample.regs_intr->front(), 0u) << rule::PRC_006;
  }
}

// The sample of each member reads the other one, whose record is pending.
CONFORMANCE_CASE(Precise, SampleReadsMemberWithAPendingRecord,
                 .rules = {rule::PRC_008, rule::PRC_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const NoPreemption no_preemption;  // a context switch drains the buffer of records
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  for (const std::uint64_t type : {kBuffered, kUnbuffered}) {
    OpenOptions options = PreciseOnCpu(10, type | PERF_SAMPLE_READ);
    options.read_format = PERF_FORMAT_GROUP;
    const Event leader = Open(specs[0], options);
    options.group_fd = leader.fd();
    options.disabled = false;
    const Event member = Open(specs[1], options);
    Ring leader_ring(leader, 1);
    Ring member_ring(member, 1);
    leader.Enable();
    for (std::uint64_t round = 1; round <= 3; ++round) {
      HoldLine hold;
      target().Stimulate(specs[0], 10);
      target().Stimulate(specs[1], 10);
      hold.Release();
      const GroupReading now = leader.ReadGroup();
      ASSERT_EQ(now.entries.size(), 2u);
      EXPECT_EQ(now.entries[0].value, 10 * round) << rule::PRC_008;
      EXPECT_EQ(now.entries[1].value, 10 * round) << rule::PRC_008;
    }
    leader.Disable();
    EXPECT_EQ(leader_ring.Drain().samples.size(), 3u) << rule::PRC_003;
    EXPECT_EQ(member_ring.Drain().samples.size(), 3u) << rule::PRC_003;
  }
}

CONFORMANCE_CASE(Precise, TimeIsThatOfOtherEvents, .rules = {rule::REC_004},
                 .needs = {Cap::kStimulus, Cap::kPrecise, Cap::kGroups},
                 .over = {Over<dim::Cpu>()}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event plain = Open(specs[0], {.sample_period = 10, .sample_type = PERF_SAMPLE_TIME});
  const Event precise = Open(specs[1], Precise(10, PERF_SAMPLE_TIME));
  Ring plain_ring(plain, 1);
  Ring precise_ring(precise, 1);
  plain.Enable();
  precise.Enable();
  for (int i = 0; i < 5; ++i) {
    target().Stimulate(specs[0], 10);
    target().Stimulate(specs[1], 10);
  }
  target().Stimulate(specs[0], 10);
  precise.Disable();
  const RingContents outer = plain_ring.Drain();
  const RingContents inner = precise_ring.Drain();
  ASSERT_EQ(outer.samples.size(), 6u);
  ASSERT_EQ(inner.samples.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_GE(*inner.samples[i].time, *outer.samples[i].time);
    EXPECT_LE(*inner.samples[i].time, *outer.samples[i + 1].time);
  }
}

}  // namespace
}  // namespace pmuconf
