// SPDX-License-Identifier: Apache-2.0
// The fields of a sample: their presence, their order and their values.
#include <time.h>

#include "cases/common.h"
#include "cases/raw_clock.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "rules/SMP.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kSampledIp = 0x401234;
constexpr std::uint64_t kAddr = 0x7fff'1234'5678;

// Fields that every sampling PMU supports and that need no further permission.
constexpr std::uint64_t kFields[] = {PERF_SAMPLE_IDENTIFIER,
                                     PERF_SAMPLE_IP,
                                     PERF_SAMPLE_TID,
                                     PERF_SAMPLE_TIME,
                                     PERF_SAMPLE_ADDR,
                                     PERF_SAMPLE_ID,
                                     PERF_SAMPLE_STREAM_ID,
                                     PERF_SAMPLE_CPU,
                                     PERF_SAMPLE_PERIOD,
                                     PERF_SAMPLE_READ,
                                     PERF_SAMPLE_CALLCHAIN,
                                     PERF_SAMPLE_REGS_USER,
                                     PERF_SAMPLE_STACK_USER,
                                     PERF_SAMPLE_WEIGHT,
                                     PERF_SAMPLE_DATA_SRC,
                                     PERF_SAMPLE_TRANSACTION,
                                     PERF_SAMPLE_REGS_INTR,
                                     PERF_SAMPLE_PHYS_ADDR,
                                     PERF_SAMPLE_CGROUP,
                                     PERF_SAMPLE_DATA_PAGE_SIZE,
                                     PERF_SAMPLE_CODE_PAGE_SIZE,
                                     PERF_SAMPLE_RAW};

// Opens one event after the other, each with its own sample_type. All of them share the buffer of a
// dummy event, because mapping a buffer for each one would take most of the time.
class Fields {
 public:
  // The samples of that many overflows of an event with `sample_type`.
  std::vector<Sample> SamplesWith(std::uint64_t sample_type, int samples) {
    const Event event = Open(
        spec_, {.sample_period = 3, .sample_type = sample_type, .edit = [](perf_event_attr& attr) {
                  attr.sample_regs_user = 0x1ff;
                  attr.sample_regs_intr = 0x7;
                  attr.sample_stack_user = 64;
                }});
    event.SetOutput(owner_);
    event.Enable();
    target().Stimulate(spec_, 3 * static_cast<std::uint64_t>(samples),
                       {.ip = kSampledIp, .addr = kAddr});
    event.Disable();
    std::vector<Sample> got;
    for (const Record& record : ring_.DrainRaw()) {
      const auto sample = ParseSample(record, event.attr());
      EXPECT_TRUE(sample) << rule::REC_001 << " " << Describe(event.attr());
      if (sample) got.push_back(*sample);
    }
    ExpectFields(got, event.Id());
    return got;
  }

 private:
  static void ExpectFields(const std::vector<Sample>& samples, std::uint64_t id) {
    for (const Sample& sample : samples) {
      EXPECT_EQ(sample.identifier.value_or(id), id) << rule::REC_008;
      EXPECT_EQ(sample.id.value_or(id), id) << rule::REC_008;
      EXPECT_EQ(sample.stream_id.value_or(id), id) << rule::REC_008;
      EXPECT_EQ(sample.ip.value_or(kSampledIp), kSampledIp) << rule::REC_002;
      EXPECT_EQ(sample.addr.value_or(kAddr), kAddr) << rule::REC_005;
      EXPECT_EQ(sample.period.value_or(3), 3u) << rule::REC_010;
      EXPECT_EQ(sample.tid.value_or(gettid()), static_cast<std::uint32_t>(gettid()));
      EXPECT_EQ(sample.cpu.value_or(EventCpu()), static_cast<std::uint32_t>(EventCpu()));
    }
  }

  EventSpec spec_ = target().AnyEvent();
  Event owner_ = Open(Software(PERF_COUNT_SW_DUMMY));
  Ring ring_{owner_, 4};
};

CONFORMANCE_CASE(Record, EachFieldHasDocumentedPlace,
                 .rules = {rule::REC_001, rule::REC_002, rule::REC_005, rule::REC_008,
                           rule::REC_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kAddresses}) {
  Fields fields;
  for (const std::uint64_t field : kFields) {
    SCOPED_TRACE(testing::Message() << "sample_type 0x" << std::hex << field);
    EXPECT_EQ(fields.SamplesWith(field, 2).size(), 2u) << rule::REC_001;
  }
}

