// SPDX-License-Identifier: Apache-2.0
// Stress: random calls, many threads, all contexts at the same time, and exhausted resources.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <random>
#include <thread>

#include "cases/common.h"
#include "cases/unprivileged.h"
#include "perf/ring.h"
#include "rules/STR.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

// Each step makes a random call with random arguments. The result of the call does not matter.
class RandomOperations {
 public:
  explicit RandomOperations(const EventSpec& spec) : spec_(spec) {}

  void Step() {
    const Event* event = events_.empty() ? nullptr : &events_[RandomBelow(events_.size())];
    switch (RandomBelow(10)) {
      case 0:
      case 1:
        return Add();
      case 2:
        return Drop();
      case 3:
        return EnableDisableOrReset(event);
      case 4:
        return RandomIoctl(event);
      case 5:
        return Redirect(event);
      case 6:
        return Map(event);
      case 7:
        return Read(event);
      default:
        return target().Stimulate(spec_, RandomBelow(200));
    }
  }
  void End() {
    rings_.clear();
    events_.clear();
  }

 private:
  std::size_t RandomBelow(std::size_t below) { return random_() % below; }

  void Add() {
    if (events_.size() > 24) return;
    OpenOptions options;
    const std::array<pid_t, 2> pids = {0, -1};
    options.pid = pids[RandomBelow(2)];
    options.cpu = options.pid == 0 && RandomBelow(2) == 0 ? -1 : CurrentCpu();
    if (!events_.empty() && RandomBelow(3) == 0)
      options.group_fd = events_[RandomBelow(events_.size())].fd();
    options.sample_period = RandomBelow(2) * RandomBelow(5'000);
    options.sample_type = random_() & (PERF_SAMPLE_MAX - 1) & ~PERF_SAMPLE_BRANCH_STACK;
    options.read_format = RandomBelow(PERF_FORMAT_MAX);
    options.disabled = RandomBelow(2) != 0;
    options.inherit = RandomBelow(4) == 0;
    options.pinned = RandomBelow(6) == 0;
    options.exclusive = RandomBelow(6) == 0;
    OpenResult result =
        TryOpen(RandomBelow(5) == 0 ? Software(PERF_COUNT_SW_PAGE_FAULTS) : spec_, options);
    if (result.ok()) events_.push_back(std::move(result.event));
  }
  void Drop() {
    if (RandomBelow(2) == 0 && !rings_.empty()) rings_.pop_back();
    if (!events_.empty())
      events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(RandomBelow(events_.size())));
  }
  void EnableDisableOrReset(const Event* event) {
    const std::array<unsigned long, 3> requests = {PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
                                                   PERF_EVENT_IOC_RESET};
    if (event != nullptr) event->TryIoctl(requests[RandomBelow(3)], RandomBelow(2));
  }
  void RandomIoctl(const Event* event) {
    if (event == nullptr) return;
    if (RandomBelow(2) == 0) {
      event->TryRefresh(static_cast<int>(RandomBelow(4)));
    } else {
      event->TryPeriod(RandomBelow(3) * 1'000);
    }
    event->TryIoctl(_IO('$', RandomBelow(256)), 0);
  }
  void Redirect(const Event* event) {
    if (event == nullptr) return;
    const int other = RandomBelow(3) == 0 ? -1 : events_[RandomBelow(events_.size())].fd();
    event->TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(other));
    event->TryIoctl(PERF_EVENT_IOC_PAUSE_OUTPUT, RandomBelow(2));
  }
  void Map(const Event* event) {
    if (event == nullptr) return;
    const std::size_t pages = RandomBelow(5);
    if (rings_.size() < 8 && Ring::TryMap(*event, pages).ok()) rings_.emplace_back(*event, pages);
    if (!rings_.empty()) static_cast<void>(rings_[RandomBelow(rings_.size())].head());
  }
  void Read(const Event* event) {
    if (event != nullptr) event->TryRead(RandomBelow(300));
  }

  EventSpec spec_;
  std::mt19937 random_{4711};
  std::vector<Event> events_;
  std::deque<Ring> rings_;
};

void ExpectAllCountersWork(const EventSpec& spec, const Rule& rule) {
  const std::vector<Event> events =
      OpenEach(std::vector(CounterCount(spec), spec), {.disabled = false});
  target().Stimulate(spec, 1'234);
  for (const Event& event : events) EXPECT_THAT(event.Read(), Counted(spec, 1'234)) << rule;
}

CONFORMANCE_CASE(Stress, RandomCallsLeaveWorkingPmu, .rules = {rule::STR_001},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kTasks}, .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t live = port().Stats().live_events;
  RandomOperations storm(spec);
  for (int step = 0; step < 2'000; ++step) storm.Step();
  storm.End();
  EXPECT_EQ(port().Stats().live_events, live);
  EXPECT_EQ(port().Stats().used, 0u);
  ExpectAllCountersWork(spec, rule::STR_001);
}

CONFORMANCE_CASE(Stress, OpensAndClosesFromManyThreadsDisturbNobody, .rules = {rule::STR_002},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kCpus2, Cap::kGroups, Cap::kTasks},
                 .budget_s = 30) {
  const EventSpec spec = target().AnyEvent();
  Event witness = Open(spec, {.disabled = false, .pinned = true});
  const perf_event_attr attr = MakeAttr(spec, {.disabled = false});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&spec, &attr, &wrong, i] {
      PinTo(target().Cpu(i % 2));
      for (std::uint64_t n = 1; n <= 40; ++n) {
        const SysResult opened = TryOpenRaw(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        const Event own(Fd(static_cast<int>(opened.value)), attr);
        target().Stimulate(spec, n);
        const Reading reading = own.Read();
        const bool whole = reading.time_running == reading.time_enabled;
        wrong += whole && reading.value != n ? 1 : 0;
      }
    });
  }
  for (int i = 0; i < 50; ++i) target().Stimulate(spec, 3);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(witness.Read(), Counted(spec, 150));
  EXPECT_EQ(std::popcount(port().Stats().used), 1);
  witness.Close();
  ExpectAllCountersWork(spec, rule::STR_002);
}

