// SPDX-License-Identifier: Apache-2.0
// Each of the kernel's own events counts its cause.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "cases/common.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/SWE.h"
#include "rules/TPT.h"
#include "stimulus/stimuli.h"
#include "system/cgroup.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Stimulus, CountEqualsStimulus, .rules = {rule::SWE_010},
                 .needs = {Cap::kStimulus, Cap::kCpus2}) {
  for (const EventSpec& spec : target().Events({.inexact = true})) {
    if (spec.stimulus == StimulusKind::kNone) continue;
    const Event event = Open(spec);
    std::uint64_t want = 0;
    for (const std::uint64_t n : {1, 40, 0, 7}) {
      event.Enable();
      target().Stimulate(spec, n);
      event.Disable();
      want += n;
      EXPECT_THAT(event.Read(), Counted(spec, want));
    }
  }
}

CONFORMANCE_CASE(Software, FaultsAreMinorOrMajor, .rules = {rule::SWE_001},
                 .needs = {Cap::kSoftware}) {
  const Group group({Software(PERF_COUNT_SW_PAGE_FAULTS), Software(PERF_COUNT_SW_PAGE_FAULTS_MIN),
                     Software(PERF_COUNT_SW_PAGE_FAULTS_MAJ)});
  std::uint64_t want = 0;
  for (const std::uint64_t n : {1, 300, 5}) {
    group.Enable();
    TouchFreshPages(n);
    group.Disable();
    want += n;
    const GroupReading reading = group.Read();
    EXPECT_EQ(reading.entries[0].value, want);
    EXPECT_EQ(reading.entries[1].value + reading.entries[2].value, want);
    EXPECT_EQ(reading.entries[2].value, 0u);
  }
}

CONFORMANCE_CASE(Software, EachDescheduleCountsOneSwitch, .rules = {rule::SWE_002},
                 .needs = {Cap::kSoftware}) {
  const Event event = Open(Software(PERF_COUNT_SW_CONTEXT_SWITCHES));
  const NoPreemption no_preemption;
  std::uint64_t want = 0;
  for (const std::uint64_t n : {1, 25, 3}) {
    event.Enable();
    SwitchContexts(n);
    event.Disable();
    want += n;
    EXPECT_EQ(event.Read().value, want);
    SwitchContexts(2);
  }
}

CONFORMANCE_CASE(Software, EachMoveIsOneMigration, .rules = {rule::SWE_003},
                 .needs = {Cap::kSoftware, Cap::kCpus2}) {
  const Event event = Open(Software(PERF_COUNT_SW_CPU_MIGRATIONS));
  event.Enable();
  std::uint64_t want = 0;
  for (const std::uint64_t n : {1, 12, 3}) {
    Migrate(n, target().Cpu(0), target().Cpu(1));
    want += n;
    EXPECT_EQ(event.Read().value, want);
    SwitchContexts(5);
    PinTo(CurrentCpu());
    EXPECT_EQ(event.Read().value, want);
  }
}

// The counts of a CPU's clock and of a task's clock, in nanoseconds, while this task waits for
// another one that keeps another CPU busy.
struct Clocks {
  std::uint64_t cpu;
  std::uint64_t task;
};
Clocks ClocksOfAWait() {
  const Event cpu = Open(Software(PERF_COUNT_SW_CPU_CLOCK), {.pid = -1, .cpu = CurrentCpu()});
  const Event task = Open(Software(PERF_COUNT_SW_TASK_CLOCK));
  Child other([] {
    PinTo(target().Cpu(1));
    BusyWait(0.02);
    return 0;
  });
  cpu.Enable();
  task.Enable();
  other.Run();
  task.Disable();
  cpu.Disable();
  const Reading of_task = task.Read();
  EXPECT_LE(of_task.value, of_task.time_enabled);
  EXPECT_GT(of_task.value, 0u);
  return {cpu.Read().value, of_task.value};
}

CONFORMANCE_CASE(Software, TaskClockExcludesWaitingTime, .rules = {rule::SWE_004},
                 .needs = {Cap::kSoftware, Cap::kCpus2},
                 .timing =
                     "repeats a wait of 20 ms until the task clock shows less than half of one, at "
                     "most 5 s; a busy host may need several, a running clock never passes") {
  Clocks clocks = {};
  EXPECT_TRUE(RepeatUntil(
      [&clocks] {
        clocks = ClocksOfAWait();
        EXPECT_LE(clocks.task, clocks.cpu);
      },
      [&clocks] { return clocks.cpu > 2 * clocks.task; }));
}

CONFORMANCE_CASE(Software, DummyCountsZeroAndReportsComm, .rules = {rule::SWE_005},
                 .needs = {Cap::kSoftware}) {
  auto [event, ring] = Sampler(Software(PERF_COUNT_SW_DUMMY),
                               {.edit = [](perf_event_attr& attr) { attr.comm = 1; }}, 1);
  prctl(PR_SET_NAME, "somebody");
  TouchFreshPages(3);
  prctl(PR_SET_NAME, "else");
  event.Disable();
  prctl(PR_SET_NAME, "nobody");
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.others.size(), 2u);
  EXPECT_EQ(got.others[1].type, std::uint32_t{PERF_RECORD_COMM});
  EXPECT_TRUE(got.samples.empty());
  EXPECT_EQ(event.Read().value, 0u);
}

