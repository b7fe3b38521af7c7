// SPDX-License-Identifier: Apache-2.0
// An open event keeps the driver's module loaded.
#include <fcntl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "cases/common.h"
#include "cases/module.h"
#include "rules/DRC.h"
#include "rules/HOT.h"
#include "rules/INI.h"
#include "system/context.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Hotplug, OpenEventsPinTheModule,
                 .rules = {rule::INI_025, rule::HOT_009, rule::DRC_009},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
  if (target().module().empty()) SkipUnclaimed("needs a module that has the PMU");
  if (IsPermanent()) SkipUnclaimed("needs a module that can be removed");
  const EventSpec spec = target().AnyEvent();
  const long before = ModuleReferences();
  std::vector<Event> events;
  for (long n = 1; n <= 5; ++n) {
    events.push_back(Open(spec));
    EXPECT_EQ(ModuleReferences(), before + n) << rule::INI_025;
  }
  // The kernel refuses the first of these opens, and most drivers the second one.
  TryOpen(spec, {.group_fd = events[0].fd(), .exclusive = true});
  EventSpec unknown = spec;
  unknown.config = ~0ULL;
  TryOpen(unknown);
  ASSERT_EQ(ModuleReferences(), before + 5) << rule::INI_025;

  EXPECT_EQ(syscall(SYS_delete_module, target().module().c_str(), O_NONBLOCK), -1) << rule::HOT_009;
  EXPECT_EQ(errno, EWOULDBLOCK) << rule::HOT_009;
  events[0].Enable();
  Pulse(spec, 3);
  EXPECT_THAT(events[0].Read(), Counted(spec, 3)) << rule::HOT_009;
  events.clear();
  EXPECT_EQ(ModuleReferences(), before) << rule::INI_025;
}

}  // namespace
}  // namespace pmuconf
