// SPDX-License-Identifier: Apache-2.0
// The control page while the kernel permits user reads of counters. The cases read no counter,
// because an emulated processor may lack the instruction.
#include <optional>
#include <string>

#include "cases/common.h"
#include "cases/precise/precise.h"
#include "cases/subject.h"
#include "cases/write_file.h"
#include "perf/ring.h"
#include "rules/RDP.h"

namespace pmuconf {
namespace {

// Permits user reads to tasks that map an event, as long as the object lives. A PMU without the
// file may permit them anyway, or never.
class UserReadsPermitted {
 public:
  UserReadsPermitted() : path_(DeviceFile("rdpmc")), before_(ReadFile(path_)) {
    if (before_ && WriteError(path_, "1") != 0) throw Broken("cannot write " + path_);
  }
  UserReadsPermitted(const UserReadsPermitted&) = delete;
  ~UserReadsPermitted() {
    if (before_) WriteError(path_, *before_);
  }

 private:
  std::string path_;
  std::optional<std::string> before_;
};

void SkipWithoutUserReads() {
  const Event event = Open(target().AnyEvent());
  const Ring ring(event, 0);
  if (!ring.page().cap_user_rdpmc) SkipCase(Cap::kUserReads, "cap_user_rdpmc is not set");
}

CONFORMANCE_CASE(UserPage, IndexIsSetWhileTheEventCounts, .rules = {rule::RDP_018, rule::RDP_003},
                 .needs = {Cap::kStimulus, Cap::kCounters},
                 .over = {Over<dim::Scope>(), Over<dim::Member>()}) {
  const UserReadsPermitted permitted;
  SkipWithoutUserReads();
  const Subject subject(*this);
  const Ring ring(subject.event(), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ring.page().index, 0u) << rule::RDP_003;
    subject.event().Enable();
    EXPECT_NE(ring.page().index, 0u) << rule::RDP_018;
    Pulse(subject.spec(), 10);
    EXPECT_NE(ring.page().index, 0u) << rule::RDP_018;
    subject.event().Disable();
  }
  EXPECT_EQ(ring.page().index, 0u) << rule::RDP_003;
}

// When a task gets the right to read, the kernel may clear counters with values of earlier events.
// So each counter has such a value first.
CONFORMANCE_CASE(UserPage, MappingLeavesOtherCountsAlone, .rules = {rule::RDP_019},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kCpuScope, Cap::kTasks}) {
  const UserReadsPermitted permitted;
  const OpenOptions here = {.pid = -1, .cpu = EventCpu(), .disabled = false};
  const std::vector<EventSpec> specs = FullSet();
  {
    const std::vector<Event> earlier = OpenEach(specs, here);
    PulseEach(specs, 500);
  }
  const Event mapped = Open(target().AnyEvent());
  std::vector<Event> events = OpenEach(specs, here);
  const std::vector<std::uint64_t> before = PulseEach(specs, 1'000);
  events.front().Close();
  const Ring ring(mapped, 0);
  const std::vector<std::uint64_t> after = PulseEach(specs, 300);
  for (std::size_t i = 1; i < specs.size(); ++i) {
    EXPECT_THAT(events[i].Read(), Counted(specs[i], before[i] + after[i]));
  }
}

CONFORMANCE_CASE(UserPage, BufferedEventPermitsNoUserReads, .rules = {rule::RDP_020},
                 .needs = {Cap::kStimulus, Cap::kPrecise}) {
  const UserReadsPermitted permitted;
  SkipWithoutUserReads();
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Precise(100));
  const Ring ring(event, 1);
  EXPECT_EQ(std::uint64_t{ring.page().cap_user_rdpmc}, 0u);
  event.Enable();
  EXPECT_EQ(ring.page().index, 0u);
  Pulse(spec, 250);
  EXPECT_EQ(ring.page().index, 0u);
  EXPECT_EQ(std::uint64_t{ring.page().cap_user_rdpmc}, 0u);
}

}  // namespace
}  // namespace pmuconf
