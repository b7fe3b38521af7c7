// SPDX-License-Identifier: Apache-2.0
// An event counts exactly what happens between its enable and its disable.
#include "cases/subject.h"
#include "harness/case.h"
#include "rules/CNT.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Counting, DisabledTimeIsNotCounted, .rules = {rule::CNT_002, rule::CNT_005},
                 .needs = {Cap::kStimulus}, .budget_s = 30,
                 .over = {Over<dim::Scope>(), Over<dim::Member>(), Over<dim::Counter>(),
                          Over<dim::Before>()}) {
  const Subject subject(*this);
  const auto [spec, event] = subject.Parts();

  event.Enable();
  Pulse(spec, 1'000);
  event.Disable();
  Pulse(spec, 7'000);
  EXPECT_THAT(event.Read(), Counted(spec, 1'000)) << rule::CNT_002;

  event.Enable();
  Pulse(spec, 500);
  const Reading last = event.Read();
  EXPECT_THAT(last, Counted(spec, 1'500)) << rule::CNT_005;
  EXPECT_LE(last.time_running, last.time_enabled);
}

}  // namespace
}  // namespace pmuconf
