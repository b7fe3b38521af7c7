// SPDX-License-Identifier: Apache-2.0
// Fields of the attr that are accepted have their effect.
#include "harness/case.h"
#include "rules/INI.h"
#include "target/attr/attr_matrix.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(Attr, AcceptedFieldsHaveAnEffect, .rules = {rule::INI_036},
                 .needs = {Cap::kStimulus, Cap::kCounters}, .budget_s = 60) {
  for (const FieldFinding& finding : AttrMatrix(MatrixScope::kJudged)) {
    EXPECT_NE(finding.verdict, FieldVerdict::kIgnored) << finding.field << ": " << finding.effect;
    EXPECT_NE(finding.verdict, FieldVerdict::kOddErrno)
        << finding.field << " fails with " << ErrnoName(finding.error);
  }
}

}  // namespace
}  // namespace pmuconf
