// SPDX-License-Identifier: Apache-2.0
// Events that a PMU of the whole machine must reject, without leaving anything behind.
#include <array>

#include "cases/refusal.h"
#include "cases/uncore/uncore.h"
#include "rules/DRC.h"
#include "rules/INI.h"
#include "rules/UNC.h"

namespace pmuconf {
namespace {

SysResult TryOpenAt(const EventSpec& spec, pid_t pid, int cpu) {
  const perf_event_attr attr = MakeAttr(spec);
  const SysResult result = TryOpenRaw(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  const Fd closed(result.ok() ? static_cast<int>(result.value) : -1);
  return result;
}

CONFORMANCE_CASE(Uncore, TaskEventsAreRefused, .rules = {rule::UNC_001, rule::DRC_110},
                 .needs = {Cap::kQuietFork, Cap::kSystemWide}) {
  const Child child([] { return 0; });
  const int cpu = target().DesignatedCpu();
  for (const EventSpec& spec : target().Events()) {
    for (const pid_t pid : {0, child.pid()}) {
      for (const int where : {-1, cpu}) {
        const SysResult result = TryOpenAt(spec, pid, where);
        EXPECT_TRUE(IsTaskRefusal(result.error, where)) << rule::UNC_001 << result.error;
      }
    }
  }
}

CONFORMANCE_CASE(Uncore, EventsOfNoCpuAreRefused, .rules = {rule::UNC_001},
                 .needs = {Cap::kSystemWide}) {
  const EventSpec spec = target().AnyEvent();
  EXPECT_THAT(TryOpenAt(spec, -1, -1), FailsWith(EINVAL));
  EXPECT_THAT(TryOpenAt(spec, -1, -5), FailsWith(EINVAL));
  EXPECT_THAT(TryOpenAt(spec, -1, target().DesignatedCpu()), Succeeds());
}

CONFORMANCE_CASE(Uncore, SamplingIsRefused, .rules = {rule::UNC_002, rule::INI_012, rule::DRC_110},
                 .needs = {Cap::kSystemWide}) {
  for (const EventSpec& spec : target().Events()) {
    for (const std::uint64_t period : {std::uint64_t{1}, std::uint64_t{1} << 40}) {
      const OpenResult result = TryOpen(spec, {.sample_period = period});
      EXPECT_TRUE(IsRefusal(result.error, "sampling")) << rule::UNC_002 << result.error;
    }
    const OpenResult result = TryOpen(spec, {.sample_freq = 100});
    EXPECT_TRUE(IsRefusal(result.error, "sampling")) << rule::UNC_002 << result.error;
  }
}

CONFORMANCE_CASE(Uncore, EachExcludeBitIsRefused, .rules = {rule::UNC_003, rule::INI_013},
                 .needs = {Cap::kSystemWide}) {
  const std::array<void (*)(perf_event_attr&), 6> bits = {
      [](perf_event_attr& attr) { attr.exclude_user = 1; },
      [](perf_event_attr& attr) { attr.exclude_kernel = 1; },
      [](perf_event_attr& attr) { attr.exclude_hv = 1; },
      [](perf_event_attr& attr) { attr.exclude_idle = 1; },
      [](perf_event_attr& attr) { attr.exclude_host = 1; },
      [](perf_event_attr& attr) { attr.exclude_guest = 1; },
  };
  for (std::size_t i = 0; i < bits.size(); ++i) {
    OpenOptions options;
    options.edit = bits[i];
    EXPECT_THAT(TryOpen(target().AnyEvent(), options), FailsWith(EINVAL))
        << rule::UNC_003 << " bit " << i;
  }
}

// A sibling takes the same path as a leader only if the driver makes it so.
CONFORMANCE_CASE(Uncore, SiblingThatSamplesIsRefused,
                 .rules = {rule::UNC_002, rule::UNC_003, rule::INI_012},
                 .needs = {Cap::kSystemWide, Cap::kGroups}, .over = {Over<dim::Cpu>()}) {
  for (const EventSpec& spec : target().Events()) {
    const Event leader = Open(target().AnyEvent());
    const OpenResult by_period = TryOpen(spec, {.group_fd = leader.fd(), .sample_period = 100});
    EXPECT_TRUE(IsRefusal(by_period.error, "sampling")) << rule::UNC_002 << by_period.error;
    const OpenResult by_frequency = TryOpen(spec, {.group_fd = leader.fd(), .sample_freq = 100});
    EXPECT_TRUE(IsRefusal(by_frequency.error, "sampling")) << rule::UNC_002 << by_frequency.error;
    EXPECT_THAT(TryOpen(spec, {.group_fd = leader.fd(), .exclude_user = true}), FailsWith(EINVAL))
        << rule::UNC_003;
    EXPECT_THAT(TryOpen(spec, {.group_fd = leader.fd()}), Succeeds()) << rule::UNC_002;
  }
}

CONFORMANCE_CASE(Uncore, RefusedOpensLeaveNothingBehind, .rules = {rule::UNC_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSystemWide}) {
  const EventSpec spec = target().AnyEvent();
  const refpmu_stats before = port().Stats();
  EventSpec unknown = spec;
  unknown.config = ~std::uint64_t{0};
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(TryOpenAt(spec, 0, -1).ok());
    EXPECT_FALSE(TryOpen(spec, {.sample_period = 100}).ok());
    // Other cases judge whether the driver refuses these.
    TryOpen(spec, {.exclude_kernel = true});
    TryOpen(unknown);
    TryOpenGroup(target().AnyEvents(target().general() + 1));
  }
  const refpmu_stats after = port().Stats();
  EXPECT_EQ(after.live_events, before.live_events);
  EXPECT_EQ(after.used, 0u);
  const Event event = Open(spec, {.disabled = false});
  Pulse(spec, 9);
  EXPECT_THAT(event.Read(), Counted(spec, 9));
}

}  // namespace
}  // namespace pmuconf