CONFORMANCE_CASE(Record, EachPairOfFieldsIsInOrder, .rules = {rule::REC_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kAddresses}) {
  Fields fields;
  for (const std::uint64_t first : kFields) {
    for (const std::uint64_t second : kFields) {
      if (second >= first) continue;
      SCOPED_TRACE(testing::Message() << "sample_type 0x" << std::hex << (first | second));
      EXPECT_EQ(fields.SamplesWith(first | second, 1).size(), 1u);
    }
  }
}

CONFORMANCE_CASE(Record, AllFieldsButOneAreInOrder, .rules = {rule::REC_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kAddresses}) {
  Fields fields;
  std::uint64_t all = 0;
  for (const std::uint64_t field : kFields) all |= field;
  EXPECT_EQ(fields.SamplesWith(all, 3).size(), 3u);
  for (const std::uint64_t field : kFields) {
    SCOPED_TRACE(testing::Message() << "without 0x" << std::hex << field);
    EXPECT_EQ(fields.SamplesWith(all & ~field, 3).size(), 3u);
  }
}

CONFORMANCE_CASE(Record, IpAndAddrMatchOverflow, .rules = {rule::REC_002, rule::REC_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kAddresses}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] =
      Sampler(spec, {.sample_period = 2, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR}, 1);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    target().Stimulate(spec, 1, {.ip = 0x500000 + i, .addr = 0x600000 + i});
  }
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(got.samples[i].ip, 0x500000 + 2 * (i + 1)) << rule::REC_002;
    EXPECT_EQ(got.samples[i].addr, 0x600000 + 2 * (i + 1)) << rule::REC_005;
    EXPECT_EQ(got.samples[i].misc & PERF_RECORD_MISC_EXACT_IP, 0) << rule::REC_002;
  }
}

CONFORMANCE_CASE(Record, TidMatchesSampledTask, .rules = {rule::REC_003},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const OpenOptions options = {.cpu = EventCpu(),
                               .sample_period = 1,
                               .sample_type = PERF_SAMPLE_TID,
                               .disabled = false,
                               .inherit = true};
  const Event event = Open(spec, options);
  Ring ring(event, 1);
  Child child([&spec] {
    target().Stimulate(spec, 1);
    return 0;
  });
  target().Stimulate(spec, 1);
  const pid_t child_pid = child.pid();
  ASSERT_EQ(child.Run(), 0);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 2u);
  EXPECT_EQ(got.samples[0].pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(got.samples[0].tid, static_cast<std::uint32_t>(gettid()));
  EXPECT_EQ(got.samples[1].pid, static_cast<std::uint32_t>(child_pid));
  EXPECT_EQ(got.samples[1].tid, static_cast<std::uint32_t>(child_pid));
}

CONFORMANCE_CASE(Record, TimeComesFromTheChosenClock, .rules = {rule::REC_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling},
                 .timing = "waits for nothing: a clock is read before and after") {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t period = target().min_period();
  auto [event, ring] = Sampler(
      spec, {.sample_period = period, .sample_type = PERF_SAMPLE_TIME, .edit = UseRawClock}, 4);
  std::uint64_t last = RawClockNow();
  target().Stimulate(spec, 50 * period);
  const std::uint64_t end = RawClockNow();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 50u);
  for (const Sample& sample : got.samples) {
    EXPECT_GE(*sample.time, last);
    last = *sample.time;
  }
  EXPECT_LE(last, end);
}

CONFORMANCE_CASE(Record, CpuIsWhereTheTaskRan, .rules = {rule::REC_009},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kCpus2}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {.sample_period = 5, .sample_type = PERF_SAMPLE_CPU}, 1);
  for (const std::size_t i : {1, 0, 1}) {
    const int cpu = target().Cpu(i);
    PinTo(cpu);
    target().Stimulate(spec, 5);
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_EQ(got.samples[0].cpu, static_cast<std::uint32_t>(cpu));
  }
}

