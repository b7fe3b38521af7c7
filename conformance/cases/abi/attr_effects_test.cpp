// SPDX-License-Identifier: Apache-2.0
// Fields of the attr that are accepted have their effect.
#include "harness/case.h"
#include "rules/INI.h"
#include "target/attr/attr_matrix.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Attr, AcceptedFieldsHaveAnEffect, .rules = {rule::INI_036},
                 .needs = {Cap::kStimulus, Cap::kCounters}, .budget_s = 60) {
  for (const FieldFinding& finding : AttrMatrix(MatrixScope::kJudged)) {
    EXPECT_NE(finding.verdict, FieldVerdict::kIgnored) << finding.field << ": " << finding.effect;
  }
}

}  // namespace
}  // namespace pmuconf
