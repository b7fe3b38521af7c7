// SPDX-License-Identifier: Apache-2.0
// Drafts a target file for a PMU without one.
#ifndef PMUCONF_TARGET_PROBE_H_
#define PMUCONF_TARGET_PROBE_H_

#include <string>

#include "target/probe/facts.h"

namespace pmuconf {

// Runs the experiments. Opens events, which stay disabled unless an experiment needs them enabled.
// Sampling experiments sample user mode alone. Throws ConfigError if there is no such PMU, or if
// this process may not open events.
PmuFacts ProbePmu(const std::string& pmu);

// Writes the facts as a valid target file, with a comment on each line.
std::string WriteDraft(const PmuFacts& facts);

// Returns the facts as a table: each key of the draft with its value, how sure it is, and how it
// was found.
std::string ExplainDraft(const PmuFacts& facts);
// Returns the same as JSON: {"pmu": ..., "lines": [{"key", "value", "sure", "how"}, ...]}.
std::string ExplainDraftAsJson(const PmuFacts& facts);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_H_
