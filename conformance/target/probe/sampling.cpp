// SPDX-License-Identifier: Apache-2.0
// Finds which sampling events open.
#include <cstdlib>

#include "system/sysfs.h"
#include "target/probe/experiments.h"
#include "target/probe/periods.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kFrequency_hz = 100;
constexpr std::uint64_t kLongestOfPerf = ~0ULL >> 1;  // perf itself refuses longer periods

void FindPeriods(const ProbedPmu& pmu, PmuFacts* facts) {
  const auto accepts = [&](std::uint64_t period) {
    const OpenOptions options = {.sample_period = period, .sample_type = PERF_SAMPLE_IP};
    return pmu.TryAny(facts->events, options, "").ok();
  };
  const std::uint64_t shortest = ShortestAccepted(kProbePeriod, accepts);
  facts->shortest_period = {shortest, 0, "the shortest that opens"};
  const std::uint64_t longest = LongestAccepted(kProbePeriod, kLongestOfPerf, accepts);
  if (longest == kLongestOfPerf) {
    facts->sampling_notes.push_back({"longest period", std::to_string(longest),
                                     "all that perf itself accepts: no sign of the width"});
    return;
  }
  facts->sampling_notes.push_back(
      {"longest period", std::to_string(longest), "the longest that opens"});
  const auto width = WidthOfRange(longest);
  if (facts->width.sure == Sure::kDefault && width) {
    facts->width = {*width, 0, "the longest period that opens is all bits of such a counter",
                    Sure::kGuess};
  }
}

void FindPrecision(const ProbedPmu& pmu, PmuFacts* facts) {
  facts->precise = {0, 0, "no precise_ip opens"};
  for (std::uint64_t level = 3; level > 0 && facts->precise.value == 0; --level) {
    const auto edit = [level](perf_event_attr& attr) { attr.precise_ip = level & 3; };
    const OpenOptions options = {
        .sample_period = kProbePeriod, .sample_type = PERF_SAMPLE_IP, .edit = edit};
    if (pmu.TryAny(facts->events, options, "").ok()) {
      facts->precise = {level, 0, "the highest precise_ip that opens"};
    }
  }
  if (facts->precise.value > 0 && !ReadFile(FolderOf(facts->device) + "/caps/max_precise")) {
    facts->precise = {0, 0, "precise_ip opens, and sysfs has no caps/max_precise: ignored",
                      Sure::kGuess};
  }
}

void FindBranches(const ProbedPmu& pmu, PmuFacts* facts) {
  const auto edit = [](perf_event_attr& attr) {
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
  };
  facts->branches = pmu.TryAny(facts->events,
                               {.sample_period = kProbePeriod,
                                .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
                                .edit = edit},
                               "PERF_SAMPLE_BRANCH_STACK");
  if (!facts->branches.ok()) return;
  const auto deep = ReadFile(FolderOf(facts->device) + "/caps/branches");
  facts->branches.value = deep ? std::strtoul(deep->c_str(), nullptr, 10) : 1;
  facts->branches.how += deep ? ", depth from caps/branches in sysfs" : ", depth unknown";
  facts->branches.sure = deep ? Sure::kRead : Sure::kDefault;
}

}  // namespace

void FindSampling(const ProbedPmu& pmu, PmuFacts* facts) {
  facts->frequency =
      pmu.TryAny(facts->events, {.sample_freq = kFrequency_hz, .sample_type = PERF_SAMPLE_IP},
                 "sample_freq = " + std::to_string(kFrequency_hz));
  FindPeriods(pmu, facts);
  FindPrecision(pmu, facts);
  FindBranches(pmu, facts);
  const auto rate = ReadFile("/proc/sys/kernel/perf_event_max_sample_rate");
  if (rate) {
    facts->sampling_notes.push_back({"max_sample_rate", *rate,
                                     "kernel.perf_event_max_sample_rate, samples per second; the "
                                     "kernel lowers it if interrupts take long",
                                     Sure::kRead});
  }
}

}  // namespace pmuconf
