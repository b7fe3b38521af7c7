// SPDX-License-Identifier: Apache-2.0
// Maps of events: their valid elements, and the results of helpers that use an element.
#include "cases/bpf/event_map.h"

#include <algorithm>
#include <cstring>

#include "cases/bpf/period.h"
#include "harness/case.h"
#include "overflow_results.skel.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "rules/BPF.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

constexpr std::uint32_t kPlaces = 8;  // same as in overflow_results.bpf.c
constexpr std::uint64_t kOtherFlag = std::uint64_t{1} << 32;

// The result that the program's helper returns for `flags` at one overflow of `spec`.
std::int64_t ProgramResult(Skeleton<overflow_results_bpf>& bpf, const EventSpec& spec,
                           std::uint64_t flags) {
  bpf->bss->flags = flags;
  bpf->bss->result = 1;
  std::fill_n(bpf->bss->value, 8, ~std::uint64_t{0});
  target().Stimulate(spec, kPeriod);
  return bpf->bss->result;
}

CONFORMANCE_CASE(BpfEventMap, ReadOfInvalidIndexIsRefused, .rules = {rule::BPF_028},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  Skeleton<overflow_results_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.read_value));
  EXPECT_EQ(ProgramResult(bpf, spec, kPlaces), -E2BIG);
  EXPECT_EQ(ProgramResult(bpf, spec, BPF_F_INDEX_MASK - 1), -E2BIG);
  EXPECT_EQ(ProgramResult(bpf, spec, kPlaces - 1), -ENOENT);
  EXPECT_EQ(ProgramResult(bpf, spec, BPF_F_CURRENT_CPU), -ENOENT);
  EXPECT_EQ(ProgramResult(bpf, spec, kOtherFlag), -EINVAL);
  EXPECT_EQ(std::count(bpf->bss->value, bpf->bss->value + 3, 0u), 3);
  EXPECT_EQ(bpf->bss->value[3], ~std::uint64_t{0});
}

CONFORMANCE_CASE(BpfEventMap, ValuesOfAnotherSizeAreRefused, .rules = {rule::BPF_028},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::uint32_t size : {16u, 32u}) {
    SCOPED_TRACE(size);
    Skeleton<overflow_results_bpf> bpf(
        [size](overflow_results_bpf& skeleton) { skeleton.rodata->value_size = size; });
    for (const bpf_program* program : {bpf->progs.read_value, bpf->progs.read_own_value}) {
      const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
      PutEvent(bpf->maps.events, 0, event);
      event.SetBpf(ProgramFd(program));
      EXPECT_EQ(ProgramResult(bpf, spec, 0), -EINVAL);
      EXPECT_EQ(std::count(bpf->bss->value, bpf->bss->value + size / 8, 0u), size / 8);
      EXPECT_EQ(bpf->bss->value[size / 8], ~std::uint64_t{0});
      event.Disable();  // the map drops its reference later
    }
  }
}

