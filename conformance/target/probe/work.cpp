// SPDX-License-Identifier: Apache-2.0
// Finds the events that count the work of a worker.
#include "stimulus/work/work.h"

#include <algorithm>

#include "target/probe/experiments.h"

namespace pmuconf {

// One exact event is enough, and all work is instructions: two such events would not be
// independent. Cases use an event with a bound only if there is an exact one too.
void FindWork(const ProbedPmu& pmu, PmuFacts* facts) {
  if (pmu.per_cpu() || !facts->limited()) return;
  EventFacts* best = nullptr;
  for (EventFacts& event : facts->events) {
    if (event.stimulus != "none") continue;
    event.work = Calibrate([&](pid_t worker, int group_fd) {
      return ProbedPmu::OpenAt(
          event.spec,
          {.pid = worker, .group_fd = group_fd, .disabled = group_fd < 0, .exclude_kernel = true});
    });
    if (event.work.extra && (best == nullptr || event.fit > best->fit)) best = &event;
  }
  if (best == nullptr) return;
  best->stimulus = "work";
  for (EventFacts& event : facts->events) {
    if (event.stimulus == "none" && event.work.bound) event.stimulus = "work";
  }
}

}  // namespace pmuconf
