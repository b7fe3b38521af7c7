// SPDX-License-Identifier: Apache-2.0
// PERF_SAMPLE_RAW: the data of a tracepoint or a BPF program, and their padding.
#include <cstring>
#include <regex>

#include "cases/common.h"
#include "harness/uses.h"
#include "overflow_output.skel.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "rules/REC.h"

namespace pmuconf {
namespace {

const std::string kTracepoint = "/sys/kernel/tracing/events/syscalls/sys_enter_getpgid/";

// A field in the format file of a tracepoint.
struct Field {
  std::size_t offset = 0;
  std::size_t size = 0;
};

Field FieldOf(const std::string& name) {
  const auto format = ReadFile(kTracepoint + "format");
  if (!format) throw Broken("there is no " + kTracepoint + "format");
  const std::regex line("\\b" + name + ";\\s*offset:(\\d+);\\s*size:(\\d+);");
  std::smatch match;
  if (!std::regex_search(*format, match, line)) throw Broken(kTracepoint + " has no " + name);
  return {std::stoul(match[1]), std::stoul(match[2])};
}

// The value of the field with that name in `raw`.
std::uint64_t Value(const std::vector<std::byte>& raw, const std::string& name) {
  const Field field = FieldOf(name);
  std::uint64_t value = 0;
  if (field.size > sizeof(value) || field.offset + field.size > raw.size()) {
    ADD_FAILURE() << "no field " << name << " in " << raw.size() << " bytes";
    return 0;
  }
  std::memcpy(&value, raw.data() + field.offset, field.size);
  return value;
}

CONFORMANCE_CASE(Record, RawWithoutPayloadIsZero, .rules = {rule::REC_011},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] =
      Sampler(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW}, 1);
  target().Stimulate(spec, 2);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 2u);
  for (const Sample& sample : got.samples) {
    EXPECT_EQ(sample.raw, std::vector<std::byte>(4));
  }
}

CASE_USES(Record, RawMatchesTracepointFormat, Feature::kSyscallEvents);
CONFORMANCE_CASE(Record, RawMatchesTracepointFormat, .rules = {rule::REC_011}) {
  const auto id = ReadFile(kTracepoint + "id");
  ASSERT_TRUE(id) << kTracepoint;
  EventSpec tracepoint;
  tracepoint.type = PERF_TYPE_TRACEPOINT;
  tracepoint.config = std::stoull(*id);
  auto [event, ring] = Sampler(
      tracepoint,
      {.pid = 0, .cpu = -1, .sample_period = 1, .sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_ADDR},
      1);
  for (const pid_t pid : {getpid(), 123'456, 0}) getpgid(pid);
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t arguments[] = {static_cast<std::uint64_t>(getpid()), 123'456, 0};
    const std::vector<std::byte>& raw = *got.samples[i].raw;
    EXPECT_EQ((raw.size() + 4) % 8, 0u);
    EXPECT_EQ(Value(raw, "common_type"), tracepoint.config);
    EXPECT_EQ(Value(raw, "common_pid"), static_cast<std::uint64_t>(gettid()));
    EXPECT_EQ(Value(raw, "pid"), arguments[i]);
  }
}

CONFORMANCE_CASE(Record, RawOfBpfOutputIsZeroPadded, .rules = {rule::REC_011},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kBpf}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_ADDR});
  Skeleton<overflow_output_bpf> bpf;
  const Event output = Open(Software(PERF_COUNT_SW_BPF_OUTPUT),
                            {.pid = -1,
                             .cpu = CurrentCpu(),
                             .sample_period = 1,
                             .sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_IDENTIFIER,
                             .disabled = false});
  Ring ring(output, 1);
  const int cpu = CurrentCpu(), fd = output.fd();
  ASSERT_EQ(bpf_map_update_elem(bpf_map__fd(bpf->maps.records), &cpu, &fd, BPF_ANY), 0);
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  target().Stimulate(spec, 1, {.addr = 0xffff'ffff'ffff'ffff});
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  EXPECT_EQ(got.samples[0].identifier, output.Id());
  const std::vector<std::byte>& raw = *got.samples[0].raw;
  ASSERT_EQ(raw.size(), 20u);  // the program wrote 16 bytes
  std::vector<std::byte> payload(8, std::byte{0xff});
  payload.resize(12);
  EXPECT_EQ(std::vector(raw.begin() + 8, raw.end()), payload);
}

}  // namespace
}  // namespace pmuconf
