// SPDX-License-Identifier: Apache-2.0
// Quantities that the specification knows only within bounds, and the times between which an effect
// happened.
#ifndef PMUCONF_ORACLE_SPEC_INTERVAL_H_
#define PMUCONF_ORACLE_SPEC_INTERVAL_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace pmuconf {

struct Interval {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  static constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

  bool exact() const { return low == high; }
  bool Contains(std::uint64_t value) const { return low <= value && value <= high; }
  // The upper bound does not overflow.
  Interval operator+(const Interval& other) const {
    const bool unbounded = high > kUnbounded - other.high;
    return {low + other.low, unbounded ? kUnbounded : high + other.high};
  }
  void Add(const Interval& other) { *this = *this + other; }
  std::string ToString() const {
    if (exact()) return std::to_string(low);
    return std::to_string(low) + ".." + (high == kUnbounded ? "" : std::to_string(high));
  }
};

// A point in the run of the program. All members only grow.
struct SpecNow {
  std::uint64_t time = 0;  // ns of perf's clock
  // ns during which the task certainly ran: `time` without the steps in which it was switched out
  std::uint64_t on_cpu = 0;
  // ns by which the time of a context certainly advanced: that of the task, and that of the CPU
  std::uint64_t task_context = 0, cpu_context = 0;
  // ns during which the task certainly ran and no event was stopped to schedule others
  std::uint64_t undisturbed = 0;
  std::uint64_t faults = 0;    // page faults of the task
  std::uint64_t switches = 0;  // context switches of the task
  std::uint64_t syscalls = 0;  // system calls that the task certainly made
};

// An operation had its effect at an unknown time between these.
struct Moment {
  SpecNow before, after;
};

// Returns how much `counter` grew between two moments.
inline Interval Growth(const Moment& from, const Moment& to, std::uint64_t SpecNow::*counter) {
  const std::uint64_t least = from.after.*counter;
  return {to.before.*counter > least ? to.before.*counter - least : 0,
          to.after.*counter - from.before.*counter};
}

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_SPEC_INTERVAL_H_
