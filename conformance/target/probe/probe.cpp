// SPDX-License-Identifier: Apache-2.0
// Runs the experiments of a probe in order.
#include "target/probe.h"

#include "perf/permission.h"
#include "system/broken.h"
#include "system/sysctl.h"
#include "target/probe/actions.h"
#include "target/probe/experiments.h"
#include "target/target.h"

namespace pmuconf {
namespace {

constexpr const char* kMaxRate = "kernel/perf_event_max_sample_rate";

// The kernel lowers its limit of samples per second if interrupts take long. Restores it.
class RateRestorer {
 public:
  RateRestorer() : before_(Sysctl::Get(kMaxRate)) {}
  RateRestorer(const RateRestorer&) = delete;
  ~RateRestorer() {
    try {
      if (Sysctl::Get(kMaxRate) != before_) Sysctl::Set(kMaxRate, before_);
    } catch (const Broken&) {  // not permitted while the kernel's own adjustment is off
    }
  }

 private:
  std::string before_;
};

void CountActionsOfEach(const ProbedPmu& pmu, PmuFacts* facts) {
  for (EventFacts& event : facts->events) {
    const ActionCounts counts = CountActions([&] { return pmu.Open(event.spec); });
    event.counts = counts.counts;
    event.stimulus = counts.stimulus;
  }
}

PmuFacts Probe(const std::string& name) {
  if (const auto refused = WhyEventsDenied()) {
    throw ConfigError(std::string(Phrase(refused->skip_reason)) + ": " + refused->reason);
  }
  PmuFacts facts;
  facts.device = name;
  const ProbedPmu pmu(&facts);
  if (facts.kind == "trace") {
    FindExclusive(&facts);
    return facts;
  }
  const RateRestorer restorer;
  FindEvents(pmu, &facts);
  FindCounters(pmu, &facts);
  FindGenericNames(pmu, &facts);
  FindWidth(pmu, &facts);
  FindSupport(pmu, &facts);
  if (facts.sampling.ok()) FindSampling(pmu, &facts);
  FindFormats(&facts);
  FindRefusals(pmu, &facts);
  CountActionsOfEach(pmu, &facts);
  FindWork(pmu, &facts);
  if (facts.sampling.ok()) FindSafePeriod(&facts);
  return facts;
}

}  // namespace

PmuFacts ProbePmu(const std::string& pmu) {
  try {
    return Probe(pmu);
  } catch (const Broken& broken) {
    throw ConfigError("probing " + pmu + ": " + broken.what());
  }
}

}  // namespace pmuconf
