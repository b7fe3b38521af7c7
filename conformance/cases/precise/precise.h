// SPDX-License-Identifier: Apache-2.0
// Helpers of the cases about precise events.
#ifndef PMUCONF_CASES_PRECISE_PRECISE_H_
#define PMUCONF_CASES_PRECISE_PRECISE_H_

#include <cstdint>

#include "harness/case.h"
#include "perf/ring.h"
#include "system/cpu.h"

namespace pmuconf {

// Samples that a record can provide may wait in a buffer. A call chain is not in a record, so
// samples with one cannot wait.
inline constexpr std::uint64_t kBuffered =
    PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_TID;
inline constexpr std::uint64_t kUnbuffered = kBuffered | PERF_SAMPLE_CALLCHAIN;

// The default level is the highest precision of the target.
inline OpenOptions Precise(std::uint64_t period, std::uint64_t sample_type = kBuffered,
                           unsigned level = target().precise()) {
  return {.sample_period = period,
          .sample_type = sample_type,
          .edit = [level](perf_event_attr& attr) { attr.precise_ip = level & 3; }};
}

// The same for all tasks of this CPU.
inline OpenOptions PreciseOnCpu(std::uint64_t period, std::uint64_t sample_type = kBuffered) {
  OpenOptions options = Precise(period, sample_type);
  options.pid = -1;
  options.cpu = CurrentCpu();
  return options;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_PRECISE_PRECISE_H_
