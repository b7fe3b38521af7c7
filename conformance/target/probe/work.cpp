// SPDX-License-Identifier: Apache-2.0
// Finds the events that count the work of a worker.
#include "stimulus/work/work.h"

#include <algorithm>

#include "target/probe/experiments.h"

namespace pmuconf {

namespace {

// An event that interrupts leave alone is exact on any machine. Then more counters are better.
bool Better(const EventFacts& a, const EventFacts& b) {
  const bool steady = a.work.interrupts == 0;
  if (steady != (b.work.interrupts == 0)) return steady;
  return a.fit > b.fit;
}

}  // namespace

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
    if (event.work.extra && (best == nullptr || Better(event, *best))) best = &event;
  }
  if (best == nullptr) return;
  best->stimulus = "work";
  for (EventFacts& event : facts->events) {
    if (event.stimulus == "none" && event.work.bound) event.stimulus = "work";
  }
}

}  // namespace pmuconf
