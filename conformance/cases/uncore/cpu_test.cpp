// SPDX-License-Identifier: Apache-2.0
// The designated CPU, on which perf keeps the events of the machine: its choice, and its hotplug.
#include "cases/uncore/uncore.h"
#include "perf/ring.h"
#include "rules/DRC.h"
#include "rules/HOT.h"
#include "rules/INI.h"
#include "rules/SYS.h"
#include "rules/UNC.h"

namespace pmuconf {
namespace {

// Generates events of `specs`, and checks the count of each of `events` since the beginning.
class Tally {
 public:
  Tally(const std::vector<EventSpec>& specs, const std::vector<Event>& events)
      : specs_(specs), events_(events), want_(specs.size()) {}
  void Count(std::uint64_t n, const Rule& rule) {
    const std::vector<std::uint64_t> more = PulseEach(specs_, n);
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      EXPECT_THAT(events_[i].Read(), Counted(specs_[i], want_[i] += more[i])) << rule;
    }
  }

 private:
  const std::vector<EventSpec>& specs_;
  const std::vector<Event>& events_;
  std::vector<std::uint64_t> want_;
};

CONFORMANCE_CASE(Uncore, CpumaskNamesOneOnlineCpu, .rules = {rule::UNC_004, rule::SYS_007},
                 .needs = {Cap::kSystemWide}) {
  const auto text = ReadFile(DeviceFile("cpumask"));
  ASSERT_TRUE(text) << rule::UNC_004;
  const auto cpus = ParseCpuList(*text);
  ASSERT_TRUE(cpus) << rule::UNC_004 << *text;
  ASSERT_EQ(cpus->size(), 1u) << rule::UNC_004 << *text;
  const std::vector<int> online = OnlineCpus();
  EXPECT_TRUE(std::find(online.begin(), online.end(), cpus->front()) != online.end())
      << rule::UNC_004 << *text;
}

// Checks that `event`, which was opened on `requested_cpu`, is on `designated` and on no other CPU.
// Only events of the same CPU may write into one ring buffer. So PERF_EVENT_IOC_SET_OUTPUT reveals
// the CPU of an event.
void ExpectOnlyOn(int designated, int requested_cpu, const Event& event) {
  for (const int cpu : OnlineCpus()) {
    const Event of_cpu = Open(Software(PERF_COUNT_SW_DUMMY), {.pid = -1, .cpu = cpu});
    const Ring ring(of_cpu, 1);
    const auto output = static_cast<unsigned long>(of_cpu.fd());
    EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, output),
                FailsWith(cpu == designated ? 0 : EINVAL))
        << rule::INI_020 << " requested CPU " << requested_cpu << ", compared with CPU " << cpu;
    event.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(-1));
  }
}

CONFORMANCE_CASE(Uncore, EventsAreOnCpumaskCpuOnly, .rules = {rule::INI_020},
                 .needs = {Cap::kCpus2}) {
  const int designated = target().DesignatedCpu();
  // Skips if the kernel manages the cpumask: then an event stays on the requested CPU.
  MoveEventsTo(designated);
  for (const int requested_cpu : OnlineCpus()) {
    const Event event = Open(target().AnyEvent(), {.pid = -1, .cpu = requested_cpu});
    ExpectOnlyOn(designated, requested_cpu, event);
  }
}

// perf accepts a sibling only if it is on the CPU of its leader after event_init. So a driver that
// moves leaders but not siblings refuses every group that was opened on another CPU.
CONFORMANCE_CASE(Uncore, MembersOpenedOnAnyCpuFormGroup, .rules = {rule::UNC_010, rule::INI_020},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kCpus2, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  for (const int designated : OnlineCpus()) {
    MoveEventsTo(designated);
    for (const int leader_cpu : OnlineCpus()) {
      for (const int sibling_cpu : OnlineCpus()) {
        const Event leader = Open(spec, {.pid = -1, .cpu = leader_cpu});
        const OpenResult opened = TryOpen(
            spec, {.pid = -1, .cpu = sibling_cpu, .group_fd = leader.fd(), .disabled = false});
        ASSERT_THAT(opened, Succeeds())
            << rule::UNC_010 << " designated CPU " << designated << ", leader on " << leader_cpu
            << ", sibling on " << sibling_cpu;
        const Event& sibling = opened.event;
        ExpectOnlyOn(designated, leader_cpu, leader);
        ExpectOnlyOn(designated, sibling_cpu, sibling);
        Pulse(spec, 5);
        leader.EnableGroup();
        Pulse(spec, 60);
        leader.DisableGroup();
        Pulse(spec, 700);
        EXPECT_THAT(leader.Read(), Counted(spec, 60)) << rule::UNC_010;
        EXPECT_THAT(sibling.Read(), Counted(spec, 60)) << rule::UNC_010;
      }
    }
  }
}

