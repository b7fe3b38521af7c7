// SPDX-License-Identifier: Apache-2.0
// Counts of each task: tasks that alternate, times, readings in samples, periods, and BPF programs.
#include <unistd.h>

#include "cases/common.h"
#include "cases/rendezvous.h"
#include "count_overflows.skel.h"
#include "harness/behaviour.h"
#include "perf/bpf.h"
#include "perf/kernel_behaviour.h"
#include "perf/ring.h"
#include "rules/INH.h"

namespace pmuconf {
namespace {

// Rounds of two tasks on one CPU, each of which wakes the other and sleeps. No other task runs in
// between, so the kernel may swap their contexts.
constexpr std::uint64_t kRounds = 20;

void StimulateFirst(const Rendezvous& rendezvous, const EventSpec& spec, std::uint64_t n) {
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    rendezvous.WaitUntilReached();
    target().Stimulate(spec, n);
    rendezvous.Continue();
  }
}

void StimulateSecond(const Rendezvous& rendezvous, const EventSpec& spec, std::uint64_t n) {
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    rendezvous.ReportAndWait();
    target().Stimulate(spec, n);
  }
}

int ExecNothing() {
  execl("/bin/sh", "sh", "-c", ":", nullptr);
  return 125;
}

std::optional<std::uint64_t> CountOf(const RingContents& contents, pid_t pid) {
  for (const ReadRecord& record : contents.reads) {
    if (record.pid == static_cast<std::uint32_t>(pid)) return record.read->value;
  }
  return std::nullopt;
}

// An event of the task and its children on this CPU, with a PERF_RECORD_READ of each child's count.
OpenOptions WithRecords() {
  return {.cpu = target().Cpu(0), .disabled = false, .inherit = true, .edit = [](auto& attr) {
            attr.inherit_stat = 1;
            attr.remove_on_exec = 1;
          }};
}