CONFORMANCE_CASE(Record, CpumodeMatchesOverflowPrivilege, .rules = {rule::REC_025},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kExcludes}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {.sample_period = 5, .sample_type = PERF_SAMPLE_IP}, 1);
  target().Stimulate(spec, 5, {.privilege = Privilege::kUser, .ip = kSampledIp});
  target().Stimulate(spec, 5, {.privilege = Privilege::kKernel, .ip = 0xffff'ffff'8123'4567});
  target().Stimulate(spec, 5, {.privilege = Privilege::kUser, .ip = kSampledIp});
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 3u);
  const auto mode = [&got](std::size_t i) {
    return got.samples[i].misc & PERF_RECORD_MISC_CPUMODE_MASK;
  };
  EXPECT_EQ(mode(0), PERF_RECORD_MISC_USER);
  EXPECT_EQ(mode(1), PERF_RECORD_MISC_KERNEL);
  EXPECT_EQ(got.samples[1].ip, 0xffff'ffff'8123'4567) << rule::REC_002;
  EXPECT_EQ(mode(2), PERF_RECORD_MISC_USER);
}

// A kernel thread of the other CPU generates the event, so there are no user registers.
CONFORMANCE_CASE(Record, UserEventInKernelThreadHasUserCpumode,
                 .rules = {rule::REC_025, rule::SMP_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kExcludes, Cap::kTasks,
                           Cap::kCpus2}) {
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  for (const unsigned precise : {0u, target().precise()}) {
    auto [event, ring] =
        Sampler(spec,
                {.pid = -1,
                 .cpu = there,
                 .sample_period = 5,
                 .sample_type = PERF_SAMPLE_IP,
                 .exclude_kernel = true,
                 .edit = [precise](perf_event_attr& attr) { attr.precise_ip = precise & 3; }},
                1);
    Pulse(spec, 5, {.cpu = there, .ip = kSampledIp});
    event.Disable();
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_EQ(got.samples[0].misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER)
        << rule::REC_025;
    EXPECT_EQ(got.samples[0].ip, kSampledIp) << rule::REC_002;
  }
}

CONFORMANCE_CASE(Record, UnknownFieldsAreZeroNotStale, .rules = {rule::REC_026},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t type = PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION |
                             PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_PERIOD;
  auto [event, ring] = Sampler(spec, {.sample_period = 1, .sample_type = type}, 1);
  for (const std::uint64_t addr : {0xdead'beefull, 0ull, 0x1234ull, 0ull}) {
    target().Stimulate(spec, 1, {.addr = addr});
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    EXPECT_EQ(got.samples[0].addr, addr);
    EXPECT_EQ(got.samples[0].weight, 0u);
    EXPECT_EQ(got.samples[0].transaction, 0u);
    EXPECT_EQ(got.samples[0].phys_addr, 0u);
  }
}

CONFORMANCE_CASE(Record, FieldsDoNotLeakFromOneEventToTheNext,
                 .rules = {rule::REC_026, rule::REC_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kGroups}) {
  const std::vector<EventSpec> specs = target().AnyEvents(2);
  const std::uint64_t type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
  const Event first =
      Open(specs[0], {.pid = -1, .cpu = EventCpu(), .sample_period = 11, .sample_type = type});
  const Event second =
      Open(specs[1], {.pid = -1, .cpu = EventCpu(), .sample_period = 23, .sample_type = type});
  Ring first_ring(first, 1);
  Ring second_ring(second, 1);
  first.Enable();
  second.Enable();
  HoldLine hold;
  target().Stimulate(specs[0], 11);
  target().Stimulate(specs[1], 23);
  hold.Release();
  const RingContents of_first = first_ring.Drain();
  const RingContents of_second = second_ring.Drain();
  ASSERT_EQ(of_first.samples.size(), 1u);
  ASSERT_EQ(of_second.samples.size(), 1u);
  EXPECT_EQ(of_first.samples[0].period, 11u) << rule::REC_010;
  EXPECT_EQ(of_first.samples[0].read->value, 11u) << rule::REC_026;
  EXPECT_EQ(of_second.samples[0].period, 23u) << rule::REC_010;
  EXPECT_EQ(of_second.samples[0].read->value, 23u) << rule::REC_026;
}

}  // namespace
}  // namespace pmuconf
