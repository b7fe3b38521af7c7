// SPDX-License-Identifier: Apache-2.0
// What the process of one case remembers for its result.
#ifndef PMUCONF_LIB_CONTEXT_H_
#define PMUCONF_LIB_CONTEXT_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "lib/result.h"
#include "pmuconf/broken.h"
#include "pmuconf/target.h"

namespace pmuconf {

// There is no PMU that the target file, or --pmu, means.
class NoSuchPmu : public Broken {
 public:
  using Broken::Broken;
};

// The last system call that was reported as Broken.
struct FailedCall {
  std::string text;
  int error = 0;
};

struct Context {
  std::optional<Target> target;
  std::string pmu;  // --pmu: overrides the target's match
  static constexpr std::size_t kOpenedKept = 4;
  std::deque<std::string> opened;  // the last attrs, as messages show them, and what came of it
  std::size_t opens = 0;           // how many there were
  std::string bpf_log;             // what libbpf said, newest end
  FailedCall failed_call;
  bool disturbed = false;             // its CPU was taken away where that is evidence no more
  bool denied = false;                // a call was answered EPERM or EACCES
  std::optional<std::string> broken;  // first cause
  std::optional<std::string> skipped;
  Obstacle obstacle = Obstacle::kNone;  // of what was skipped
};

Context& context();

// Thrown where a case finds that it is not for this target or machine. A child process tells it to
// its parent.
struct Skipped {
  Obstacle obstacle;
  std::string reason;
};

// Ends the case: it asks for what the target does not claim. `what` says so in the report.
[[noreturn]] void SkipUnclaimed(const std::string& what);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_CONTEXT_H_
