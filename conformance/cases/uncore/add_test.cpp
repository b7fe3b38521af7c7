// SPDX-License-Identifier: Apache-2.0
// Events that find no free counter: they wait, and change nothing for the others.
#include "cases/uncore/uncore.h"
#include "rules/DRC.h"
#include "rules/UNC.h"
#include "system/context.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Uncore, EventWithoutACounterChangesNothing,
                 .rules = {rule::DRC_046, rule::UNC_011},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kOwnCounters, Cap::kSystemWide},
                 .budget_s = 30, .over = {Over<dim::Cpu>()}) {
  std::set<std::uint64_t> tried;  // sets of counters
  for (const EventSpec& spec : target().Events()) {
    if (!tried.insert(spec.counters).second) continue;
    const std::vector full(CounterCount(spec), spec);
    std::vector<Event> events = OpenEach(full, {.disabled = false, .pinned = true});
    std::vector<std::byte> bytes;
    for (const Event& event : events) {
      ASSERT_THAT(event.TryRead(64, &bytes), Succeeds());
      if (bytes.empty()) SkipUnclaimed("needs events on all claimed counters at the same time");
    }
    std::uint64_t want = 0;
    const auto count = [&](std::uint64_t n) {
      Pulse(spec, n);
      want += n;
      for (const Event& event : events) EXPECT_THAT(event.Read(), Counted(spec, want));
    };
    count(5);
    for (int i = 0; i < 3; ++i) {
      // The kernel adds it at the open and at each rotation. Each add fails.
      const Event waiting = Open(spec, {.disabled = false});
      count(60);
      const Reading reading = waiting.Read();
      EXPECT_EQ(reading.value, 0u) << rule::DRC_046 << spec.name;
      EXPECT_EQ(reading.time_running, 0u) << rule::DRC_046 << spec.name;
    }
    count(700);
    events.pop_back();
    const Event next = Open(spec, {.disabled = false});
    count(8'000);
    EXPECT_THAT(next.Read(), Counted(spec, 8'000)) << rule::DRC_046;
  }
  const std::vector<EventSpec> specs = FullSet();
  const std::vector<Event> events = OpenEach(specs, {.disabled = false});
  const std::vector<std::uint64_t> want = PulseEach(specs, 90);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    EXPECT_THAT(events[i].Read(), Counted(specs[i], want[i])) << rule::DRC_046;
  }
}

}  // namespace
}  // namespace pmuconf
