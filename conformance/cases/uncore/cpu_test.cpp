// SPDX-License-Identifier: Apache-2.0
// The designated CPU, on which perf keeps the events of the machine: its choice, and its hotplug.
#include "cases/uncore/uncore.h"
#include "perf/ring.h"
#include "rules/DRC.h"
#include "rules/HOT.h"
#include "rules/INI.h"
#include "rules/SYS.h"
#include "rules/UNC.h"
#include "system/context.h"

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

// Checks that `event`, which was opened on `requested_cpu`, is on `designated` and on no other CPU.
// Only events of the same CPU may write into one ring buffer. So PERF_EVENT_IOC_SET_OUTPUT reveals
// the CPU of an event.
void ExpectOnlyOn(int designated, int requested_cpu, const Event& event, const Rule& rule) {
  for (const int cpu : OnlineCpus()) {
    const Event of_cpu = Open(Software(PERF_COUNT_SW_DUMMY), {.pid = -1, .cpu = cpu});
    const Ring ring(of_cpu, 1);
    const auto output = static_cast<unsigned long>(of_cpu.fd());
    EXPECT_THAT(event.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, output),
                FailsWith(cpu == designated ? 0 : EINVAL))
        << rule << " requested CPU " << requested_cpu << ", compared with CPU " << cpu;
    event.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(-1));
  }
}

CONFORMANCE_CASE(Uncore, CpumaskNamesOneOnlineCpuPerUnit, .rules = {rule::UNC_004, rule::SYS_007},
                 .needs = {Cap::kSystemWide}) {
  const auto text = ReadFile(DeviceFile("cpumask"));
  ASSERT_TRUE(text) << rule::UNC_004;
  const auto cpus = ParseCpuList(*text);
  ASSERT_TRUE(cpus) << rule::UNC_004 << *text;
  ASSERT_FALSE(cpus->empty()) << rule::UNC_004;
  EXPECT_TRUE(std::ranges::includes(OnlineCpus(), *cpus)) << rule::UNC_004 << *text;
  // Each of them is the CPU of another unit: the smallest is a core, and has its own events.
  std::set<std::string> cores;
  for (const int cpu : *cpus) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const auto siblings = ReadFile(folder + "thread_siblings_list");
    EXPECT_TRUE(cores.insert(siblings.value_or(std::to_string(cpu))).second)
        << rule::UNC_004 << *text;
    if (cpus->size() == 1) continue;
    const Event event = Open(target().AnyEvent(), {.pid = -1, .cpu = cpu});
    ExpectOnlyOn(cpu, cpu, event, rule::UNC_004);
  }
}

CONFORMANCE_CASE(Uncore, EventsAreOnCpumaskCpuOnly, .rules = {rule::INI_020},
                 .needs = {Cap::kCpus2}) {
  // If the kernel manages the cpumask, an event stays on the requested CPU.
  if (!HasCpuParameter()) SkipUnclaimed("needs a driver that chooses the CPU of its events");
  const int designated = target().DesignatedCpu();
  MoveEventsTo(designated);
  for (const int requested_cpu : OnlineCpus()) {
    const Event event = Open(target().AnyEvent(), {.pid = -1, .cpu = requested_cpu});
    ExpectOnlyOn(designated, requested_cpu, event, rule::INI_020);
  }
}

// Returns the online CPUs without those of other units, which the cpumask names, too.
std::vector<int> CpusOfUnit(int designated) {
  const auto mask = ParseCpuList(ReadFile(DeviceFile("cpumask")).value_or(""));
  std::vector<int> cpus = OnlineCpus();
  std::erase_if(cpus, [&](int cpu) {
    return cpu != designated && mask && std::ranges::find(*mask, cpu) != mask->end();
  });
  return cpus;
}

