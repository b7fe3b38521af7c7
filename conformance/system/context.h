// SPDX-License-Identifier: Apache-2.0
// State of the case process that ends up in its result.
#ifndef PMUCONF_SYSTEM_CONTEXT_H_
#define PMUCONF_SYSTEM_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "system/skip_reason.h"

namespace pmuconf {

// The last system call for which BrokenErrno() was called.
struct FailedCall {
  std::string text;
  int error = 0;
};

struct Context {
  std::string pmu;  // --pmu: overrides the target's match
  std::string at;   // --at: restricts the dimensions of the case
  // The combination of values of dimensions that runs, or in which the case has ended: "cpu=1".
  std::string current;
  static constexpr std::size_t kMaxOpened = 4;
  std::deque<std::string> opened;  // the last attrs and their results, as messages show them
  std::size_t opens = 0;           // number of all opens
  std::set<int> cpu_wide;          // the CPUs of its CPU-wide events
  bool in_body = false;            // the body of the case runs, not the fixture
  std::string bpf_log;             // the end of libbpf's log
  FailedCall failed_call;
  // Another task preempted a thread with NoPreemption, so the result is no evidence.
  bool preempted = false;
  // Interrupts that hit the work of events that count interrupts, so a failure is no evidence.
  std::uint64_t interrupts = 0;
  bool denied = false;                // a call failed with EPERM or EACCES
  bool stuck = false;                 // the device is in a state that spoils later cases
  std::optional<std::string> broken;  // first cause
  std::optional<std::string> skipped;
  SkipReason skip_reason = SkipReason::kNone;  // the skip reason of `skipped`
  std::string lacking;                         // the capability that the skipped case lacks
};

Context& context();

// Thrown if a case is not for this target or machine. A child process passes it to its parent.
struct Skipped {
  SkipReason skip_reason;
  std::string reason;
  std::string capability = {};  // that the case lacks; "" if it lacks something else
};

// Thrown if the driver violates a rule that the case does not judge, and leaves the device in a
// state that spoils later cases. The case fails.
struct Violation {
  std::string text;
};

// Ends the case as SKIP because it requests something that the target does not claim. The report
// prints `what`.
[[noreturn]] void SkipUnclaimed(const std::string& what);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_CONTEXT_H_
