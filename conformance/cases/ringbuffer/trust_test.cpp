// SPDX-License-Identifier: Apache-2.0
// Ring buffers with conflicting readers and writers: invalid control pages, nested records, other
// CPUs.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <thread>

#include "cases/common.h"
#include "harness/behaviour.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/RB.h"

namespace pmuconf {
namespace {

// Its content is the value for attr.config.
constexpr const char* kFaultTracepoint =
    "/sys/kernel/tracing/events/exceptions/page_fault_kernel/id";

OpenOptions Numbered() {
  return {.sample_period = 1,
          .sample_type = PERF_SAMPLE_ADDR,
          .read_format = kReadTimes | PERF_FORMAT_LOST};
}

void Overwrite(Ring* ring, unsigned char byte) {
  auto* const at = reinterpret_cast<volatile unsigned char*>(&ring->control());
  for (std::size_t i = 0; i < PageSize(); ++i) at[i] = byte;
}

CONFORMANCE_CASE(RingBuffer, GarbageInTheControlPageDoesNoHarm, .rules = {rule::RB_020},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t samples = 2 * PageSize() / 16;  // each takes 16 bytes
  for (const unsigned char byte : {0x00, 0x01, 0x44, 0x7f, 0x80, 0xff}) {
    SCOPED_TRACE(testing::Message() << "filled with " << int{byte});
    auto [event, ring] = Sampler(spec, Numbered(), 1);
    Overwrite(&ring, byte);
    const std::uint64_t capacity = (ring.tail() - 1) % PageSize() / 16;
    Pulse(spec, samples);
    EXPECT_EQ(ring.head(), 16 * capacity);
    const Reading reading = event.Read();
    EXPECT_THAT(reading, Counted(spec, samples));
    EXPECT_EQ(reading.lost, samples - capacity);
    ring.set_tail(0);
    EXPECT_EQ(ring.Drain().samples.size(), capacity);
  }
}

CONFORMANCE_CASE(RingBuffer, ConcurrentControlPageWritesAreHarmless, .rules = {rule::RB_020},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Numbered());
  Ring ring(event, 2);
  std::atomic<bool> done = false;
  std::thread overwriter([&] {
    PinTo(target().Cpu(1));
    for (unsigned char byte = 0; !done; byte += 37) Overwrite(&ring, byte);
  });
  event.Enable();
  for (int i = 0; i < 100; ++i) Pulse(spec, 20);
  done = true;
  overwriter.join();
  EXPECT_THAT(event.Read(), Counted(spec, 2'000));
  Pulse(spec, 1);  // makes the kernel write data_head again
  EXPECT_LE(ring.head(), 2'001u * (16 + 24));
  ring.set_tail(ring.head());
  const std::uint64_t lost = event.Read().lost;
  Pulse(spec, 30);
  EXPECT_EQ(ring.Drain().samples.size(), 30u);
  EXPECT_EQ(event.Read().lost, lost);
}

// Runs `body` below 16 pages of stack that are not allocated. A sample's copy of the stack faults
// in the first of these pages.
__attribute__((noinline)) void BelowStackGap(const std::function<void()>& body) {
  const std::size_t size = 16 * PageSize();
  char* const hole = static_cast<char*>(alloca(size));
  const std::uintptr_t page = PageSize();
  const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(hole) + page - 1) / page * page;
  if (madvise(std::bit_cast<void*>(first), size - page, MADV_DONTNEED) != 0) {
    throw Broken("madvise of the stack");
  }
  body();
}

CASE_USES(RingBuffer, NestedRecordIsComplete, Feature::kTracepoints);
CONFORMANCE_CASE(RingBuffer, NestedRecordIsComplete, .rules = {rule::RB_021},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  if (access(kFaultTracepoint, F_OK) != 0) SkipWithout("exceptions:page_fault_kernel");
  const EventSpec spec = target().AnyEvent();
  const auto stack = [](perf_event_attr& attr) { attr.sample_stack_user = 0x4000; };
  const Event outer = Open(spec, {.sample_period = 1,
                                  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STACK_USER,
                                  .wakeup_events = 1,
                                  .edit = stack});
  EventSpec fault;
  fault.name = "page_fault_kernel";
  fault.type = PERF_TYPE_TRACEPOINT;
  fault.config = std::stoul(*ReadFile(kFaultTracepoint));
  const Event inner = Open(fault, {.sample_period = 1, .sample_type = PERF_SAMPLE_IDENTIFIER});
  Ring ring(outer, 64);
  inner.SetOutput(outer);
  outer.Enable();
  inner.Enable();
  BelowStackGap([&spec] { Pulse(spec, 8); });
  inner.Disable();
  outer.Disable();
  std::vector<std::uint64_t> ids;
  for (const Record& record : ring.DrainRaw()) {
    ASSERT_EQ(record.type, static_cast<std::uint32_t>(PERF_RECORD_SAMPLE));
    ASSERT_GE(record.body.size(), sizeof(std::uint64_t));
    std::memcpy(&ids.emplace_back(), record.body.data(), sizeof(std::uint64_t));
    const bool whole = ids.back() == outer.Id() ? ParseSample(record, outer.attr()).has_value()
                                                : ParseSample(record, inner.attr()).has_value();
    EXPECT_TRUE(whole);
  }
  // One copy may fault more than once.
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<std::uint64_t> want;
  for (int i = 0; i < 8; ++i) want.insert(want.end(), {outer.Id(), inner.Id()});
  EXPECT_EQ(ids, want);
}

CONFORMANCE_CASE(RingBuffer, TwoCpusNeverShareABuffer, .rules = {rule::RB_022},
                 .needs = {Cap::kSampling, Cap::kTasks, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const auto open = [&spec](pid_t pid, int cpu, bool inherit = false) {
    return Open(spec, {.pid = pid, .cpu = cpu, .sample_period = 1'000, .inherit = inherit});
  };
  const auto redirect = [](const Event& from, const Event& to) {
    return from.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(to.fd()));
  };
  const int here = target().Cpu(0);
  const int there = target().Cpu(1);
  const Child child([] { return 0; });
  EXPECT_THAT(Ring::TryMap(open(0, -1, true), 1), FailsWith(EINVAL));
  EXPECT_THAT(Ring::TryMap(open(0, here, true), 1), Succeeds());

  const Event of_task = open(0, -1);
  const Event of_cpu = open(-1, here);
  const Ring task_ring(of_task, 1);
  const Ring cpu_ring(of_cpu, 1);
  EXPECT_THAT(redirect(open(child.pid(), -1), of_task), FailsWith(EINVAL));
  EXPECT_THAT(redirect(open(0, here), of_task), FailsWith(EINVAL));
  EXPECT_THAT(redirect(open(0, -1), of_cpu), FailsWith(EINVAL));
  EXPECT_THAT(redirect(open(-1, there), of_cpu), FailsWith(EINVAL));
  EXPECT_THAT(redirect(open(0, there), of_cpu), FailsWith(EINVAL));
  EXPECT_THAT(redirect(open(0, -1), of_task), Succeeds());
  EXPECT_THAT(redirect(open(child.pid(), here), of_cpu), Succeeds());
}

CONFORMANCE_CASE(RingBuffer, ConcurrentReaderFindsWholeRecords,
                 .rules = {rule::RB_026, rule::RB_010, rule::RB_023},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Numbered());
  Ring ring(event, 1);
  std::atomic<bool> done = false;
  std::uint64_t seen = 0;
  std::uint64_t lost = 0;
  std::thread reader([&] {
    PinTo(target().Cpu(1));
    for (bool last = false; !last;) {
      last = done;
      const RingContents got = ring.Drain();
      auto sample = got.samples.begin();
      auto gap = got.lost.begin();
      for (const std::uint32_t type : got.order) {
        if (type == PERF_RECORD_LOST) {
          lost += (gap++)->lost;
        } else {
          ASSERT_EQ(sample->addr, ++seen + lost) << rule::RB_026;
          ++sample;
        }
      }
    }
  });
  event.Enable();
  for (std::uint64_t i = 1; i <= 3'000; ++i) target().Stimulate(spec, 1, {.addr = i});
  event.Disable();
  done = true;
  reader.join();
  const Reading reading = event.Read();
  EXPECT_EQ(seen + reading.lost, 3'000u) << rule::RB_026;
  EXPECT_LE(lost, reading.lost) << rule::RB_010;
  EXPECT_EQ(ring.head(), ring.tail()) << rule::RB_023;
}

CONFORMANCE_CASE(RingBuffer, EachBufferSizeFillsExactly, .rules = {rule::RB_024, rule::RB_019},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  for (const std::size_t pages : {1, 8, 128, 2'048}) {
    SCOPED_TRACE(pages);
    const std::size_t size = pages * PageSize();
    const auto dump = static_cast<std::uint32_t>(std::min<std::size_t>(size / 8, 60'000));
    OpenOptions options = Numbered();
    options.sample_type |= PERF_SAMPLE_STACK_USER;
    options.edit = [dump](perf_event_attr& attr) { attr.sample_stack_user = dump; };
    auto [event, ring] = Sampler(spec, options, pages);
    std::uint64_t at = 1;
    for (const std::uint64_t gap : {0, 24}) {  // the second round starts with a LOST record
      const std::uint64_t fit = (size - 1 - gap) / (dump + 32);
      const std::uint64_t lost = event.Read().lost;
      for (std::uint64_t i = 0; i < fit + 2; ++i) target().Stimulate(spec, 1, {.addr = at + i});
      EXPECT_EQ(event.Read().lost, lost + 2) << rule::RB_024;
      const std::vector<Sample> samples = ring.Drain().samples;
      ASSERT_EQ(samples.size(), fit) << rule::RB_024;
      for (std::uint64_t i = 0; i < fit; ++i) {
        ASSERT_EQ(samples[i].addr, at + i) << rule::RB_019;
      }
      at += fit + 2;
    }
  }
}

}  // namespace
}  // namespace pmuconf
