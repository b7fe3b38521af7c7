// SPDX-License-Identifier: Apache-2.0
// The kernel's own PMUs, which every machine has: tracepoints, probes and breakpoints.
#include "cases/kernel_pmus.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "arch/arch.h"
#include "cases/common.h"
#include "cases/unprivileged.h"
#include "harness/behaviour.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/INI.h"
#include "rules/SYS.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

CASE_USES(Init, UnknownTracepointsAreRefused, Feature::kTracepoints);
CONFORMANCE_CASE(Init, UnknownTracepointsAreRefused, .rules = {rule::INI_017}) {
  EventSpec spec = Tracepoint("task/task_rename");
  EXPECT_THAT(TryOpen(spec, {.pid = getpid()}), Succeeds());
  for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{0xfffff}, ~std::uint64_t{0}}) {
    spec.config = id;
    EXPECT_THAT(TryOpen(spec, {.pid = getpid()}), FailsWith(EINVAL)) << id;
  }
}

CASE_USES(Sysfs, TracepointIdsOpenTheirTracepoint, Feature::kTracepoints);
CONFORMANCE_CASE(Sysfs, TracepointIdsOpenTheirTracepoint, .rules = {rule::SYS_016}) {
  const EventSpec spec = Tracepoint("task/task_rename");
  const Event count = Open(spec, {.pid = getpid(), .disabled = false});
  const Event other = Open(Tracepoint("task/task_newtask"), {.pid = getpid(), .disabled = false});
  auto [sampler, ring] =
      Sampler(spec, {.pid = getpid(), .sample_period = 1, .sample_type = PERF_SAMPLE_RAW});
  for (const char* name : {"one", "two", "three"}) {
    if (prctl(PR_SET_NAME, name) != 0) throw BrokenErrno("PR_SET_NAME", errno);
  }
  EXPECT_EQ(count.Read().value, 3u);
  EXPECT_EQ(other.Read().value, 0u);
  const RingContents contents = ring.Drain();
  ASSERT_EQ(contents.samples.size(), 3u);
  // The common fields at the start of each tracepoint's format.
  struct Head {
    std::uint16_t type;
    std::uint8_t flags, preempt_count;
    std::int32_t pid;
  };
  for (const Sample& sample : contents.samples) {
    Head head = {};
    ASSERT_GE(sample.raw->size(), sizeof(head));
    std::memcpy(&head, sample.raw->data(), sizeof(head));
    EXPECT_EQ(head.type, spec.config);
    EXPECT_EQ(head.pid, getpid());
  }
}

std::string DynamicFile(const std::string& pmu, const std::string& file) {
  std::string path(kEventSource);
  return path.append("/").append(pmu).append("/").append(file);
}

// The attr of a probe of `pmu`. `where` is the name of a function, or of a file with the probe at
// `offset`.
perf_event_attr Probe(const std::string& pmu, const char* where, std::uint64_t offset,
                      bool returns) {
  const auto type = ReadFile(DynamicFile(pmu, "type"));
  const auto format = ReadFile(DynamicFile(pmu, "format/retprobe"));
  const auto field = format ? ParseFormat(*format) : std::nullopt;
  const auto bit = field ? field->Encode(1) : std::nullopt;
  // The case declares the PMU's feature, so the PMU is there.
  if (!type || type->empty() || !bit) throw Broken("sysfs does not describe the PMU " + pmu);
  EventSpec spec;
  spec.name = pmu;
  spec.type = static_cast<std::uint32_t>(std::strtoul(type->c_str(), nullptr, 10));
  if (returns) spec.config = *bit;
  perf_event_attr attr = MakeAttr(spec);
  attr.config1 = reinterpret_cast<std::uint64_t>(where);
  attr.config2 = offset;
  return attr;
}

// The errno of opening the probe in an unprivileged process that keeps only these capabilities.
int UnprivilegedProbeErrno(perf_event_attr attr, std::initializer_list<int> capabilities) {
  attr.exclude_kernel = 1;
  return RunUnprivileged([&] { return TryOpen(attr, getpid()).error; }, capabilities);
}

