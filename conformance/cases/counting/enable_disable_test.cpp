// SPDX-License-Identifier: Apache-2.0
// An event counts exactly what happens between its enable and its disable.
#include "harness/case.h"
#include "rules/CNT.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Counting, DisabledTimeIsNotCounted, .rules = {rule::CNT_002, rule::CNT_005},
                 .needs = {Cap::kStimulus}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);

  event.Enable();
  target().Stimulate(spec, 1'000);
  event.Disable();
  target().Stimulate(spec, 7'000);
  EXPECT_THAT(event.Read(), Counted(spec, 1'000)) << rule::CNT_002.text;

  event.Enable();
  target().Stimulate(spec, 500);
  const Reading last = event.Read();
  EXPECT_THAT(last, Counted(spec, 1'500)) << rule::CNT_005.text;
  EXPECT_LE(last.time_running, last.time_enabled);
}

}  // namespace
}  // namespace pmuconf
