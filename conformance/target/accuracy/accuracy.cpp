// SPDX-License-Identifier: Apache-2.0
#include "target/accuracy/accuracy.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>
#include <sstream>

#include "perf/permission.h"
#include "stimulus/work/work.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "system/interrupts.h"
#include "system/sysfs.h"
#include "target/probe/experiments.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using Clock = std::chrono::steady_clock;

// Odd numbers: one command executes exactly that many instructions.
constexpr std::uint64_t kLengths[] = {1'001, 100'001, 4'000'001};
constexpr int kRounds = 5;

// Names whose meaning is the same on each processor that has them.
struct NamedWork {
  WorkKind kind;
  std::set<std::string> names;
};
const NamedWork kNamed[] = {
    {WorkKind::kInstructions, {"instructions", "inst_retired", "inst_retired.any"}},
    {WorkKind::kBranches,
     {"branches", "branch-instructions", "br_retired", "br_inst_retired.all_branches"}},
    {WorkKind::kLoads, {"L1-dcache-loads", "ld_retired", "mem_inst_retired.all_loads"}},
    {WorkKind::kStores, {"L1-dcache-stores", "st_retired", "mem_inst_retired.all_stores"}},
    {WorkKind::kCalls, {"calls", "br_inst_retired.near_call"}},
};

std::optional<WorkKind> WorkOfName(const std::string& name) {
  for (const NamedWork& named : kNamed) {
    if (named.names.contains(name)) return named.kind;
  }
  return std::nullopt;
}

OpenResult OpenFor(const EventSpec& spec, pid_t worker, bool disabled = true) {
  return ProbedPmu::OpenAt(spec, {.pid = worker, .disabled = disabled, .exclude_kernel = true});
}

std::optional<std::uint64_t> CountOne(const EventSpec& spec, Worker& worker, WorkKind kind,
                                      std::uint64_t length) {
  const OpenResult opened = OpenFor(spec, worker.pid());
  if (!opened.ok() || !opened.event.TryEnable().ok()) return std::nullopt;
  worker.Run(kind, length);
  opened.event.Disable();
  return opened.event.Read().value;
}

std::vector<TruthRun> MeasureWork(const EventSpec& spec, Worker& worker, WorkKind kind) {
  std::vector<TruthRun> runs;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::uint64_t length : kLengths) {
      const std::uint64_t before = InterruptsOf(EventCpu());
      const auto count = CountOne(spec, worker, kind, length);
      if (!count) return {};
      runs.push_back({length, *count, InterruptsOf(EventCpu()) - before});
    }
  }
  return runs;
}

EventAccuracy MeasureEvent(const std::string& name, const EventSpec& spec, Worker& worker) {
  EventAccuracy best = {.name = name, .work = {}, .finding = {}};
  if (const auto kind = WorkOfName(name)) {
    best.work = ToString(*kind);
    best.named = true;
    best.finding = Classify(MeasureWork(spec, worker, *kind));
    return best;
  }
  for (const WorkKind kind : kWorkKinds) {
    AccuracyFinding found = Classify(MeasureWork(spec, worker, kind));
    if (found.kind >= best.finding.kind) continue;
    best.finding = std::move(found);
    best.work = ToString(kind);
    if (best.finding.kind == AccuracyClass::kExact) break;
  }
  return best;
}

struct Candidate {
  std::string name;
  EventSpec spec;
};