// Interrupts of the PMU, interrupts of a timer and page faults of the task write into one buffer.
CONFORMANCE_CASE(Stress, AllContextsWriteWholeRecords, .rules = {rule::STR_003},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  OpenOptions options = {.sample_period = 5,
                         .sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD,
                         .read_format = PERF_FORMAT_LOST | PERF_FORMAT_ID};
  const Event counter = Open(spec, options);
  // A shorter period would leave a slow machine no time for anything else.
  options.sample_period = 1'000'000;
  const Event timer = Open(Software(PERF_COUNT_SW_CPU_CLOCK), options);
  options.sample_period = 1;
  const Event faults = Open(Software(PERF_COUNT_SW_PAGE_FAULTS), options);
  Ring ring(counter, 8);
  timer.SetOutput(counter);
  faults.SetOutput(counter);
  counter.Enable();
  faults.Enable();
  // The first samples are those that are counted below. Nobody knows the number of the timer's.
  target().Stimulate(spec, 23);
  timer.Enable();
  std::map<std::uint64_t, std::uint64_t> samples;
  for (int round = 0; round < 30; ++round) {
    void* pages =
        mmap(nullptr, 20 * PageSize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int page = 0; page < 20; ++page) {
      static_cast<volatile char*>(pages)[static_cast<std::size_t>(page) * PageSize()] = 1;
      target().Stimulate(spec, 23);
    }
    munmap(pages, 20 * PageSize());
    if (round % 2 == 1) continue;  // each second round, the buffer gets more than it can hold
    for (const Sample& sample : ring.Drain().samples) ++samples[*sample.id];
  }
  for (const Event* event : {&counter, &timer, &faults}) event->Disable();
  for (const Sample& sample : ring.Drain().samples) ++samples[*sample.id];
  EXPECT_THAT(counter.Read(), Counted(spec, (30 * 20 + 1) * 23));
  EXPECT_EQ(samples[counter.Id()] + counter.Read().lost, (30 * 20 + 1) * 23 / 5);
  EXPECT_EQ(samples[faults.Id()] + faults.Read().lost, faults.Read().value);
  EXPECT_GE(faults.Read().value, 30u * 20);
}

CONFORMANCE_CASE(Stress, ExhaustionReturnsErrorAndRecovers, .rules = {rule::STR_004},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t live = port().Stats().live_events;
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  std::vector<Event> events;
  events.push_back(Open(spec, {.sample_period = 10, .disabled = false}));
  const rlimit few = {static_cast<rlim_t>(events[0].fd() + 11), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  int error = 0;
  while (error == 0) {
    OpenResult result = TryOpen(spec);
    error = result.error;
    events.push_back(std::move(result.event));
  }
  for (int i = 0; i < 50; ++i) error = TryOpen(spec).error;
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(error, EMFILE);
  EXPECT_EQ(port().Stats().live_events, live + events.size() - 1);
  EXPECT_THAT(TryOpen(spec), Succeeds());
  // More pages than one allocation can list.
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Ring::TryMap(events[0], std::size_t{1} << 26), FailsWith(ENOMEM));
  }
  Ring ring(events[0], 1);
  target().Stimulate(spec, 30);
  EXPECT_EQ(ring.Drain().samples.size(), 3u);
}

CONFORMANCE_CASE(Stress, LockedMemoryLimitReturnsEperm, .rules = {rule::STR_004},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kTasks}) {
  const Sysctl paranoid(kParanoid, "1");
  const int error = RunUnprivileged([] {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_MEMLOCK, &none);
    const Event event = Open(target().AnyEvent(), {.sample_period = 10});
    if (!Ring::TryMap(event, 1).ok()) return 1;
    const int refused = Ring::TryMap(event, 4'096).error;
    return Ring::TryMap(event, 1).ok() ? refused : 2;
  });
  EXPECT_EQ(error, EPERM);
}

thread_local volatile int thread_traps = 0;
void CountTrap(int) { thread_traps = thread_traps + 1; }

// The period is 1. The kernel may swap the events of two related threads at a context switch. The
// remainder of a longer period would stay with the event, not with the thread.
CONFORMANCE_CASE(Stress, EachThreadGetsItsOwnSignals, .rules = {rule::STR_009},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kSampling, Cap::kCpus2,
                           Cap::kTasks, Cap::kAnyTask}) {
  signal(SIGTRAP, CountTrap);
  const EventSpec spec = target().AnyEvent();
  const Event event =
      Open(spec, {.sample_period = 1, .disabled = false, .inherit = true, .sigtrap = true});
  std::vector<std::thread> threads;
  std::array<int, 6> got = {};
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&spec, &got, i] {
      PinTo(target().Cpu(i % 2));
      for (std::size_t n = 0; n < 10 * (i + 1); ++n) {
        target().Stimulate(spec, 1);
        sched_yield();
      }
      got[i] = thread_traps;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], 10 * (static_cast<int>(i) + 1));
  }
  EXPECT_THAT(event.Read(), Counted(spec, 210));
  EXPECT_EQ(thread_traps, 0);
}

}  // namespace
}  // namespace pmuconf
