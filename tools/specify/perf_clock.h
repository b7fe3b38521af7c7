// SPDX-License-Identifier: Apache-2.0
// The clock of perf's contexts, read without a system call.
#ifndef PMUCONF_TOOLS_SPECIFY_PERF_CLOCK_H_
#define PMUCONF_TOOLS_SPECIFY_PERF_CLOCK_H_

#include <cstdint>

#include "perf/event.h"
#include "perf/ring.h"

namespace pmuconf {

class PerfClock {
 public:
  PerfClock();
  // Whether Now() is the clock of the contexts. Otherwise it is CLOCK_MONOTONIC.
  bool exact() const { return exact_; }
  std::uint64_t Now() const;  // ns
  // Reads again how the kernel converts cycles to time. Returns whether that has changed.
  bool Refresh();

 private:
  struct Conversion {
    std::uint64_t zero = 0;
    std::uint32_t multiplier = 0;
    std::uint16_t shift = 0;
    bool operator==(const Conversion&) const = default;
  };
  // Its control page has the conversion. It follows another task, so it changes no context that
  // programs can see.
  Event event_;
  Ring ring_;
  bool exact_;
  Conversion conversion_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_PERF_CLOCK_H_