// The events of sysfs, and the generic ones that this PMU counts.
std::vector<Candidate> Candidates(const ProbedPmu& pmu, PmuFacts* facts) {
  FindEvents(pmu, facts);
  std::vector<Candidate> found;
  for (const EventFacts& event : facts->events) found.push_back({event.name, event.spec});
  const auto add = [&](const char* name, std::uint32_t type, std::uint64_t config) {
    EventSpec spec;
    spec.type = type;
    spec.config = config | static_cast<std::uint64_t>(facts->type) << PERF_PMU_TYPE_SHIFT;
    const bool known =
        std::ranges::any_of(found, [&](const Candidate& other) { return other.name == name; });
    if (!known && pmu.Open(spec).ok()) found.push_back({name, spec});
  };
  constexpr auto kCache = [](std::uint64_t operation) {
    return PERF_COUNT_HW_CACHE_L1D | operation << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16;
  };
  add("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  add("branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
  add("L1-dcache-loads", PERF_TYPE_HW_CACHE, kCache(PERF_COUNT_HW_CACHE_OP_READ));
  add("L1-dcache-stores", PERF_TYPE_HW_CACHE, kCache(PERF_COUNT_HW_CACHE_OP_WRITE));
  return found;
}

void MeasureCpus(const EventSpec& spec, WorkKind kind, PmuAccuracy* accuracy) {
  constexpr std::uint64_t kLength = 1'001;
  const int home = CurrentCpu();
  std::optional<std::uint64_t> want;
  for (const int cpu : OnlineCpus()) {
    PinTo(cpu);
    Worker worker;
    const auto count = CountOne(spec, worker, kind, kLength);
    if (!count) continue;  // the PMU belongs to other CPUs
    accuracy->cpus.push_back(cpu);
    if (!want) want = count;
    if (*count == 0 || *count != *want) {
      accuracy->bad_cpus.push_back("CPU " + std::to_string(cpu) + " counted " +
                                   std::to_string(*count) + " of " + std::to_string(kLength));
    }
  }
  PinTo(home);
}

void MeasureMultiplexing(const EventSpec& spec, WorkKind kind, Worker& worker,
                         PmuAccuracy* accuracy) {
  constexpr std::uint64_t kLength = 400'001;
  constexpr int kCommands = 100;
  for (const unsigned number : {1u, 4u, 8u, 16u, 32u}) {
    std::vector<Event> events;
    for (unsigned i = 0; i < number; ++i) {
      OpenResult opened = OpenFor(spec, worker.pid(), false);
      if (!opened.ok()) return;
      events.push_back(std::move(opened.event));
    }
    for (int i = 0; i < kCommands; ++i) worker.Run(kind, kLength);
    const double truth = static_cast<double>(kLength) * kCommands;
    double error = 0;
    for (const Event& event : events) {
      const Reading reading = event.Read();
      const double share = reading.time_running == 0
                               ? 0
                               : static_cast<double>(reading.time_enabled) /
                                     static_cast<double>(reading.time_running);
      error += std::abs(static_cast<double>(reading.value) * share - truth) / truth;
    }
    accuracy->multiplexing.push_back({number, error / number});
  }
}

// Returns the time of one call of `action`, in microseconds: the shortest of several batches.
template <typename Action>
double Cost_us(const Action& action) {
  constexpr int kBatches = 5, kCalls = 200;
  double best = HUGE_VAL;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) action();
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    best = std::min(best, time.count() / kCalls);
  }
  return best;
}

void MeasureCosts(const EventSpec& spec, Worker& worker, PmuAccuracy* accuracy) {
  const OpenResult opened = OpenFor(spec, worker.pid());
  if (!opened.ok()) return;
  accuracy->read_us = Cost_us([&] { opened.event.Read(); });
  accuracy->open_us = Cost_us([&] { OpenFor(spec, worker.pid()); });
}

}  // namespace

PmuAccuracy MeasureAccuracy(const std::string& name) {
  if (const auto refused = WhyEventsDenied()) {
    throw ConfigError(std::string(Phrase(refused->skip_reason)) + ": " + refused->reason);
  }
  PmuFacts facts;
  facts.device = name;
  const ProbedPmu pmu(&facts);
  if (pmu.per_cpu() || facts.kind == "trace") {
    throw ConfigError("the events of PMU '" + name + "' cannot follow a task: no work is known");
  }
  PmuAccuracy accuracy;
  try {
    Worker worker;
    const std::vector<Candidate> candidates = Candidates(pmu, &facts);
    const Candidate* truest = nullptr;
    const EventAccuracy* measured = nullptr;
    accuracy.events.reserve(candidates.size());
    for (const Candidate& candidate : candidates) {
      accuracy.events.push_back(MeasureEvent(candidate.name, candidate.spec, worker));
      const EventAccuracy& latest = accuracy.events.back();
      if (measured != nullptr && latest.finding.kind >= measured->finding.kind) continue;
      truest = &candidate;
      measured = &latest;
    }
    if (measured == nullptr || measured->finding.kind > AccuracyClass::kBounded) return accuracy;
    const WorkKind kind = *WorkKindFromString(measured->work);
    MeasureMultiplexing(truest->spec, kind, worker, &accuracy);
    MeasureCosts(truest->spec, worker, &accuracy);
    MeasureCpus(truest->spec, kind, &accuracy);
  } catch (const Broken& broken) {
    throw ConfigError("measuring " + name + ": " + broken.what());
  }
  return accuracy;
}

}  // namespace pmuconf