CONFORMANCE_CASE(Inherit, ReadRecordHoldsOwnTaskCount, .rules = {rule::INH_006},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, WithRecords());
  Ring ring(event, 1);
  const Rendezvous rendezvous;
  // Prevents a swap of contexts between this task and a child: no child runs before `apart` makes
  // the context of this task differ from its clones.
  const NoPreemption no_preemption;
  Child first_child([&] {
    StimulateFirst(rendezvous, spec, 1'000);
    return ExecNothing();
  });
  Child second_child([&] {
    StimulateSecond(rendezvous, spec, 7);
    return ExecNothing();
  });
  const pid_t first_pid = first_child.pid(), second_pid = second_child.pid();
  const Event own_event = Open(spec);
  first_child.Go();
  second_child.Go();
  ASSERT_EQ(first_child.Wait(), 0);
  ASSERT_EQ(second_child.Wait(), 0);
  target().Stimulate(spec, 3);
  const RingContents contents = ring.Drain();
  EXPECT_EQ(contents.reads.size(), 2u);
  EXPECT_EQ(CountOf(contents, first_pid), kRounds * 1'000);
  EXPECT_EQ(CountOf(contents, second_pid), kRounds * 7);
  EXPECT_THAT(event.Read(), Counted(spec, kRounds * 1'007 + 3));
}

CONFORMANCE_CASE(Inherit, ReadRecordAtExitDependsOnKernel, .rules = {rule::INH_006},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, WithRecords());
  Ring ring(event, 1);
  // As above: the kernel writes no record for a child that has swapped contexts with its parent.
  const NoPreemption no_preemption;
  Child child([&spec] {
    target().Stimulate(spec, 55);
    return 0;
  });
  const Event own_event = Open(spec);
  ASSERT_EQ(child.Run(), 0);
  const std::size_t records = ring.Drain().reads.size();
  EXPECT_EQ(records, WritesReadAtExit() ? 1u : 0u);
  EXPECT_TRUE(IsBehaviour(rule::INH_006, "records_at_exit", static_cast<std::int64_t>(records)));
  EXPECT_THAT(event.Read(), Counted(spec, 55));
}

CONFORMANCE_CASE(Inherit, TasksWithEqualEventsKeepTheirCounts, .rules = {rule::INH_021},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kGroups, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  const Event all = Open(spec, {.disabled = false, .inherit = true});
  for (const bool one_has_its_own : {false, true}) {
    const std::uint64_t before = all.Read().value;
    const Rendezvous rendezvous;
    Child first([&] { return StimulateFirst(rendezvous, spec, 1'000), 0; });
    Child second([&] { return StimulateSecond(rendezvous, spec, 7), 0; });
    Event own;
    if (one_has_its_own) own = Open(spec, {.pid = first.pid(), .disabled = false});
    first.Go();
    second.Go();
    ASSERT_EQ(first.Wait(), 0);
    ASSERT_EQ(second.Wait(), 0);
    EXPECT_THAT(all.Read(), Counted(spec, before + kRounds * 1'007));
    if (one_has_its_own) {
      EXPECT_THAT(own.Read(), Counted(spec, kRounds * 1'000));
    }
  }
}

CONFORMANCE_CASE(
    Inherit, TimesOfChildrenAreAddedOnce, .rules = {rule::INH_025, rule::INH_004},
    .needs = {Cap::kStimulus, Cap::kMultiplexing, Cap::kTasks, Cap::kAnyTask},
    .timing =
        "waits until each event had a turn in the child, at most 5 s; the last of k + 2 events "
        "gets it after 2 rotations, each after 1 ms of the child's run time") {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> events =
      OpenEach(std::vector(CounterCount(spec) + 2, spec), {.inherit = true});
  EnableEach(events);
  const Rendezvous rendezvous;
  Child child([&] {
    const bool all =
        RepeatUntil([&spec] { Pulse(spec, 1); },
                    [&events] {
                      return std::all_of(events.begin(), events.end(),
                                         [](const Event& event) { return event.Read().value > 0; });
                    });
    rendezvous.ReportAndWait();
    return all ? 0 : 1;
  });
  child.Go();
  rendezvous.WaitUntilReached();
  DisableEach(events);
  std::vector<Reading> alive;
  for (const Event& event : events) alive.push_back(event.Read());
  rendezvous.Continue();
  ASSERT_EQ(child.Wait(), 0);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Reading ended = events[i].Read();
    EXPECT_EQ(ended.value, alive[i].value) << rule::INH_025;
    EXPECT_EQ(ended.time_enabled, alive[i].time_enabled) << rule::INH_025;
    EXPECT_EQ(ended.time_running, alive[i].time_running) << rule::INH_025;
    EXPECT_LE(ended.time_running, ended.time_enabled) << rule::INH_025;
  }
}

CONFORMANCE_CASE(Inherit, SampleReadHoldsThreadCount, .rules = {rule::INH_009},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kTasks,
                           Cap::kAnyTask}) {
  if (InheritedSampleReadErrno() == EINVAL) {
    SkipWithout("inherited events with PERF_SAMPLE_READ");
  }
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.cpu = target().Cpu(0),
                                  .sample_period = 10,
                                  .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID,
                                  .disabled = false,
                                  .inherit = true});
  Ring ring(event, 1);
  target().Stimulate(spec, 20);
  Child child([&spec] {
    target().Stimulate(spec, 35);
    return 0;
  });
  const pid_t child_pid = child.pid();
  ASSERT_EQ(child.Run(), 0);
  target().Stimulate(spec, 10);
  std::vector<std::uint64_t> own, childs;
  for (const Sample& sample : ring.Drain().samples) {
    (sample.tid == static_cast<std::uint32_t>(child_pid) ? childs : own)
        .push_back(sample.read->value);
  }
  EXPECT_THAT(own, testing::ElementsAre(10, 20, 30));
  EXPECT_THAT(childs, testing::ElementsAre(10, 20, 30));
  EXPECT_THAT(event.Read(), Counted(spec, 65));
}

CONFORMANCE_CASE(Inherit, ChildContinuesPeriodOfParent, .rules = {rule::INH_019},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kFrequency,
                           Cap::kTasks, Cap::kAnyTask},
                 .timing =
                     "waits until the period is 16, at most 5 s; this needs more than 1600 pulses "
                     "a second, and there are at most 20 000; so the period stays far below the "
                     "number of the child's pulses, even if each correction overshoots") {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.cpu = target().Cpu(0),
                                  .sample_freq = 100,
                                  .sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_TID,
                                  .disabled = false,
                                  .inherit = true});
  Ring ring(event, 16);
  std::uint64_t period = 0;
  EXPECT_TRUE(RepeatUntil(
      [&] {
        target().Stimulate(spec, 1);
        BusyWait(50e-6);
        for (const Sample& sample : ring.Drain().samples) period = *sample.period;
      },
      [&] { return period >= 16; }));
  // Prevents a swap of contexts between this task and its child: the child does not run before
  // `apart` makes the two contexts differ.
  const NoPreemption no_preemption;
  Child child([&spec] {
    target().Stimulate(spec, 100'000);
    return 0;
  });
  const Event own_event = Open(spec);
  const auto child_pid = static_cast<std::uint32_t>(child.pid());
  ASSERT_EQ(child.Run(), 0);
  const RingContents contents = ring.Drain();
  const auto first =
      std::find_if(contents.samples.begin(), contents.samples.end(),
                   [child_pid](const Sample& sample) { return sample.tid == child_pid; });
  ASSERT_NE(first, contents.samples.end());
  EXPECT_GT(first->period, 4u);
}

CONFORMANCE_CASE(Inherit, ProgramRunsForChildren, .rules = {rule::INH_020},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kBpf, Cap::kTasks,
                           Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  // A longer period could be incomplete at a context switch. The switch then hands its remainder to
  // the other task.
  const Event event = Open(spec, {.sample_period = 1, .inherit = true});
  Skeleton<count_overflows_bpf> bpf;
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  event.Enable();
  target().Stimulate(spec, 50);
  Child child([&spec] {
    target().Stimulate(spec, 109);
    return 0;
  });
  ASSERT_EQ(child.Run(), 0);
  EXPECT_EQ(bpf->bss->overflows, 159u);
}

}  // namespace
}  // namespace pmuconf
