// SPDX-License-Identifier: Apache-2.0
// The hooks of this process.
#include "perf/answers.h"

namespace pmuconf {

PerfAnswers& perf_answers() {
  static constinit PerfAnswers the_answers;
  return the_answers;
}

}  // namespace pmuconf
