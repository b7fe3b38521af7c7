// SPDX-License-Identifier: Apache-2.0
// Outcomes of the operations of a program, from the results of system calls.
#ifndef PMUCONF_TOOLS_REPRO_OUTCOME_H_
#define PMUCONF_TOOLS_REPRO_OUTCOME_H_

#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "tools/repro/run.h"

namespace pmuconf {

inline Outcome OutcomeOf(long value) {
  Outcome outcome;
  outcome.ran = true;
  outcome.value = value;
  outcome.error = value < 0 ? errno : 0;
  return outcome;
}

// The operation lacks something; the errno shows what.
inline Outcome Missing(int error) {
  errno = error;
  return OutcomeOf(-1);
}

inline std::size_t PageSize() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_OUTCOME_H_
