// SPDX-License-Identifier: Apache-2.0
// BPF programs on a tracepoint: when they run, their input, their result, and the query of their
// ids.
#include <array>

#include "cases/tracepoint/tracepoint.h"
#include "cases/unprivileged.h"
#include "harness/uses.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "rules/BPF.h"
#include "rules/TPT.h"
#include "tracepoint.skel.h"

namespace pmuconf {
namespace {

CASE_USES(TracepointProgram, ProgramSeesArgumentsOfEachHit, Feature::kBpfCall, Feature::kBpfEvents);
CONFORMANCE_CASE(TracepointProgram, ProgramSeesArgumentsOfEachHit, .rules = {rule::TPT_005},
                 .needs = {Cap::kTracepoint}) {
  for (const std::uint64_t period : {0, 1}) {  // an event that samples calls other code, too
    SCOPED_TRACE(period);
    Skeleton<tracepoint_bpf> bpf;
    Event event =
        Open(SpecOfTracepoint(kGetpgid), {.sample_period = period, .disabled = period == 0});
    event.SetBpf(ProgramFd(bpf->progs.keep_argument));
    std::uint64_t passes = 0;
    for (const long argument : {7, 0, 0x12345678}) {
      HitTracepoint({argument});
      EXPECT_EQ(bpf->bss->runs, ++passes);
      EXPECT_EQ(bpf->bss->argument, static_cast<std::uint64_t>(argument));
      EXPECT_EQ(bpf->bss->number, SYS_getpgid);
    }
    Child other([] {
      HitTracepoint({99});
      return 0;
    });
    ASSERT_EQ(other.Run(), 0);
    EXPECT_EQ(bpf->bss->runs, ++passes);
    event.Close();
    HitTracepoint({5});
    EXPECT_EQ(bpf->bss->runs, passes);
  }
}

// The argument of PERF_EVENT_IOC_QUERY_BPF, with space for `room` ids.
struct Query {
  std::uint32_t capacity = 0;
  std::uint32_t programs = 0;
  std::array<std::uint32_t, 64> ids = {};
};

SysResult TryQuery(const Event& event, Query& query) {
  return event.TryIoctl(PERF_EVENT_IOC_QUERY_BPF, reinterpret_cast<unsigned long>(&query));
}

CASE_USES(TracepointProgram, SeveralProgramsRunInAttachOrder, Feature::kBpfCall,
          Feature::kBpfEvents);
CONFORMANCE_CASE(TracepointProgram, SeveralProgramsRunInAttachOrder,
                 .rules = {rule::TPT_006, rule::BPF_021}, .needs = {Cap::kTracepoint}) {
  Skeleton<tracepoint_bpf> bpf;
  const std::array programs = {bpf->progs.second, bpf->progs.first, bpf->progs.third};
  std::vector<Event> events;
  for (const bpf_program* program : programs) {
    events.push_back(Open(SpecOfTracepoint(kGetpgid)));
    events.back().SetBpf(ProgramFd(program));
  }
  HitTracepoint({1});
  EXPECT_EQ(bpf->bss->order, 213u) << rule::TPT_006;
  for (const Event& event : events) {
    Query query = {.capacity = 64};
    ASSERT_THAT(TryQuery(event, query), Succeeds()) << rule::BPF_021;
    ASSERT_EQ(query.programs, 3u) << rule::BPF_021;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(query.ids[i], ProgramId(programs[i])) << rule::BPF_021;
    }
  }
  bpf->bss->order = 0;
  events.erase(events.begin());
  HitTracepoint({1});
  EXPECT_EQ(bpf->bss->order, 13u) << rule::TPT_006;
}

CASE_USES(TracepointProgram, InvalidQueryIsRefused, Feature::kBpfCall, Feature::kBpfEvents);
CONFORMANCE_CASE(TracepointProgram, InvalidQueryIsRefused, .rules = {rule::BPF_021},
                 .needs = {Cap::kTracepoint}) {
  Skeleton<tracepoint_bpf> bpf;
  const std::array programs = {bpf->progs.first, bpf->progs.second};
  std::vector<Event> events;
  for (const bpf_program* program : programs) {
    events.push_back(Open(SpecOfTracepoint(kGetpgid)));
    events.back().SetBpf(ProgramFd(program));
  }
  Query too_small = {.capacity = 1};
  EXPECT_THAT(TryQuery(events[0], too_small), FailsWith(ENOSPC));
  EXPECT_EQ(too_small.programs, 2u);
  Query too_large = {.capacity = 65};
  EXPECT_THAT(TryQuery(events[0], too_large), FailsWith(E2BIG));
  EXPECT_THAT(events[0].TryIoctl(PERF_EVENT_IOC_QUERY_BPF, 8), FailsWith(EFAULT));
  Query query = {.capacity = 64};
  EXPECT_EQ(RunUnprivileged([&] { return TryQuery(events[0], query).error; }), EPERM);
}

CASE_USES(TracepointProgram, ReturnZeroDropsHit, Feature::kBpfCall, Feature::kBpfEvents);
CONFORMANCE_CASE(TracepointProgram, ReturnZeroDropsHit, .rules = {rule::TPT_007},
                 .needs = {Cap::kTracepoint}) {
  Skeleton<tracepoint_bpf> bpf;
  auto [witness, ring] = Sampler(SpecOfTracepoint(kGetpgid), {.sample_period = 1}, 1);
  HitTracepoint({1, 2});
  {
    const Event event = Open(SpecOfTracepoint(kGetpgid), {.disabled = false});
    event.SetBpf(ProgramFd(bpf->progs.drop));
    HitTracepoint({1, 2, 3});
    EXPECT_EQ(bpf->bss->runs, 3u);
    EXPECT_EQ(event.Read().value, 0u);
  }
  EXPECT_EQ(witness.Read().value, 2u);
  HitTracepoint({4});
  EXPECT_EQ(witness.Read().value, 3u);
  EXPECT_EQ(ring.Drain().samples.size(), 3u);
}

}  // namespace
}  // namespace pmuconf
