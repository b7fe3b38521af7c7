// SPDX-License-Identifier: Apache-2.0
// CPUs that leave and return: what was counted stays, and counting goes on.
#include "cases/common.h"

namespace pmuconf {
namespace {

constexpr int kCpu = 1;  // the CPU that Cap::kHotplug promises

// CPU 1 is offline while this lives.
class Offline {
 public:
  Offline() {
    if (!Write("0")) throw Broken("CPU 1 does not go offline");
  }
  Offline(const Offline&) = delete;
  ~Offline() {
    if (off_) Write("1");
  }
  // Online again, its clock manual as a case has it.
  void Return() {
    if (!Write("1")) throw Broken("CPU 1 does not come back online");
    off_ = false;
    port().SetManualClock(kCpu, true);
  }

 private:
  static bool Write(const char* state) {
    std::ofstream file("/sys/devices/system/cpu/cpu1/online");
    file << state << std::flush;
    return file.good();
  }
  bool off_ = true;
};

CONFORMANCE_CASE(Hotplug, OfflineProcessorCannotBeOpened, .rules = {rule::HOT_001},
                 .needs = {Cap::kStimulus, Cap::kHotplug, Cap::kCpuLocal}, .budget_s = 20) {
  const EventSpec spec = target().AnyEvent();
  Offline offline;
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = kCpu}), FailsWith(ENODEV)) << rule::HOT_001.text;
  offline.Return();
  EXPECT_THAT(TryOpen(spec, {.pid = -1, .cpu = kCpu}), Succeeds()) << rule::HOT_001.text;
}

CONFORMANCE_CASE(Hotplug, CountsSurviveTheirProcessor,
                 .rules = {rule::HOT_002, rule::HOT_003, rule::DRV_035},
                 .needs = {Cap::kStimulus, Cap::kHotplug, Cap::kCpuLocal}, .budget_s = 20) {
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> here = OpenEach(specs, {.pid = -1, .cpu = 0, .disabled = false});
  const std::vector<Event> there = OpenEach(specs, {.pid = -1, .cpu = kCpu, .disabled = false});
  for (const EventSpec& spec : specs) Pulse(spec, 500, {.cpu = kCpu});
  std::vector<std::uint64_t> last;
  for (const Event& event : there) last.push_back(event.Read().value);
  Offline offline;
  const std::vector<std::uint64_t> want = PulseEach(specs, 30);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_EQ(there[i].Read().value, last[i]) << rule::HOT_002.text;
    EXPECT_GT(last[i], 0u) << rule::HOT_002.text;
    EXPECT_THAT(here[i].Read(), Counted(specs[i], want[i])) << rule::DRV_035.text;
  }
  offline.Return();
  for (const EventSpec& spec : specs) {
    const Event fresh = Open(spec, {.pid = -1, .cpu = kCpu, .disabled = false});
    Pulse(spec, 41, {.cpu = kCpu});
    EXPECT_THAT(fresh.Read(), Counted(spec, 41)) << rule::HOT_003.text;
  }
}

CONFORMANCE_CASE(Hotplug, TaskEventsRideOverIt, .rules = {rule::HOT_006},
                 .needs = {Cap::kStimulus, Cap::kHotplug, Cap::kTasks}, .budget_s = 20, .cpu = -1) {
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  std::vector<std::uint64_t> want(specs.size());
  const auto count = [&](int cpu) {
    PinTo(cpu);
    const std::vector<std::uint64_t> more = PulseEach(specs, 25);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      want[i] += more[i];
      EXPECT_THAT(events[i].Read(), Counted(specs[i], want[i])) << rule::HOT_006.text;
    }
  };
  count(0);
  count(kCpu);
  Offline offline;
  count(0);
  offline.Return();
  count(kCpu);
  count(0);
}

}  // namespace
}  // namespace pmuconf