CONFORMANCE_CASE(Uncore, EventsMoveWhenCpuGoesOffline,
                 .rules = {rule::UNC_007, rule::UNC_004, rule::HOT_004, rule::DRC_091},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  MoveEventsTo(1);
  ASSERT_EQ(target().DesignatedCpu(), 1) << rule::UNC_004;
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  Tally tally(specs, events);
  tally.Count(50, rule::UNC_007);
  Offline offline(1);
  EXPECT_EQ(target().DesignatedCpu(), 0) << rule::UNC_007;
  tally.Count(60, rule::UNC_007);
  EXPECT_THAT(TryOpen(specs.front()), Succeeds()) << rule::UNC_007;
  offline.Return();
  EXPECT_EQ(target().DesignatedCpu(), 0) << rule::UNC_007;
  tally.Count(70, rule::UNC_007);
}

CONFORMANCE_CASE(Uncore, CountersArePolledAfterMove,
                 .rules = {rule::UNC_007, rule::UNC_008, rule::UNC_009},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  MoveEventsTo(1);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  Pulse(spec, CounterRange() + 1);
  Offline offline(1);
  EXPECT_TRUE(PollsContinue()) << rule::UNC_009;
  Pulse(spec, 2 * CounterRange() + 2);
  EXPECT_THAT(event.Read(), Counted(spec, 3 * CounterRange() + 3)) << rule::UNC_008;
  offline.Return();
  event.Disable();
  const std::uint64_t idle = Polls();
  BusyWait(0.2);
  EXPECT_EQ(Polls(), idle) << rule::UNC_009;
}

CONFORMANCE_CASE(Uncore, GroupsMoveWhole, .rules = {rule::UNC_007, rule::HOT_004},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug, Cap::kGroups},
                 .budget_s = 20) {
  MoveEventsTo(1);
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  group.Enable();
  const std::vector<std::uint64_t> before = PulseEach(specs, 30);
  Offline offline(1);
  const std::vector<std::uint64_t> after = PulseEach(specs, 400);
  const GroupReading reading = group.Read();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(reading.entries[i], Counted(specs[i], before[i] + after[i])) << rule::UNC_007;
  }
}

// perf enables disabled events when it moves them. The driver cannot prevent that, so the case
// disables the event after the move.
CONFORMANCE_CASE(Uncore, MovedEventObeysEnableAndDisable, .rules = {rule::UNC_007},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  MoveEventsTo(1);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  Offline offline(1);
  event.Disable();
  const std::uint64_t before = event.Read().value;
  Pulse(spec, 100);
  EXPECT_EQ(event.Read().value, before);
  event.Enable();
  Pulse(spec, 23);
  EXPECT_THAT(event.Read(), Counted(spec, before + 23));
}

CONFORMANCE_CASE(Uncore, EventsSurviveManyMoves, .rules = {rule::UNC_007},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  Tally tally(specs, events);
  for (int i = 0; i < 10; ++i) {
    MoveEventsTo(i % 2);
    EXPECT_EQ(target().DesignatedCpu(), i % 2);
    tally.Count(10, rule::UNC_007);
  }
}

CONFORMANCE_CASE(Uncore, OfflineOtherCpuChangesNothing, .rules = {rule::UNC_007},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  if (target().DesignatedCpu() == 1) MoveEventsTo(0);
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  Tally tally(specs, events);
  tally.Count(5, rule::UNC_007);
  Offline offline(1);
  EXPECT_EQ(target().DesignatedCpu(), 0);
  tally.Count(6, rule::UNC_007);
  offline.Return();
  EXPECT_EQ(target().DesignatedCpu(), 0);
  tally.Count(7, rule::UNC_007);
}

CONFORMANCE_CASE(Uncore, RequestedCpuCanGoOffline, .rules = {rule::UNC_007, rule::UNC_005},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  MoveEventsTo(0);
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.pid = -1, .cpu = 1, .disabled = false});
  Tally tally(specs, events);
  tally.Count(5, rule::UNC_005);
  Offline offline(1);
  tally.Count(6, rule::UNC_007);
  offline.Return();
  tally.Count(7, rule::UNC_007);
}

CONFORMANCE_CASE(Uncore, UnitsComeWithScales, .rules = {rule::UNC_013},
                 .needs = {Cap::kStimulus, Cap::kSystemWide}) {
  std::size_t units = 0;
  for (const std::string& file : ListFolder(DeviceFile("events"))) {
    if (!file.ends_with(".unit") && !file.ends_with(".scale")) continue;
    const std::string event = file.substr(0, file.rfind('.'));
    const auto unit = ReadFile(DeviceFile("events/" + event + ".unit"));
    const auto scale = ReadFile(DeviceFile("events/" + event + ".scale"));
    ASSERT_TRUE(unit && scale) << file;
    EXPECT_FALSE(unit->empty()) << file;
    EXPECT_GT(std::strtod(scale->c_str(), nullptr), 0.0) << file;
    ++units;
  }
  EXPECT_GT(units, 0u);
  const auto identifier = ReadFile(DeviceFile("identifier"));
  EXPECT_TRUE(identifier && !identifier->empty());
}

}  // namespace
}  // namespace pmuconf
