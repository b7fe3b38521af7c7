// SPDX-License-Identifier: Apache-2.0
// The record of a tracepoint, the filters of its events, and the permission to get its raw data.
#include <fcntl.h>
#include <sys/prctl.h>

#include <cstring>

#include "cases/tracepoint/tracepoint.h"
#include "cases/unprivileged.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "rules/SWE.h"
#include "rules/TPT.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kNoSuchId = 0x7fff'ffff;

// The value of the field with that name in a sample's raw data, zero-extended.
std::uint64_t Field(const std::vector<std::byte>& raw, const std::vector<TraceField>& fields,
                    const std::string& name) {
  for (const TraceField& field : fields) {
    std::uint64_t value = 0;
    if (field.name != name || field.size > sizeof(value) || field.offset + field.size > raw.size())
      continue;
    std::memcpy(&value, raw.data() + field.offset, field.size);
    return value;
  }
  throw Broken("the record has no field " + name);
}

CONFORMANCE_CASE(Tracepoint, RecordMatchesFormat, .rules = {rule::TPT_001},
                 .needs = {Cap::kTracepoint}) {
  const EventSpec spec = SpecOfTracepoint(kGetpgid);
  const auto fields = ParseTraceFormat(TraceFs().Read(kGetpgid, "format"));
  ASSERT_TRUE(fields.has_value());
  auto [event, ring] = Sampler(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_RAW}, 1);
  for (const long argument : {0, 7, 0x12345678}) {
    HitTracepoint({argument});
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    const std::vector<std::byte>& raw = *got.samples[0].raw;
    EXPECT_EQ(Field(raw, *fields, "common_type"), spec.config);
    EXPECT_EQ(Field(raw, *fields, "common_pid"), static_cast<std::uint64_t>(gettid()));
    EXPECT_EQ(Field(raw, *fields, "__syscall_nr"), std::uint64_t{SYS_getpgid});
    EXPECT_EQ(Field(raw, *fields, "pid"), static_cast<std::uint64_t>(argument));
  }
}

CONFORMANCE_CASE(Tracepoint, FilterLetsItsMatchesThrough, .rules = {rule::TPT_002},
                 .needs = {Cap::kTracepoint}) {
  const std::vector<std::pair<const char*, std::uint64_t>> filters = {{"pid == 7", 2},
                                                                      {"pid != 7", 3},
                                                                      {"pid > 7 && pid < 10", 2},
                                                                      {"pid == 9 || pid == 0", 2},
                                                                      {"pid == 5", 0},
                                                                      {"common_pid == 0", 0}};
  for (const auto& [filter, matches] : filters) {
    SCOPED_TRACE(filter);
    const Event event = Open(SpecOfTracepoint(kGetpgid), {.sample_period = 1});
    Ring ring(event, 1);
    ASSERT_THAT(TryFilter(event, filter), Succeeds());
    event.Enable();
    HitTracepoint({7, 8, 9, 7, 0});
    event.Disable();
    EXPECT_EQ(event.Read().value, matches);
    EXPECT_EQ(ring.Drain().samples.size(), matches);
  }
}

// One child exists before the filter, the other one inherits the event with its filter.
CONFORMANCE_CASE(Tracepoint, FilterAppliesToChildren, .rules = {rule::TPT_002},
                 .needs = {Cap::kTracepoint}) {
  auto [event, ring] = Sampler(SpecOfTracepoint(kGetpgid),
                               {.cpu = CurrentCpu(), .sample_period = 1, .inherit = true}, 1);
  const auto hit = [] {
    HitTracepoint({7, 8, 9, 7, 0});
    return 0;
  };
  Child early(hit);
  ASSERT_THAT(TryFilter(event, "pid == 7"), Succeeds());
  Child late(hit);
  std::uint64_t matches = 0;
  for (Child* child : {&early, &late}) {
    ASSERT_EQ(child->Run(), 0);
    matches += 2;
    EXPECT_EQ(event.Read().value, matches);
    EXPECT_EQ(ring.Drain().samples.size(), 2u);
  }
}

CONFORMANCE_CASE(Tracepoint, BadFiltersLeaveTheEventAsItWas, .rules = {rule::TPT_003},
                 .needs = {Cap::kTracepoint}) {
  const Event event = Open(SpecOfTracepoint(kGetpgid));
  event.Enable();
  for (const char* bad : {"nosuchfield == 1", "pid ==", "pid ~ \"x\""}) {
    EXPECT_THAT(TryFilter(event, bad), FailsWith(EINVAL)) << bad;
  }
  HitTracepoint({1, 2, 3});
  EXPECT_EQ(event.Read().value, 3u);
  ASSERT_THAT(TryFilter(event, "pid == 2"), Succeeds());
  EXPECT_THAT(TryFilter(event, "pid == 3"), FailsWith(EEXIST));
  HitTracepoint({1, 2, 3});
  EXPECT_EQ(event.Read().value, 4u);
}