// The kernel calls this function once for each open(2) of a file.
constexpr const char* kOpenFunction = "vfs_open";

CASE_USES(Init, KernelProbesCountCallsAndReturns, Feature::kKernelProbes);
CONFORMANCE_CASE(Init, KernelProbesCountCallsAndReturns, .rules = {rule::INI_018}) {
  const OpenResult calls = TryOpen(Probe("kprobe", kOpenFunction, 0, false), getpid());
  const OpenResult returns = TryOpen(Probe("kprobe", kOpenFunction, 0, true), getpid());
  ASSERT_THAT(calls, Succeeds());
  ASSERT_THAT(returns, Succeeds());
  calls.event.Enable();
  returns.event.Enable();
  for (int i = 0; i < 7; ++i) const Fd file(open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(calls.event.Read().value, 7u);
  EXPECT_EQ(returns.event.Read().value, 7u);
}

CASE_USES(Init, KernelProbeNeedsFunctionAndPrivilege, Feature::kKernelProbes);
CONFORMANCE_CASE(Init, KernelProbeNeedsFunctionAndPrivilege, .rules = {rule::INI_018}) {
  EXPECT_THAT(TryOpen(Probe("kprobe", "no_such_function_at_all", 0, false), getpid()),
              FailsWith(ENOENT));
  const Sysctl paranoid(kParanoid, "-1");
  const perf_event_attr attr = Probe("kprobe", kOpenFunction, 0, false);
  EXPECT_EQ(UnprivilegedProbeErrno(attr, {}), EACCES);
  EXPECT_EQ(UnprivilegedProbeErrno(attr, {CAP_PERFMON}), 0);
}

volatile int probed_calls = 0;
void ProbedFunction() { probed_calls = 1; }
// A call by address enters the function at that address. On POWER, a direct call may enter behind
// it.
void (*volatile probed_function)() = ProbedFunction;

// The offset of `address`, an address of this program, in its executable file.
std::uint64_t FileOffset(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  std::istringstream maps(*ReadFile("/proc/self/maps"));
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) != 3) continue;
    if (begin <= at && at < end) return at - begin + offset;
  }
  throw Broken("the function to probe is in no mapping");
}

CASE_USES(Init, UserProbesCountCallsAndReturns, Feature::kUserProbes);
CONFORMANCE_CASE(Init, UserProbesCountCallsAndReturns, .rules = {rule::INI_018}) {
  const std::uint64_t offset = FileOffset(reinterpret_cast<const void*>(&ProbedFunction));
  const Event calls = Open(Probe("uprobe", "/proc/self/exe", offset, false), getpid());
  const Event returns = Open(Probe("uprobe", "/proc/self/exe", offset, true), getpid());
  calls.Enable();
  returns.Enable();
  for (int i = 0; i < 9; ++i) probed_function();
  EXPECT_EQ(calls.Read().value, 9u);
  EXPECT_EQ(returns.Read().value, 9u);
  EXPECT_THAT(TryOpen(Probe("uprobe", "/no/such/file", offset, false), getpid()),
              FailsWith(ENOENT));
  const Sysctl paranoid(kParanoid, "-1");
  const perf_event_attr attr = Probe("uprobe", "/proc/self/exe", offset, false);
  EXPECT_EQ(UnprivilegedProbeErrno(attr, {CAP_PERFMON}), EACCES);
  EXPECT_EQ(UnprivilegedProbeErrno(attr, {CAP_SYS_ADMIN}), 0);
}

CASE_USES(Init, UserProbesCountWithoutTheKernel, Feature::kUserProbes);
// The hits are in user space, so exclude_kernel leaves none out.
CONFORMANCE_CASE(Init, UserProbesCountWithoutTheKernel, .rules = {rule::INI_018}) {
  const std::uint64_t offset = FileOffset(reinterpret_cast<const void*>(&ProbedFunction));
  for (const bool returns : {false, true}) {
    perf_event_attr attr = Probe("uprobe", "/proc/self/exe", offset, returns);
    attr.exclude_kernel = 1;
    const Event event = Open(attr, getpid());
    event.Enable();
    for (int i = 0; i < 9; ++i) probed_function();
    EXPECT_EQ(event.Read().value, 9u);
  }
}