// perf accepts a sibling only if it is on the CPU of its leader after event_init. So a driver that
// moves leaders but not siblings refuses every group that was opened on another CPU.
CONFORMANCE_CASE(Uncore, MembersOpenedOnAnyCpuFormGroup, .rules = {rule::UNC_010, rule::INI_020},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kCpus2, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  for (const int designated : target().Cpus()) {
    StartEventsOn(designated);
    const std::vector<int> cpus = CpusOfUnit(designated);
    for (const int leader_cpu : cpus) {
      for (const int sibling_cpu : cpus) {
        const Event leader = Open(spec, {.pid = -1, .cpu = leader_cpu});
        const OpenResult opened = TryOpen(
            spec, {.pid = -1, .cpu = sibling_cpu, .group_fd = leader.fd(), .disabled = false});
        ASSERT_THAT(opened, Succeeds())
            << rule::UNC_010 << " designated CPU " << designated << ", leader on " << leader_cpu
            << ", sibling on " << sibling_cpu;
        const Event& sibling = opened.event;
        if (HasCpuParameter()) {
          ExpectOnlyOn(designated, leader_cpu, leader, rule::INI_020);
          ExpectOnlyOn(designated, sibling_cpu, sibling, rule::INI_020);
        }
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
  const int leaving = LeavingCpu();
  StartEventsOn(leaving);
  ASSERT_EQ(target().DesignatedCpu(), leaving) << rule::UNC_004;
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  Tally tally(specs, events);
  tally.Count(50, rule::UNC_007);
  Offline offline(leaving);
  ExpectMovedFrom(leaving, rule::UNC_007);
  const int moved_to = target().DesignatedCpu();
  tally.Count(60, rule::UNC_007);
  EXPECT_THAT(TryOpen(specs.front()), Succeeds()) << rule::UNC_007;
  offline.Return();
  EXPECT_EQ(target().DesignatedCpu(), moved_to) << rule::UNC_007;
  tally.Count(70, rule::UNC_007);
}

CONFORMANCE_CASE(Uncore, CountersArePolledAfterMove,
                 .rules = {rule::UNC_007, rule::UNC_008, rule::UNC_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPolled, Cap::kSystemWide,
                           Cap::kHotplug},
                 .budget_s = 20) {
  const int leaving = LeavingCpu();
  StartEventsOn(leaving);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  Pulse(spec, CounterRange() + 1);
  Offline offline(leaving);
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
  const int leaving = LeavingCpu();
  StartEventsOn(leaving);
  const std::vector<EventSpec> specs = FullSet();
  Group group(specs);
  group.Enable();
  const std::vector<std::uint64_t> before = PulseEach(specs, 30);
  Offline offline(leaving);
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
  const int leaving = LeavingCpu();
  StartEventsOn(leaving);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  Offline offline(leaving);
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
  const std::vector<int> cpus = {target().Cpu(0), target().Cpu(1)};
  for (std::size_t i = 0; i < 10; ++i) {
    MoveEventsTo(cpus[i % 2]);
    EXPECT_EQ(target().DesignatedCpu(), cpus[i % 2]);
    tally.Count(10, rule::UNC_007);
  }
}

CONFORMANCE_CASE(Uncore, OfflineOtherCpuChangesNothing, .rules = {rule::UNC_007},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  const int leaving = LeavingCpu();
  if (target().DesignatedCpu() == leaving) MoveEventsTo(target().Cpu(1));
  const int designated = target().DesignatedCpu();
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  Tally tally(specs, events);
  tally.Count(5, rule::UNC_007);
  Offline offline(leaving);
  EXPECT_EQ(target().DesignatedCpu(), designated);
  tally.Count(6, rule::UNC_007);
  offline.Return();
  EXPECT_EQ(target().DesignatedCpu(), designated);
  tally.Count(7, rule::UNC_007);
}

CONFORMANCE_CASE(Uncore, RequestedCpuCanGoOffline, .rules = {rule::UNC_007, rule::UNC_005},
                 .needs = {Cap::kStimulus, Cap::kSystemWide, Cap::kHotplug}, .budget_s = 20) {
  const int leaving = LeavingCpu();
  if (target().DesignatedCpu() == leaving) MoveEventsTo(target().Cpu(1));
  // A unit such as a core may have no other CPU, and then it is offline, too.
  const auto text = ReadFile(DeviceFile("cpumask"));
  const auto cpus = text ? ParseCpuList(*text) : std::nullopt;
  if (cpus && std::ranges::count(*cpus, leaving) != 0) {
    SkipCase(Cap::kHotplug, "CPU " + std::to_string(leaving) + " has a unit of its own");
  }
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.pid = -1, .cpu = leaving, .disabled = false});
  Tally tally(specs, events);
  tally.Count(5, rule::UNC_005);
  Offline offline(leaving);
  tally.Count(6, rule::UNC_007);
  offline.Return();
  tally.Count(7, rule::UNC_007);
}

CONFORMANCE_CASE(Uncore, UnitsComeWithScales, .rules = {rule::UNC_013},
                 .needs = {Cap::kSystemWide}) {
  for (const std::string& file : ListFolder(DeviceFile("events"))) {
    if (!file.ends_with(".unit") && !file.ends_with(".scale")) continue;
    const std::string event = file.substr(0, file.rfind('.'));
    const auto unit = ReadFile(DeviceFile("events/" + event + ".unit"));
    const auto scale = ReadFile(DeviceFile("events/" + event + ".scale"));
    ASSERT_TRUE(unit && scale) << file;
    EXPECT_FALSE(unit->empty()) << file;
    EXPECT_GT(std::strtod(scale->c_str(), nullptr), 0.0) << file;
  }
  const auto identifier = ReadFile(DeviceFile("identifier"));
  EXPECT_TRUE(identifier && !identifier->empty());
}

}  // namespace
}  // namespace pmuconf