CONFORMANCE_CASE(Software, UnknownEventsAndBranchesAreRefused,
                 .rules = {rule::SWE_006, rule::TPT_004}, .needs = {Cap::kSoftware}) {
  EventSpec spec = Software(PERF_COUNT_SW_PAGE_FAULTS);
  const auto branches = [](perf_event_attr& attr) {
    attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  };
  EXPECT_THAT(TryOpen(spec, {.sample_period = 1, .edit = branches}), FailsWith(EOPNOTSUPP))
      << rule::SWE_006;
  const Event event = Open(spec);
  EXPECT_THAT(
      event.TryIoctl(PERF_EVENT_IOC_SET_FILTER, reinterpret_cast<unsigned long>("common_pid == 1")),
      FailsWith(EINVAL))
      << rule::TPT_004;
  for (const std::uint64_t config : {std::uint64_t{PERF_COUNT_SW_MAX} + 50, ~std::uint64_t{0}}) {
    spec.config = config;
    EXPECT_THAT(TryOpen(spec), FailsWith(ENOENT)) << rule::SWE_006 << " " << config;
  }
}

CONFORMANCE_CASE(Software, EachEventWritesSampleWithPeriod, .rules = {rule::SWE_007},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {.sample_period = 10, .sample_type = PERF_SAMPLE_PERIOD}, 1);
  target().Stimulate(spec, 25);
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 25u);
  EXPECT_EQ(got.PeriodSum(), 25u);
  EXPECT_THAT(event.Read(), Counted(spec, 25));
}

// One occurrence makes both events sample.
CONFORMANCE_CASE(Software, EachEventWritesItsOwnId, .rules = {rule::SWE_012},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const OpenOptions options = {.sample_period = 10,
                               .sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID};
  const Event first = Open(spec, options), second = Open(spec, options);
  Ring first_ring(first, 1), second_ring(second, 1);
  first.Enable();
  second.Enable();
  target().Stimulate(spec, 20);
  first.Disable();
  second.Disable();
  const auto expect_own_ids = [](const Event& event, Ring& ring) {
    const RingContents got = ring.Drain();
    EXPECT_GE(got.samples.size(), 2u);
    for (const Sample& sample : got.samples) {
      EXPECT_EQ(*sample.id, event.Id());
      EXPECT_EQ(*sample.stream_id, event.Id());
    }
  };
  expect_own_ids(first, first_ring);
  expect_own_ids(second, second_ring);
}

CONFORMANCE_CASE(Software, SingleEventsAreNotThrottled, .rules = {rule::SWE_008},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const SampleRateLimit limit(1);
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, {.sample_period = 1}, 4);
  target().Stimulate(spec, 500);
  event.Disable();
  const RingContents got = ring.Drain();
  EXPECT_EQ(got.samples.size(), 500u);
  EXPECT_TRUE(got.throttles.empty());
}

// Causes `n` page faults of this thread in kernel mode: the kernel writes into new pages.
void FaultInTheKernel(std::size_t n) {
  const std::size_t size = n * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Fd zeros(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  void* const fresh =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // With huge pages, one fault would serve many pages. A kernel without huge pages returns EINVAL.
  const bool advised = madvise(fresh, size, MADV_NOHUGEPAGE) == 0 || errno == EINVAL;
  if (zeros.get() < 0 || fresh == MAP_FAILED || !advised ||
      read(zeros.get(), fresh, size) != static_cast<ssize_t>(size) || munmap(fresh, size) != 0) {
    throw Broken("cannot have the kernel write into fresh pages");
  }
}

CONFORMANCE_CASE(Software, ExcludesSeparateUserAndKernelFaults, .rules = {rule::SWE_009},
                 .needs = {Cap::kSoftware, Cap::kExcludes}) {
  const EventSpec faults = Software(PERF_COUNT_SW_PAGE_FAULTS);
  const Event both = Open(faults);
  const Event user = Open(faults, {.exclude_kernel = true});
  const Event kernel = Open(faults, {.exclude_user = true});
  for (const Event* event : {&both, &user, &kernel}) event->Enable();
  TouchFreshPages(100);
  FaultInTheKernel(7);
  for (const Event* event : {&both, &user, &kernel}) event->Disable();
  EXPECT_EQ(both.Read().value, 107u);
  EXPECT_EQ(user.Read().value, 100u);
  EXPECT_EQ(kernel.Read().value, 7u);
}

CASE_USES(Software, CpuEventCountsCgroupSwitches, Feature::kPerfCgroups);
CONFORMANCE_CASE(Software, CpuEventCountsCgroupSwitches, .rules = {rule::SWE_011},
                 .needs = {Cap::kSoftware}) {
  const CgroupRoot root;
  const Cgroup own(root, "own");
  const Event event =
      Open(Software(PERF_COUNT_SW_CGROUP_SWITCHES), {.pid = -1, .cpu = CurrentCpu()});
  event.Enable();
  SwitchContexts(20);
  EXPECT_EQ(event.Read().value, 0u);
  Child outside([] {
    BusyWait(0.001);
    return 0;
  });
  own.Enter();
  outside.Run();
  EXPECT_GE(event.Read().value, 2u);
}

}  // namespace
}  // namespace pmuconf
