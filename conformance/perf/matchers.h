// SPDX-License-Identifier: Apache-2.0
// Matchers for perf: counts with the target's accuracy, and errnos by name.
#ifndef PMUCONF_PERF_MATCHERS_H_
#define PMUCONF_PERF_MATCHERS_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <ostream>
#include <string>

#include "perf/event.h"
#include "text/errno_name.h"

namespace pmuconf {

// Returns whether `value` is a valid count of `n` events of `spec`, within its accuracy. Stores the
// bounds in `low` and `high`.
bool WithinAccuracy(const EventSpec& spec, std::uint64_t n, std::uint64_t value,
                    std::uint64_t* low = nullptr, std::uint64_t* high = nullptr);

// For Reading, GroupEntry or std::uint64_t: the count is `n` events of `spec`, within its accuracy.
MATCHER_P2(Counted, spec, n,
           (negation ? "not " : "") + std::to_string(n) + " events of " + spec.name +
               (spec.accuracy.exact() ? " exactly" : " within the target's accuracy")) {
  std::uint64_t value = 0;
  if constexpr (requires { arg.value; }) {
    value = arg.value;
  } else {
    value = arg;
  }
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  const bool good = WithinAccuracy(spec, static_cast<std::uint64_t>(n), value, &low, &high);
  *result_listener << "counted " << value << ", wanted " << low;
  if (high != low) *result_listener << " to " << high;
  return good;
}

// For OpenResult, SysResult, GroupOpenResult: the call failed with that errno.
MATCHER_P(FailsWith, error, (negation ? "does not fail with " : "fails with ") + ErrnoName(error)) {
  *result_listener << (arg.error == 0 ? std::string("succeeded") : "gave " + ErrnoName(arg.error));
  return arg.error == error;
}

// As FailsWith, for rules that allow two errnos: FailsWithOneOf(EINVAL, EOPNOTSUPP).
MATCHER_P2(FailsWithOneOf, first, second,
           (negation ? "does not fail with " : "fails with ") + ErrnoName(first) + " or " +
               ErrnoName(second)) {
  *result_listener << (arg.error == 0 ? std::string("succeeded") : "gave " + ErrnoName(arg.error));
  return arg.error == first || arg.error == second;
}

MATCHER(Succeeds, negation ? "fails" : "succeeds") {
  if (arg.error != 0) *result_listener << "gave " << ErrnoName(arg.error);
  return arg.error == 0;
}

// GoogleTest calls these to print values.
void PrintTo(const Reading& reading, std::ostream* os);
void PrintTo(const GroupReading& reading, std::ostream* os);
void PrintTo(const GroupEntry& entry, std::ostream* os);
void PrintTo(const OpenResult& result, std::ostream* os);
void PrintTo(const SysResult& result, std::ostream* os);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_MATCHERS_H_
