// SPDX-License-Identifier: Apache-2.0
// The experiments of a probe. Each stores its findings in the facts.
#ifndef PMUCONF_TARGET_PROBE_EXPERIMENTS_H_
#define PMUCONF_TARGET_PROBE_EXPERIMENTS_H_

#include "target/probe/facts.h"
#include "target/probe/pmu.h"

namespace pmuconf {

// Finds the events in sysfs that open; if there are none, small numbers as config that open. Throws
// ConfigError if no event opens.
void FindEvents(const ProbedPmu& pmu, PmuFacts* facts);

// Finds the generic events that select an event of the PMU too.
void FindGenericNames(const ProbedPmu& pmu, PmuFacts* facts);

// Finds the number of counters, and the counters of each event. Omits events whose counters it
// cannot find.
void FindCounters(const ProbedPmu& pmu, PmuFacts* facts);

// Finds the width of the counters, and whether user space can read them: from the control page.
void FindWidth(const ProbedPmu& pmu, PmuFacts* facts);

// Finds the main choices of a PMU: sampling, tasks, exclude bits. Then the formats, and, once
// sampling is known, the errno of each request that the PMU refuses.
void FindSupport(const ProbedPmu& pmu, PmuFacts* facts);
void FindFormats(PmuFacts* facts);
void FindRefusals(const ProbedPmu& pmu, PmuFacts* facts);

// Finds whether a PMU has one event in a context (PERF_PMU_CAP_EXCLUSIVE), on this CPU.
void FindExclusive(PmuFacts* facts);

// Finds the shortest period that opens, frequency mode, precision and branch stacks.
void FindSampling(const ProbedPmu& pmu, PmuFacts* facts);

// Finds the event that counts the work of a worker.
void FindWork(const ProbedPmu& pmu, PmuFacts* facts);

// Samples the work of the event that counts it, in user mode alone, with shorter and shorter
// periods. Then measures how late the samples are.
void FindSafePeriod(PmuFacts* facts);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_EXPERIMENTS_H_
