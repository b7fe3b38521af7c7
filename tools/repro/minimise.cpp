// SPDX-License-Identifier: Apache-2.0
// Removes operations, many at once and then one by one; then makes numbers and attrs simpler.
#include "tools/repro/minimise.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pmuconf {
namespace {

using Change = void (*)(perf_event_attr& attr);
constexpr std::array<Change, 14> kSimpler = {{
    [](perf_event_attr& attr) { attr.read_format = 0; },
    [](perf_event_attr& attr) { attr.read_format &= ~std::uint64_t{PERF_FORMAT_GROUP}; },
    [](perf_event_attr& attr) {
      attr.sample_period = attr.sample_type = 0;
      attr.watermark = attr.wakeup_events = attr.wakeup_watermark = 0;
    },
    [](perf_event_attr& attr) { attr.sample_type = 0; },
    [](perf_event_attr& attr) { attr.sample_type &= PERF_SAMPLE_READ; },
    [](perf_event_attr& attr) { attr.watermark = attr.wakeup_events = attr.wakeup_watermark = 0; },
    [](perf_event_attr& attr) { attr.inherit = 0; },
    [](perf_event_attr& attr) { attr.pinned = 0; },
    [](perf_event_attr& attr) { attr.exclusive = 0; },
    [](perf_event_attr& attr) { attr.exclude_user = 0; },
    [](perf_event_attr& attr) { attr.exclude_kernel = 0; },
    [](perf_event_attr& attr) { attr.sample_id_all = 0; },
    [](perf_event_attr& attr) { attr.task = 0; },
    [](perf_event_attr& attr) { attr.disabled = 0; },
}};

bool HasSmallNumber(const Step& step) {
  return step.operation == Operation::kPulse || step.operation == Operation::kChildPulse ||
         step.operation == Operation::kAdvance || step.operation == Operation::kWork;
}

}  // namespace

Program Minimise(Program program, const std::function<bool(const Program&)>& shows,
                 const std::function<bool()>& expired) {
  const auto try_instead = [&](const Program& simpler) {
    if (expired() || !shows(simpler)) return false;
    program = simpler;
    return true;
  };
  for (std::size_t size = program.steps.size() / 2; size > 0 && !expired();) {
    bool shorter = false;
    for (std::size_t end = program.steps.size(); end >= size && !expired(); --end) {
      Program without = program;
      const auto first = without.steps.begin() + static_cast<std::ptrdiff_t>(end - size);
      without.steps.erase(first, first + static_cast<std::ptrdiff_t>(size));
      if (!try_instead(without)) continue;
      shorter = true;
      end = std::min(end, program.steps.size() + 1);
    }
    if (!shorter || size > 1) size /= 2;
  }
  for (std::size_t i = 0; i < program.steps.size() && !expired(); ++i) {
    const Step& step = program.steps[i];
    if (HasSmallNumber(step)) {
      // The lowest bit selects the privilege level.
      for (const std::uint64_t value : {1 + step.value % 2, std::uint64_t{1}, std::uint64_t{2}}) {
        Program simpler = program;
        simpler.steps[i].value = value;
        if (value < program.steps[i].value) try_instead(simpler);
      }
    }
    if (step.task != 0) {
      Program simpler = program;
      simpler.steps[i].task = 0;
      try_instead(simpler);
    }
    if (step.operation != Operation::kOpen) continue;
    for (const Change change : kSimpler) {
      Program simpler = program;
      simpler.steps[i].call.Edit([change](perf_event_attr& attr) { change(attr); });
      if (simpler.steps[i].call.attr != program.steps[i].call.attr) try_instead(simpler);
    }
  }
  return program;
}

}  // namespace pmuconf
