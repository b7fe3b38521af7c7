// SPDX-License-Identifier: Apache-2.0
// The exclude bits suppress their privilege level, on each counter that can count the event.
#include "cases/common.h"
#include "cases/subject.h"
#include "rules/CNT.h"

namespace pmuconf {
namespace {

void CheckExcludes(const OpenOptions& place) {
  for (const EventSpec& spec : target().Events()) {
    for (const bool user : {false, true}) {
      for (const bool kernel : {false, true}) {
        OpenOptions options = place;
        options.exclude_user = user;
        options.exclude_kernel = kernel;
        std::vector<Event> events;
        for (std::size_t i = 0; i < CounterCount(spec); ++i) {
          OpenResult opened = TryOpen(spec, options);
          ASSERT_THAT(opened, Succeeds());
          events.push_back(std::move(opened.event));
        }
        EnableEach(events);
        target().Stimulate(spec, 1'000, {.privilege = Privilege::kUser});
        target().Stimulate(spec, 37, {.privilege = Privilege::kKernel});
        const std::uint64_t want = (user ? 0u : 1'000u) + (kernel ? 0u : 37u);
        for (const Event& event : events) {
          EXPECT_THAT(event.Read(), Counted(spec, want)) << Describe(event.attr());
        }
      }
    }
  }
}

CONFORMANCE_CASE(Counting, ExcludesFilterATask, .rules = {rule::CNT_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kExcludes}) {
  CheckExcludes({});
}

CONFORMANCE_CASE(Counting, ExcludesFilterCpuEvent, .rules = {rule::CNT_009},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kExcludes}) {
  CheckExcludes({.pid = -1, .cpu = CurrentCpu()});
}

CONFORMANCE_CASE(Counting, NeighboursKeepTheirOwnExcludes, .rules = {rule::CNT_009, rule::CNT_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kExcludes, Cap::kCounters3}) {
  for (const EventSpec& spec : target().Events({.any_general = true})) {
    const Event both = Open(spec);
    const Event user = Open(spec, {.exclude_kernel = true});
    const Event kernel = Open(spec, {.exclude_user = true});
    for (const Event* event : {&both, &user, &kernel}) event->Enable();
    target().Stimulate(spec, 5, {.privilege = Privilege::kKernel});
    user.Disable();
    target().Stimulate(spec, 300, {.privilege = Privilege::kUser});
    user.Enable();
    target().Stimulate(spec, 7, {.privilege = Privilege::kUser});
    EXPECT_THAT(both.Read(), Counted(spec, 312)) << rule::CNT_009;
    EXPECT_THAT(user.Read(), Counted(spec, 7)) << rule::CNT_009;
    EXPECT_THAT(kernel.Read(), Counted(spec, 5)) << rule::CNT_009;
  }
}

// For the kernel, this code runs in a host. So an event with exclude_host must count nothing.
CONFORMANCE_CASE(Counting, ExcludeHostIsDoneOrRefused, .rules = {rule::CNT_009},
                 .needs = {Cap::kStimulus, Cap::kCounters},
                 .over = {Over(dim::Member::kAlone, dim::Member::kLast)}) {
  for (const EventSpec& spec : target().Events()) {
    Event leader;
    if (At<dim::Member>() == dim::Member::kLast) leader = Open(spec, {.disabled = false});
    perf_event_attr attr = MakeAttr(spec);
    attr.exclude_host = 1;
    OpenResult result = TryOpen(attr, 0, -1, leader.is_open() ? leader.fd() : -1);
    if (!result.ok()) {
      EXPECT_THAT(result, FailsWithOneOf(EINVAL, EOPNOTSUPP));
      continue;
    }
    result.event.Enable();
    target().Stimulate(spec, 1'000);
    EXPECT_THAT(result.event.Read(), Counted(spec, 0));
  }
}

}  // namespace
}  // namespace pmuconf