CONFORMANCE_CASE(BpfEventMap, PerfEventReadReturnsCount, .rules = {rule::BPF_009},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kBpf,
                           Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event event = Open(specs[0], {.sample_period = kPeriod, .disabled = false});
  const Event counting = Open(specs[1], {.disabled = false});
  Skeleton<overflow_results_bpf> bpf;
  PutEvent(bpf->maps.events, 3, counting);
  event.SetBpf(ProgramFd(bpf->progs.read_plain));
  for (std::int64_t i = 1; i <= 3; ++i) {
    target().Stimulate(specs[1], 1'111);
    EXPECT_EQ(ProgramResult(bpf, specs[0], 3), 1'111 * i);
  }
  EXPECT_EQ(ProgramResult(bpf, specs[0], 2), -ENOENT);
}

CONFORMANCE_CASE(BpfEventMap, EntriesAreReplacedAndDeleted, .rules = {rule::BPF_029},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kBpf,
                           Cap::kCounters3}) {
  const std::vector<EventSpec> specs = target().AnyEvents(3);
  const Event event = Open(specs[0], {.sample_period = kPeriod, .disabled = false});
  const Event first = Open(specs[1], {.disabled = false});
  const Event second = Open(specs[2], {.disabled = false});
  Skeleton<overflow_results_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.read_plain));
  target().Stimulate(specs[1], 1'001);
  target().Stimulate(specs[2], 2'002);
  const int map = bpf_map__fd(bpf->maps.events);
  const std::uint32_t key = 0;
  PutEvent(map, key, first);
  EXPECT_EQ(ProgramResult(bpf, specs[0], key), 1'001);
  PutEvent(map, key, second);
  EXPECT_EQ(ProgramResult(bpf, specs[0], key), 2'002);
  EXPECT_EQ(bpf_map_delete_elem(map, &key), 0);
  EXPECT_EQ(ProgramResult(bpf, specs[0], key), -ENOENT);
  EXPECT_EQ(bpf_map_delete_elem(map, &key), -ENOENT);
}

CONFORMANCE_CASE(BpfEventMap, OnlyEventsAreAcceptedAndLookupFails, .rules = {rule::BPF_029},
                 .needs = {Cap::kSampling, Cap::kBpf}) {
  // The kernel's ENOTSUPP, which no header of user space defines.
  constexpr int kNotSupported = 524;
  const Event event = Open(target().AnyEvent(), {.sample_period = kPeriod});
  Skeleton<overflow_results_bpf> bpf;
  const int map = bpf_map__fd(bpf->maps.events);
  EXPECT_EQ(PutErrno(map, 0, map), EBADF);
  EXPECT_EQ(PutErrno(map, 0, 999), EBADF);
  EXPECT_EQ(PutErrno(map, kPlaces, event.fd()), E2BIG);
  EXPECT_EQ(PutErrno(map, kPlaces - 1, event.fd()), 0);
  const std::uint32_t key = kPlaces - 1;
  std::uint32_t value = 0;
  EXPECT_EQ(bpf_map_lookup_elem(map, &key, &value), -kNotSupported);
}

CONFORMANCE_CASE(BpfEventMap, OutputNeedsBufferOfThisCpu, .rules = {rule::BPF_028},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  const Event here = OpenBpfOutput(EventCpu());
  const Event elsewhere =
      OpenBpfOutput(target().Cpu(0) == EventCpu() ? target().Cpu(1) : target().Cpu(0));
  Skeleton<overflow_results_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.write_output));
  PutEvent(bpf->maps.events, 0, here);
  PutEvent(bpf->maps.events, 1, elsewhere);
  PutEvent(bpf->maps.events, 2, event);
  EXPECT_EQ(ProgramResult(bpf, spec, 0), -ENOSPC);
  const Ring ring(here, 1);
  EXPECT_EQ(ProgramResult(bpf, spec, 0), 0);
  EXPECT_EQ(ProgramResult(bpf, spec, 1), -EOPNOTSUPP);
  EXPECT_EQ(ProgramResult(bpf, spec, 2), -EINVAL);
  EXPECT_EQ(ProgramResult(bpf, spec, 3), -ENOENT);
  EXPECT_EQ(ProgramResult(bpf, spec, kPlaces), -E2BIG);
  EXPECT_EQ(ProgramResult(bpf, spec, kOtherFlag), -EINVAL);
}

CONFORMANCE_CASE(BpfEventMap, OutputOfAnySizeArrivesWhole, .rules = {rule::BPF_014},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = kPeriod, .disabled = false});
  const Event output = OpenBpfOutput(EventCpu());
  Ring ring(output, 4);
  Skeleton<overflow_results_bpf> bpf;
  for (std::size_t i = 0; i < sizeof(bpf->bss->output); ++i) {
    bpf->bss->output[i] = static_cast<std::uint8_t>(i + 1);
  }
  PutEvent(bpf->maps.events, 0, output);
  event.SetBpf(ProgramFd(bpf->progs.write_output));
  for (const std::size_t size : {1, 3, 4, 5, 12, 13, 63, 64}) {
    SCOPED_TRACE(size);
    bpf->bss->output_size = size;
    EXPECT_EQ(ProgramResult(bpf, spec, 0), 0);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    const std::vector<std::byte>& raw = *got.samples[0].raw;
    // The kernel pads the data and its 32-bit size together to a multiple of 8 bytes.
    EXPECT_EQ(raw.size(), (size + 4 + 7) / 8 * 8 - 4);
    EXPECT_EQ(std::memcmp(raw.data(), bpf->bss->output, size), 0);
  }
}

}  // namespace
}  // namespace pmuconf
