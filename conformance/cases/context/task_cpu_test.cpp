// SPDX-License-Identifier: Apache-2.0
// The task and the CPU that an event counts.
#include <future>
#include <thread>

#include "harness/case.h"
#include "rules/CTX.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Context, OwnTaskIsCountedOnAnyCpu, .rules = {rule::CTX_001},
                 .needs = {Cap::kStimulus, Cap::kCpus2, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  event.Enable();
  std::uint64_t total = 0;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    PinTo(target().Cpu(i % 2));
    target().Stimulate(spec, i);
    total += i;
    EXPECT_THAT(event.Read(), Counted(spec, total));
  }
}

CONFORMANCE_CASE(Context, OtherTaskIsCountedAndTheOpenerIsNot,
                 .rules = {rule::CTX_002, rule::CTX_008},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  Child child([&spec] {
    target().Stimulate(spec, 1'234);
    return 0;
  });
  const Event event = Open(spec, {.pid = child.pid(), .disabled = false});
  target().Stimulate(spec, 50);
  ASSERT_EQ(child.Run(), 0);
  target().Stimulate(spec, 60);
  const Reading reading = event.Read();
  EXPECT_THAT(reading, Counted(spec, 1'234)) << rule::CTX_002;
  EXPECT_THAT(event.TryEnable(), Succeeds()) << rule::CTX_008;
  target().Stimulate(spec, 70);
  EXPECT_EQ(event.Read().value, reading.value) << rule::CTX_008;
  EXPECT_EQ(event.Read().time_enabled, reading.time_enabled) << rule::CTX_008;
}

CONFORMANCE_CASE(Context, CpuEventCountsEveryTaskOfItsCpu, .rules = {rule::CTX_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCpus2, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Event on_0 = Open(spec, {.pid = -1, .cpu = target().Cpu(0), .disabled = false});
  const Event on_1 = Open(spec, {.pid = -1, .cpu = target().Cpu(1), .disabled = false});
  target().Stimulate(spec, 10);
  Child child([&spec] {
    target().Stimulate(spec, 100);
    PinTo(target().Cpu(1));
    target().Stimulate(spec, 3'000);
    return 0;
  });
  ASSERT_EQ(child.Run(), 0);
  target().Stimulate(spec, 20'000, {.cpu = target().Cpu(1)});
  EXPECT_THAT(on_0.Read(), Counted(spec, 110));
  EXPECT_THAT(on_1.Read(), Counted(spec, 23'000));
}

CONFORMANCE_CASE(Context, TaskEventBoundToCpuCountsOnlyThere, .rules = {rule::CTX_004},
                 .needs = {Cap::kStimulus, Cap::kCpus2, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.cpu = target().Cpu(1)});
  event.Enable();
  target().Stimulate(spec, 100);
  const Reading elsewhere = event.Read();
  EXPECT_THAT(elsewhere, Counted(spec, 0));
  EXPECT_EQ(elsewhere.time_running, 0u);
  EXPECT_GT(elsewhere.time_enabled, 0u);
  PinTo(target().Cpu(1));
  target().Stimulate(spec, 7);
  PinTo(target().Cpu(0));
  const std::uint64_t running = event.Read().time_running;
  target().Stimulate(spec, 100);
  EXPECT_THAT(event.Read(), Counted(spec, 7));
  EXPECT_GT(running, 0u);
  EXPECT_EQ(event.Read().time_running, running);
}

CONFORMANCE_CASE(Context, ThreadEventCountsThatThreadOnly, .rules = {rule::CTX_005},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  std::promise<pid_t> tid;
  std::promise<void> go;
  std::thread thread([&] {
    tid.set_value(gettid());
    go.get_future().wait();
    target().Stimulate(spec, 300);
  });
  const Event of_thread = Open(spec, {.pid = tid.get_future().get(), .disabled = false});
  const Event of_main = Open(spec, {.disabled = false});
  target().Stimulate(spec, 20);
  go.set_value();
  thread.join();
  EXPECT_THAT(of_thread.Read(), Counted(spec, 300));
  EXPECT_THAT(of_main.Read(), Counted(spec, 20));
}

CONFORMANCE_CASE(Context, TasksKeepTheirCountsApart, .rules = {rule::CTX_002},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kTasks, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  std::vector<std::unique_ptr<Child>> children;
  std::vector<Event> events;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    children.push_back(std::make_unique<Child>([&spec, i] {
      for (std::uint64_t n = 0; n < 10; ++n) target().Stimulate(spec, i);
      return 0;
    }));
    events.push_back(Open(spec, {.pid = children.back()->pid(), .disabled = false}));
  }
  for (const auto& child : children) child->Go();
  for (const auto& child : children) ASSERT_EQ(child->Wait(), 0);
  for (std::uint64_t i = 1; i <= 6; ++i) {
    EXPECT_THAT(events[i - 1].Read(), Counted(spec, 10 * i));
  }
}

}  // namespace
}  // namespace pmuconf
