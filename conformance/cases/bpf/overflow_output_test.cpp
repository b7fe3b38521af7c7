// SPDX-License-Identifier: Apache-2.0
// Actions of a program on overflow: it writes records, reads another event, and reads stacks.
#include <cstring>

#include "cases/bpf/event_map.h"
#include "harness/case.h"
#include "overflow_output.skel.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "rules/BPF.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Bpf, OutputRecordsArriveWholeOrAreCountedAsLost, .rules = {rule::BPF_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf,
                           Cap::kAddresses}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10, .sample_type = PERF_SAMPLE_ADDR});
  Skeleton<overflow_output_bpf> bpf;
  const Event output = OpenBpfOutput(EventCpu());
  Ring ring(output, 1);
  PutEvent(bpf->maps.records, static_cast<std::uint32_t>(EventCpu()), output);
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  for (std::uint64_t i = 1; i <= 30; ++i) target().Stimulate(spec, 10, {.addr = 100 + i});
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 30u);
  for (std::uint64_t i = 1; i <= 30; ++i) {
    const std::vector<std::byte>& raw = *got.samples[i - 1].raw;
    std::uint64_t record[2] = {};
    ASSERT_GE(raw.size(), sizeof(record));
    std::memcpy(record, raw.data(), sizeof(record));
    EXPECT_EQ(record[0], i);
    EXPECT_EQ(record[1], 100 + i);
  }
  const std::uint64_t many = 4 * PageSize() / 32;  // each record takes 32 bytes
  target().Stimulate(spec, 10 * many);
  const std::size_t received = ring.Drain().samples.size();
  target().Stimulate(spec, 10);
  const RingContents after = ring.Drain();
  ASSERT_EQ(after.lost.size(), 1u);
  EXPECT_EQ(received + after.lost[0].lost, many);
}

CONFORMANCE_CASE(Bpf, ProgramReadsAnotherEventsExactCount, .rules = {rule::BPF_009},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kSampling, Cap::kBpf,
                           Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event event = Open(specs[0], {.sample_period = 10});
  const Event counting = Open(specs[1]);
  Skeleton<overflow_output_bpf> bpf;
  PutEvent(bpf->maps.other, 0, counting);
  event.SetBpf(ProgramFd(bpf->progs.read_other));
  event.Enable();
  counting.Enable();
  for (std::uint64_t i = 1; i <= 5; ++i) {
    target().Stimulate(specs[1], 1'234);
    target().Stimulate(specs[0], 10);
    EXPECT_EQ(bpf->bss->other_error, 0);
    EXPECT_EQ(bpf->bss->other_value.counter, 1'234 * i);
  }
  EXPECT_THAT(counting.Read(), Counted(specs[1], 5 * 1'234));
}

CONFORMANCE_CASE(Bpf, ProgramCannotReadAnEventOfAnotherTask, .rules = {rule::BPF_009},
                 .needs = {Cap::kStimulus, Cap::kSeveralEvents, Cap::kQuietFork, Cap::kSampling,
                           Cap::kBpf}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const Event event = Open(specs[0], {.sample_period = 10});
  Child other_task([] { return 0; });
  const Event counting = Open(specs[1], {.pid = other_task.pid()});
  Skeleton<overflow_output_bpf> bpf;
  PutEvent(bpf->maps.other, 0, counting);
  event.SetBpf(ProgramFd(bpf->progs.read_other));
  event.Enable();
  target().Stimulate(specs[0], 10);
  EXPECT_EQ(bpf->bss->other_error, -EINVAL);
}

CONFORMANCE_CASE(Bpf, StackSizeIsWholeEntries, .rules = {rule::BPF_011},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  Skeleton<overflow_output_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.take_stacks));
  event.Enable();
  target().Stimulate(spec, 10, {.privilege = Privilege::kKernel});
  const std::int64_t kernel = bpf->bss->kernel_stack_bytes;
  const std::int64_t user = bpf->bss->user_stack_bytes;
  EXPECT_GE(kernel, 8);
  EXPECT_EQ(kernel % 8, 0);
  EXPECT_GE(user, 8);
  EXPECT_EQ(user % 8, 0);
}

}  // namespace
}  // namespace pmuconf
