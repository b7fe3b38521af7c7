// SPDX-License-Identifier: Apache-2.0
// CPUs that go offline under load: sampling, rotation, opening of events, reads of the control
// page.
#include <atomic>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>

#include "cases/common.h"
#include "cases/write_file.h"
#include "count_overflows.skel.h"
#include "harness/offline.h"
#include "perf/bpf.h"
#include "perf/ring.h"
#include "rules/HOT.h"
#include "system/context.h"

namespace pmuconf {
namespace {

// Repeats `step` in a separate thread on this CPU while the object lives.
class BackgroundLoop {
 public:
  explicit BackgroundLoop(const std::function<void()>& step)
      : thread_([this, step] {
          while (!over_) step();
        }) {}
  BackgroundLoop(const BackgroundLoop&) = delete;
  ~BackgroundLoop() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

CONFORMANCE_CASE(Hotplug, LastCpuOfPmuCanGoOffline, .rules = {rule::HOT_005},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kSomeCpus},
                 .budget_s = 20) {
  const std::vector<int> cpus = target().Cpus();
  if (std::count(cpus.begin(), cpus.end(), 0) != 0) SkipCase(Cap::kHotplug, "CPU 0 cannot leave");
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.pid = -1, .cpu = cpus.back(), .disabled = false});
  Pulse(spec, 12, {.cpu = cpus.back()});
  PinTo(0);
  {
    std::vector<std::unique_ptr<Offline>> offline_cpus;
    for (const int cpu : cpus) offline_cpus.push_back(std::make_unique<Offline>(cpu));
    for (const int cpu : cpus) {
      EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = cpu}), FailsWith(ENODEV));
    }
    EXPECT_THAT(event.Read(), Counted(spec, 12));
    for (const auto& cpu : offline_cpus) cpu->Return();
  }
  for (const int cpu : cpus) {
    const Event fresh = Open(spec, {.pid = -1, .cpu = cpu, .disabled = false});
    Pulse(spec, 31, {.cpu = cpu});
    EXPECT_THAT(fresh.Read(), Counted(spec, 31));
  }
}

// The numbers of the hotplug states of the target's driver, from lines such as "46:
// perf/refpmu:prepare".
std::vector<std::string> HotplugStates() {
  std::vector<std::string> states;
  std::istringstream lines(ReadFile("/sys/devices/system/cpu/hotplug/states").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("perf/" + target().module() + ":") != std::string::npos) {
      states.push_back(std::to_string(std::stoi(line)));
    }
  }
  return states;
}

// A write to the CPU's file hotplug/fail makes the next callback of that state fail.
CONFORMANCE_CASE(Hotplug, FailedCallbackKeepsCpuOffline, .rules = {rule::HOT_008},
                 .needs = {Cap::kStimulus, Cap::kRegisters, Cap::kHotplug, Cap::kTasks},
                 .budget_s = 20) {
  if (target().module().empty()) SkipUnclaimed("needs a module that has the PMU");
  const int there = target().Cpu(1);
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(there);
  const EventSpec spec = target().AnyEvent();
  const std::vector<std::string> states = HotplugStates();
  EXPECT_FALSE(states.empty());
  for (const std::string& state : states) {
    Offline offline(there);
    ASSERT_EQ(WriteError(folder + "/hotplug/fail", state), 0) << state;
    EXPECT_EQ(WriteError(folder + "/online", "1"), EAGAIN);
    EXPECT_EQ(ReadFile(folder + "/online"), "0");
    EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = there}), FailsWith(ENODEV));
    offline.Return();
    const Event event = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
    Pulse(spec, 27, {.cpu = there});
    EXPECT_THAT(event.Read(), Counted(spec, 27));
  }
}

CONFORMANCE_CASE(Hotplug, CpuGoesOfflineUnderBpfPrograms, .rules = {rule::HOT_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kTasks, Cap::kSampling,
                           Cap::kBpf},
                 .budget_s = 20) {
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  Skeleton<count_overflows_bpf> bpf;
  const Event event = Open(spec, {.pid = -1, .cpu = there, .sample_period = 2, .disabled = false});
  event.SetBpf(ProgramFd(bpf->progs.on_overflow));
  {
    const BackgroundLoop pulses([&] {
      refpmu_pulse pulse = {};
      pulse.cpu = there;
      pulse.event = spec.code;
      pulse.n = 4;
      port().TryPulse(pulse);
    });
    ASSERT_TRUE(RepeatUntil([] { sched_yield(); }, [&] { return bpf->bss->overflows > 100; }));
    Offline offline(there);
    EXPECT_EQ(bpf->bss->overflows, event.Read().value / 2);
    offline.Return();
  }
  EXPECT_EQ(bpf->bss->overflows, event.Read().value / 2);
}