CONFORMANCE_CASE(Tracepoint, FilterAtBadAddressIsRefused, .rules = {rule::TPT_004},
                 .needs = {Cap::kTracepoint}) {
  const Event event = Open(SpecOfTracepoint(kGetpgid));
  EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_SET_FILTER, 8), FailsWith(EFAULT));
  EXPECT_THAT(TryFilter(event, "pid == 2"), Succeeds());
}

CONFORMANCE_CASE(Tracepoint, UnknownIdsAndBranchesAreRefused, .rules = {rule::TPT_008},
                 .needs = {Cap::kTracepoint}) {
  EventSpec spec = SpecOfTracepoint(kGetpgid);
  const auto branches = [](perf_event_attr& attr) {
    attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  };
  EXPECT_THAT(TryOpen(spec, {.sample_period = 1, .edit = branches}), FailsWith(EOPNOTSUPP));
  spec.config = kNoSuchId;
  EXPECT_THAT(TryOpen(spec), FailsWith(EINVAL));
}

CONFORMANCE_CASE(Tracepoint, CpuRecordsNeedPrivilege, .rules = {rule::TPT_009},
                 .needs = {Cap::kTracepoint}) {
  const Sysctl paranoid("kernel/perf_event_paranoid", "0");
  const EventSpec spec = SpecOfTracepoint(kGetpgid);
  const auto errno_of = [&spec](std::uint64_t sample_type) {
    return RunUnprivileged([&spec, sample_type] {
      const OpenOptions options = {
          .pid = -1, .cpu = target().Cpu(0), .sample_period = 1, .sample_type = sample_type};
      return TryOpen(spec, options).error;
    });
  };
  EXPECT_EQ(errno_of(PERF_SAMPLE_TID), 0);
  EXPECT_THAT(errno_of(PERF_SAMPLE_RAW), testing::AnyOf(EPERM, EACCES));
}

// The record holds a copy of the string, and a field with its place: the offset in the low 16 bits,
// the length in the high ones.
CONFORMANCE_CASE(Tracepoint, RecordHoldsStringOfTheCaller, .rules = {rule::TPT_010},
                 .needs = {Cap::kTracepoint}) {
  constexpr const char* kOpenat = "syscalls:sys_enter_openat";
  const auto fields = ParseTraceFormat(TraceFs().Read(kOpenat, "format"));
  ASSERT_TRUE(fields.has_value());
  auto [event, ring] =
      Sampler(SpecOfTracepoint(kOpenat), {.sample_period = 1, .sample_type = PERF_SAMPLE_RAW}, 1);
  for (const std::string path : {"/proc/self/stat", "/", "/no/such/file/anywhere"}) {
    const Fd opened(
        static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC)));
    const RingContents got = ring.Drain();
    ASSERT_EQ(got.samples.size(), 1u);
    const std::vector<std::byte>& raw = *got.samples[0].raw;
    const std::uint64_t place = Field(raw, *fields, "__filename_val");
    const std::size_t offset = place & 0xffff;
    const std::size_t length = place >> 16;
    EXPECT_EQ(length, path.size() + 1);
    ASSERT_LE(offset + length, raw.size());
    const auto* const text = reinterpret_cast<const char*>(raw.data() + offset);
    EXPECT_EQ(std::string(text, strnlen(text, length)), path);
  }
}

CASE_USES(Tracepoint, CallchainHasTheHitOnce, Feature::kTracepoints);
// The kernel itself hits this tracepoint, so the chain begins in the kernel.
CONFORMANCE_CASE(Tracepoint, CallchainHasTheHitOnce, .rules = {rule::REC_007},
                 .needs = {Cap::kTracepoint}) {
  auto [event, ring] =
      Sampler(SpecOfTracepoint("task:task_rename"),
              {.sample_period = 1, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN}, 2);
  ASSERT_EQ(prctl(PR_SET_NAME, "renamed"), 0);
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  const std::vector<std::uint64_t>& chain = *got.samples[0].callchain;
  ASSERT_GE(chain.size(), 3u);
  EXPECT_EQ(chain[0], std::uint64_t{PERF_CONTEXT_KERNEL});
  EXPECT_EQ(chain[1], *got.samples[0].ip);
  EXPECT_NE(chain[2], chain[1]) << "one frame, twice";
}

}  // namespace
}  // namespace pmuconf
