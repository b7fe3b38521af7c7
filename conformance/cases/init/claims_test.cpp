// SPDX-License-Identifier: Apache-2.0
// What a target file of a core PMU leaves out is not there: the PMU refuses it.
#include <bit>
#include <vector>

#include "cases/common.h"
#include "cases/refusal.h"
#include "pmuconf/rules/GRP.h"
#include "pmuconf/rules/INI.h"

namespace pmuconf {
namespace {

// How many events like `spec` one group takes. They are on: what is off may be left out of the
// reckoning.
unsigned FitIntoAGroup(const EventSpec& spec) {
  std::vector<Event> group;
  while (true) {
    OpenOptions options = {.disabled = false};
    if (!group.empty()) options.group_fd = group.front().fd();
    OpenResult opened = TryOpen(spec, options);
    if (!opened.ok()) return static_cast<unsigned>(group.size());
    group.push_back(std::move(opened.event));
  }
}

CONFORMANCE_CASE(Claims, GroupFitsAsManyEventsAsCounters, .rules = {rule::GRP_006},
                 .needs = {Cap::kMultiplexing, Cap::kGroups}) {
  for (const EventSpec& spec : target().Events({.wide = true})) {
    EXPECT_EQ(FitIntoAGroup(spec), static_cast<unsigned>(std::popcount(spec.counters)))
        << rule::GRP_006.text << "\n"
        << spec.name;
  }
}

CONFORMANCE_CASE(Claims, SamplingThatIsNotClaimedIsRefused, .rules = {rule::INI_012},
                 .needs = {Cap::kMultiplexing}) {
  for (const EventSpec& spec : target().Events({.wide = true})) {
    const OpenResult by_period = TryOpen(spec, {.sample_period = 100'003});
    EXPECT_TRUE(IsRefusal(by_period.error, "sampling")) << spec.name << " " << by_period.error;
    const OpenResult by_frequency = TryOpen(spec, {.sample_freq = 100});
    EXPECT_TRUE(IsRefusal(by_frequency.error, "sampling"))
        << spec.name << " " << by_frequency.error;
  }
}

CONFORMANCE_CASE(Claims, ExcludesThatAreNotClaimedAreRefused, .rules = {rule::INI_013},
                 .needs = {Cap::kMultiplexing}) {
  for (const EventSpec& spec : target().Events({.wide = true})) {
    EXPECT_THAT(TryOpen(spec, {.exclude_user = true}), FailsWith(EINVAL)) << spec.name;
    EXPECT_THAT(TryOpen(spec, {.exclude_kernel = true}), FailsWith(EINVAL)) << spec.name;
  }
}

}  // namespace
}  // namespace pmuconf