CONFORMANCE_CASE(Hotplug, CpuGoesOfflineUnderRotatingSamplers, .rules = {rule::HOT_007},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kTasks, Cap::kSampling,
                           Cap::kMultiplexing, Cap::kSingleEvents},
                 .budget_s = 30) {
  const MuxInterval interval(1);
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  for (int round = 0; round < 3; ++round) {
    const std::vector<Event> events =
        OpenEach(std::vector(CounterCount(spec) + 2, spec),
                 {.pid = -1, .cpu = there, .sample_period = 3, .disabled = false});
    std::vector<Ring> rings;
    for (const Event& event : events) rings.emplace_back(event, 64);
    std::atomic<std::uint64_t> pages = 0;
    // The port rejects a pulse on an offline CPU. TryPulse() allows that, because the CPU goes
    // offline while this thread runs.
    const BackgroundLoop pulses([&] {
      refpmu_pulse pulse = {};
      pulse.cpu = there;
      pulse.event = spec.code;
      pulse.n = 5;
      port().TryPulse(pulse);
    });
    const BackgroundLoop reader([&] {
      for (const Ring& ring : rings) pages += ring.page().index;
      for (const Event& event : events) event.Read();
    });
    ASSERT_TRUE(RepeatUntil([] { sched_yield(); }, [&] { return events.back().Read().value > 0; }));
    Offline offline(there);
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(rings[i].Drain().samples.size(), events[i].Read().value / 3) << "event " << i;
    }
    offline.Return();
  }
}

CONFORMANCE_CASE(Hotplug, ConcurrentOpenSucceedsOrReturnsEnodev, .rules = {rule::HOT_011},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kHotplug, Cap::kTasks},
                 .budget_s = 30) {
  const int there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  std::atomic<std::uint64_t> opened = 0, refused = 0, wrong = 0;
  {
    const BackgroundLoop opener([&] {
      const int error = TryOpen(spec, {.pid = -1, .cpu = there, .disabled = false}).error;
      if (error == 0) ++opened;
      if (error == ENODEV) ++refused;
      if (error != 0 && error != ENODEV) ++wrong;
    });
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t before = refused, before_opened = opened;
      Offline offline(there);
      EXPECT_TRUE(RepeatUntil([] { sched_yield(); }, [&] { return refused > before; }));
      offline.Return();
      EXPECT_TRUE(RepeatUntil([] { sched_yield(); }, [&] { return opened > before_opened; }));
    }
  }
  EXPECT_EQ(wrong, 0u);
  const Event event = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
  Pulse(spec, 61, {.cpu = there});
  EXPECT_THAT(event.Read(), Counted(spec, 61));
}

CONFORMANCE_CASE(Hotplug, RotationContinuesOnOtherCpu, .rules = {rule::HOT_012},
                 .needs = {Cap::kStimulus, Cap::kHotplug}, .budget_s = 20, .cpu = -1,
                 .timing =
                     "waits until each event had its turns, at most 5 s; a turn takes a rotation "
                     "interval of 1 ms") {
  const MuxInterval interval(1);
  const EventSpec spec = target().AnyEvent();
  const std::vector<Event> events = OpenEach(std::vector(CounterCount(spec) + 2, spec));
  const int first = target().Cpu(0), second = target().Cpu(1);
  const int stays = std::min(first, second), leaves = std::max(first, second);
  PinTo(leaves);
  EnableEach(events);
  const auto all_get_a_turn = [&] {
    std::vector<std::uint64_t> before;
    for (const Event& event : events) before.push_back(event.Read().value);
    return RepeatUntil([&] { Pulse(spec, 1); },
                       [&] {
                         for (std::size_t i = 0; i < events.size(); ++i) {
                           if (events[i].Read().value < before[i] + 3) return false;
                         }
                         return true;
                       });
  };
  EXPECT_TRUE(all_get_a_turn());
  // The kernel moves the task to an online CPU that the PMU may not have. So PinTo() moves it to
  // one of the PMU.
  Offline offline(leaves);
  PinTo(stays);
  EXPECT_TRUE(all_get_a_turn());
  offline.Return();
  PinTo(leaves);
  EXPECT_TRUE(all_get_a_turn());
}

}  // namespace
}  // namespace pmuconf
