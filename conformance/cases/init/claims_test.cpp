// SPDX-License-Identifier: Apache-2.0
// A core PMU must refuse each feature that its target file does not claim.
#include <bit>
#include <vector>

#include "cases/common.h"
#include "cases/refusal.h"
#include "rules/GRP.h"
#include "rules/INI.h"

namespace pmuconf {
namespace {

// The number of events like `spec` that fit into one group, at most `most`. They are enabled,
// because a driver may ignore disabled events when it checks a group.
unsigned FitIntoAGroup(const EventSpec& spec, unsigned most) {
  std::vector<Event> group;
  while (group.size() < most) {
    OpenOptions options = {.disabled = false};
    if (!group.empty()) options.group_fd = group.front().fd();
    OpenResult opened = TryOpen(spec, options);
    if (!opened.ok()) return static_cast<unsigned>(group.size());
    group.push_back(std::move(opened.event));
  }
  return most;
}

CONFORMANCE_CASE(Claims, GroupFitsAsManyEventsAsCounters, .rules = {rule::GRP_006},
                 .needs = {Cap::kMultiplexing, Cap::kGroups}) {
  for (const EventSpec& spec : target().Events({.wide = true})) {
    const auto claimed = static_cast<unsigned>(std::popcount(spec.counters));
    const unsigned fit = FitIntoAGroup(spec, claimed + 1);
    EXPECT_EQ(fit, claimed) << spec.name << ": " << (fit > claimed ? "at least " : "only ") << fit
                            << " fit into a group, and the target file claims " << claimed
                            << " counters for it. If counters do not limit its events, leave out "
                               "[counters] and `counters`.";
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
