// SPDX-License-Identifier: Apache-2.0
// The matrix of attr fields: for each field of perf_event_attr, whether the kernel and the driver
// of a PMU refuse it, honour it, or accept it without an effect.
#ifndef PMUCONF_TARGET_ATTR_ATTR_MATRIX_H_
#define PMUCONF_TARGET_ATTR_ATTR_MATRIX_H_

#include <string>
#include <vector>

namespace pmuconf {

enum class FieldVerdict {
  kRefused,   // perf_event_open fails
  kHonoured,  // an observation differs
  kNotShown,  // accepted, and no observation would have to differ
  kIgnored,   // accepted, and an observation that must differ does not
  kOddErrno,  // perf_event_open fails with an errno that tells the user something else
};

struct FieldFinding {
  std::string field;  // "exclude_user", "sample_type PERF_SAMPLE_TIME", "pinned + exclusive"
  FieldVerdict verdict = FieldVerdict::kNotShown;
  int error = 0;            // of perf_event_open if it fails
  double count = 0;         // the smallest, if accepted
  std::string effect = {};  // the difference, or why none can be seen
};

enum class MatrixScope {
  kAll,
  kJudged,  // observes only fields that can be found to be ignored
};

// Opens an event of the target of this process with each field, and observes a child process that
// causes events: those of the event's stimulus, a loop, system calls, page faults, a mapping, a new
// name, and a child of its own. The event is the first that counts them. Each field has
// several runs, and a difference must exceed that of runs with the same attr. The target must be
// resolved. Throws Broken if its event cannot be opened at all.
std::vector<FieldFinding> AttrMatrix(MatrixScope scope);

// A table, one line for each field, and a summary.
std::string AttrTable(const std::vector<FieldFinding>& findings);
// A JSON array of {"field", "verdict", "errno" (a name, if refused), "effect"}.
std::string AttrJson(const std::vector<FieldFinding>& findings);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_ATTR_ATTR_MATRIX_H_
