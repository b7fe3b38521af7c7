// SPDX-License-Identifier: Apache-2.0
// The kernel's software events: each one counts its cause and nothing else.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "cases/common.h"
#include "cases/rendezvous.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/CNT.h"
#include "system/cgroup.h"

namespace pmuconf {
namespace {

// New pages of memory. Each one faults at its first use.
class Pages {
 public:
  explicit Pages(std::size_t n) : bytes_(n * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw Broken("mmap");
    madvise(base_, bytes_, MADV_NOHUGEPAGE);
  }
  Pages(const Pages&) = delete;
  ~Pages() { munmap(base_, bytes_); }
  void Touch() const {
    const auto step = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* bytes = static_cast<volatile char*>(base_);
    for (std::size_t at = 0; at < bytes_; at += step) bytes[at] = 1;
  }
  void Discard() const { madvise(base_, bytes_, MADV_DONTNEED); }

 private:
  std::size_t bytes_;
  void* base_ = nullptr;
};

CONFORMANCE_CASE(Software, EachFaultIsCounted, .rules = {rule::CNT_010}) {
  constexpr std::size_t kPages = 300;
  const Event all = Open(Software(PERF_COUNT_SW_PAGE_FAULTS));
  const Event minor = Open(Software(PERF_COUNT_SW_PAGE_FAULTS_MIN));
  const Event major = Open(Software(PERF_COUNT_SW_PAGE_FAULTS_MAJ));
  const Pages pages(kPages);
  for (const Event* event : {&all, &minor, &major}) event->Enable();
  pages.Touch();  // from here on, code and stack cause no faults
  for (const Event* event : {&all, &minor, &major}) event->Reset();
  for (int round = 0; round < 2; ++round) {
    pages.Touch();
    pages.Discard();
  }
  pages.Touch();
  for (const Event* event : {&all, &minor, &major}) event->Disable();
  EXPECT_EQ(all.Read().value, 2 * kPages);
  EXPECT_EQ(minor.Read().value, 2 * kPages);
  EXPECT_EQ(major.Read().value, 0u);
}

std::uint64_t SwitchesSoFar() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
}

CONFORMANCE_CASE(Software, EachContextSwitchIsCounted, .rules = {rule::CNT_010},
                 .needs = {Cap::kTasks}) {
  constexpr int kRounds = 50;
  const Rendezvous rendezvous;
  Child partner([&rendezvous] {
    for (int i = 0; i < kRounds; ++i) rendezvous.ReportAndWait();
    return 0;
  });
  const Event event = Open(Software(PERF_COUNT_SW_CONTEXT_SWITCHES));
  partner.Go();
  const std::uint64_t before_enable = SwitchesSoFar();
  event.Enable();
  const std::uint64_t after_enable = SwitchesSoFar();
  for (int i = 0; i < kRounds; ++i) {
    rendezvous.WaitUntilReached();
    rendezvous.Continue();
  }
  const std::uint64_t before_disable = SwitchesSoFar();
  event.Disable();
  const std::uint64_t after_disable = SwitchesSoFar();
  ASSERT_EQ(partner.Wait(), 0);
  // The scheduler's own count must be the same. The bounds differ, because a context switch may
  // occur between the read of a count and the enable or disable.
  EXPECT_GE(before_disable - after_enable, static_cast<std::uint64_t>(kRounds) / 2);
  EXPECT_GE(event.Read().value, before_disable - after_enable);
  EXPECT_LE(event.Read().value, after_disable - before_enable);
}

CONFORMANCE_CASE(Software, EachMigrationIsCounted, .rules = {rule::CNT_010},
                 .needs = {Cap::kTasks, Cap::kCpus2}) {
  const Event event = Open(Software(PERF_COUNT_SW_CPU_MIGRATIONS));
  PinTo(target().Cpu(0));
  event.Enable();
  for (int i = 0; i < 25; ++i) {
    PinTo(target().Cpu(1));
    PinTo(target().Cpu(0));
    PinTo(target().Cpu(0));  // no migration
  }
  EXPECT_EQ(event.Read().value, 50u);
  event.Disable();
  PinTo(target().Cpu(1));
  EXPECT_EQ(event.Read().value, 50u);
}

CONFORMANCE_CASE(Software, EventsWithoutCauseReadZero, .rules = {rule::CNT_010}) {
  for (const perf_sw_ids id : {PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_BPF_OUTPUT,
                               PERF_COUNT_SW_EMULATION_FAULTS, PERF_COUNT_SW_ALIGNMENT_FAULTS}) {
    const Event event = Open(Software(id), {.disabled = false});
    const Pages pages(50);
    pages.Touch();
    Child child([] { return 0; });
    ASSERT_EQ(child.Run(), 0);
    const Reading reading = event.Read();
    EXPECT_EQ(reading.value, 0u) << id;
    EXPECT_GT(reading.time_running, 0u) << id;
  }
}

CASE_USES(Software, SwitchesBetweenCgroupsAreCounted, Feature::kPerfCgroups);
// A task that is alone in its cgroup leaves the cgroup at each context switch.
CONFORMANCE_CASE(Software, SwitchesBetweenCgroupsAreCounted, .rules = {rule::CNT_010}) {
  const CgroupRoot root;
  const Cgroup own(root, "pmuconf-own");
  for (const bool apart : {false, true}) {
    const Rendezvous rendezvous;
    Child partner([&] {
      if (apart) own.Enter();
      for (int i = 0; i < 30; ++i) rendezvous.ReportAndWait();
      return 0;
    });
    OpenOptions options = {.pid = partner.pid()};
    const Event switches = Open(Software(PERF_COUNT_SW_CONTEXT_SWITCHES), options);
    options.group_fd = switches.fd();
    options.disabled = false;
    const Event between = Open(Software(PERF_COUNT_SW_CGROUP_SWITCHES), options);
    partner.Go();
    rendezvous.WaitUntilReached();
    switches.Enable();
    for (int i = 0; i < 29; ++i) {
      rendezvous.Continue();
      rendezvous.WaitUntilReached();
    }
    switches.Disable();
    rendezvous.Continue();
    ASSERT_EQ(partner.Wait(), 0);
    EXPECT_GE(switches.Read().value, 29u);
    EXPECT_EQ(between.Read().value, apart ? switches.Read().value : 0u);
  }
}

// The time in the kernel's records, which has the same clock as the clock events. A change of the
// task's name causes a record.
std::uint64_t Now(Ring& ring) {
  prctl(PR_SET_NAME, "pmuconf");
  for (const Record& record : ring.DrainRaw()) {
    if (record.type != PERF_RECORD_COMM) continue;
    std::uint64_t time = 0;
    std::memcpy(&time, record.body.data() + record.body.size() - sizeof(time), sizeof(time));
    return time;
  }
  throw Broken("no PERF_RECORD_COMM");
}

CONFORMANCE_CASE(Software, CpuClockCountsEnabledTime, .rules = {rule::CNT_011}) {
  const Event names =
      Open(Software(PERF_COUNT_SW_DUMMY), {.sample_type = PERF_SAMPLE_TIME,
                                           .disabled = false,
                                           .sample_id_all = true,
                                           .edit = [](perf_event_attr& attr) { attr.comm = 1; }});
  Ring ring(names, 1);
  const Event clock = Open(Software(PERF_COUNT_SW_CPU_CLOCK));
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t counted = clock.Read().value;
    const std::uint64_t before_enable = Now(ring);
    clock.Enable();
    BusyWait(0.002);
    clock.Disable();
    const std::uint64_t after_disable = Now(ring);
    const Reading reading = clock.Read();
    EXPECT_LE(reading.value - counted, after_disable - before_enable);
    EXPECT_EQ(reading.time_running, reading.time_enabled);
  }
  // The clock of a task stops while its task waits. The clock of a CPU keeps running.
  const Event of_cpu = Open(Software(PERF_COUNT_SW_CPU_CLOCK), {.pid = -1, .cpu = CurrentCpu()});
  const std::uint64_t before_enable = Now(ring);
  of_cpu.Enable();
  const std::uint64_t begin = Now(ring);
  BusyWait(0.005);
  const std::uint64_t end = Now(ring);
  of_cpu.Disable();
  EXPECT_GE(of_cpu.Read().value, end - begin);
  EXPECT_LE(of_cpu.Read().value, Now(ring) - before_enable);
}

CONFORMANCE_CASE(Software, TaskClockStopsWhileTaskSleeps, .rules = {rule::CNT_011}) {
  const Rendezvous rendezvous;
  Child child([&rendezvous] {
    for (int i = 0; i < 2; ++i) {
      BusyWait(0.002);
      rendezvous.ReportAndWait();
    }
    return 0;
  });
  const Event clock =
      Open(Software(PERF_COUNT_SW_TASK_CLOCK), {.pid = child.pid(), .disabled = false});
  child.Go();
  for (int i = 0; i < 2; ++i) {
    rendezvous.WaitUntilReached();
    ASSERT_TRUE(AwaitState("/proc/" + std::to_string(child.pid()) + "/stat", 'S'));
    const std::uint64_t before = clock.Read().value;
    EXPECT_GT(before, 0u);
    BusyWait(0.003);
    EXPECT_EQ(clock.Read().value, before);
    rendezvous.Continue();
  }
  ASSERT_EQ(child.Wait(), 0);
}

}  // namespace
}  // namespace pmuconf