alignas(64) volatile std::uint64_t watched[16] = {};

CONFORMANCE_CASE(Init, MalformedBreakpointsAreRefused, .rules = {rule::INI_019},
                 .needs = {Cap::kBreakpoints}) {
  for (const std::uint64_t length : {0, 9, 257}) {
    EXPECT_THAT(TryOpen(Breakpoint(watched, length), getpid()), FailsWith(EINVAL));
  }
  const auto* const bytes = reinterpret_cast<const volatile char*>(watched);
  for (std::uint64_t at = 1; at < 8; ++at) {
    EXPECT_THAT(TryOpen(Breakpoint(bytes + at, 8), getpid()), FailsWith(EINVAL)) << "at " << at;
  }
  for (const std::uint32_t type : {0u, 8u, 0x80000000u}) {
    EXPECT_THAT(TryOpen(Breakpoint(watched, 8, type), getpid()), FailsWith(EINVAL))
        << "type " << type;
  }
}

CONFORMANCE_CASE(Init, UnalignedBreakpointIsRefused, .rules = {rule::INI_019},
                 .needs = {Cap::kBreakpoints}) {
  if (!processor::kAlignedBreakpointsOnly) SkipWithout("breakpoints of aligned words only");
  const auto* const bytes = reinterpret_cast<const volatile char*>(watched);
  for (const std::uint64_t length : {1, 2, 4, 8}) {
    for (std::uint64_t at = 0; at < 8; ++at) {
      EXPECT_THAT(TryOpen(Breakpoint(bytes + at, length), getpid()),
                  FailsWith(at % length == 0 ? 0 : EINVAL))
          << length << " bytes at " << at;
    }
  }
  for (const std::uint64_t length : {3, 5, 6, 7}) {
    EXPECT_THAT(TryOpen(Breakpoint(bytes, length), getpid()), FailsWith(EINVAL));
  }
}

CONFORMANCE_CASE(Init, BreakpointBeyondRegistersIsRefused, .rules = {rule::INI_019},
                 .needs = {Cap::kBreakpoints}) {
  std::vector<Event> events;
  OpenResult last;
  while (events.size() < 16) {
    last = TryOpen(Breakpoint(&watched[events.size()], 8), getpid());
    if (!last.ok()) break;
    events.push_back(std::move(last.event));
  }
  EXPECT_THAT(last, FailsWith(ENOSPC));
  ASSERT_FALSE(events.empty());
  for (const Event& event : events) event.Enable();
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t n = 0; n <= i; ++n) watched[i] = n;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].Read().value, i + 1);
  }
  events.pop_back();
  EXPECT_THAT(TryOpen(Breakpoint(&watched[15], 8), getpid()), Succeeds());
}

CONFORMANCE_CASE(Init, KernelBreakpointNeedsPrivilege, .rules = {rule::INI_019},
                 .needs = {Cap::kBreakpoints}) {
  // An address in the kernel's direct map. Any kernel address would do.
  const auto* const kernel = reinterpret_cast<const volatile void*>(0xffff'8880'0000'1000);
  perf_event_attr attr = Breakpoint(kernel, 8);
  // An event of a CPU, because not every processor can restrict a kernel breakpoint to one task.
  const auto open_it = [&attr] { return TryOpen(attr, -1, 0).error; };
  EXPECT_EQ(open_it(), EINVAL);
  attr.exclude_kernel = 0;
  EXPECT_EQ(open_it(), 0);
  const Sysctl paranoid(kParanoid, "-1");
  EXPECT_EQ(RunUnprivileged(open_it), EPERM);
  EXPECT_EQ(RunUnprivileged(open_it, {CAP_SYS_ADMIN}), 0);
}

}  // namespace
}  // namespace pmuconf
