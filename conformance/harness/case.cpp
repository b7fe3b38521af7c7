// SPDX-License-Identifier: Apache-2.0
// The registry of cases, and the fixture around the body of a case.
#include "harness/case.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arch/arch.h"
#include "harness/newer_kernel.h"
#include "harness/uses.h"
#include "perf/permission.h"
#include "rules/DRC.h"
#include "stimulus/stimuli.h"
#include "stimulus/work/work.h"
#include "system/context.h"
#include "system/cpu.h"
#include "system/sysctl.h"
#include "target/expression.h"
#include "target/target_of_process.h"

namespace pmuconf {
namespace {

std::vector<CaseInfo>& Registry() {
  static std::vector<CaseInfo> cases;
  return cases;
}

[[noreturn]] void AbortRegistration(const CaseInfo& info, std::string_view why) {
  std::cerr << info.file << ":" << info.line << ": case " << info.Id() << " " << why << "\n";
  std::abort();
}

// Sorting by suite and name gives the order of the ids: no character in a name sorts before the
// dot.
const std::vector<CaseInfo>& Sorted(std::vector<CaseInfo>& cases) {
  const auto parts = [](const CaseInfo& info) { return std::tie(info.suite, info.name); };
  std::sort(cases.begin(), cases.end(),
            [&](const CaseInfo& a, const CaseInfo& b) { return parts(a) < parts(b); });
  const auto twice = std::adjacent_find(
      cases.begin(), cases.end(),
      [&](const CaseInfo& a, const CaseInfo& b) { return parts(a) == parts(b); });
  if (twice != cases.end()) AbortRegistration(*twice, "is defined twice");
  for (const std::string& id : IdsWithUses()) {
    const auto named = [&](const CaseInfo& info) { return info.Id() == id; };
    if (std::none_of(cases.begin(), cases.end(), named)) {
      std::cerr << "CASE_USES names " << id << ", which is no case\n";
      std::abort();
    }
  }
  return cases;
}

// __FILE__ is the path in the build; reports show the path from the project's root.
std::string RelativeToRoot(const std::string& file) {
  const std::size_t at = file.rfind("conformance/");
  return at == std::string::npos ? file : file.substr(at);
}

// A capability that the target file claims may still be absent on this machine.
SkipReason SkipReasonFor(Cap cap) {
  return target().Claims(cap) ? SkipReason::kKernelLacks : SkipReason::kNotClaimed;
}

// The features that a capability consists of. The target file claims none of them.
std::vector<Feature> FeaturesOf(Cap cap) {
  switch (cap) {
    case Cap::kBpf:
      return {Feature::kBpfCall, Feature::kBpfEvents};
    case Cap::kCpus2:
      return {Feature::kProcessors};
    case Cap::kCompat:
      return processor::kCompatCalls ? std::vector{Feature::kCompatCalls} : std::vector<Feature>{};
    default:
      return {};
  }
}

[[noreturn]] void SkipFor(Cap cap) {
  const std::string capability(ToString(cap));
  const std::string needs = "needs " + capability;
  const SkipReason reason = SkipReasonFor(cap);
  if (reason == SkipReason::kKernelLacks) {
    for (const Feature feature : FeaturesOf(cap)) {
      if (const auto lacking = WhyLacking(feature)) {
        throw Skipped{lacking->skip_reason, needs + ": " + lacking->reason, capability};
      }
    }
  }
  throw Skipped{reason, needs, capability};
}

// A target whose events are system calls needs their tracepoints: otherwise it does not resolve.
void CheckEventsExist() {
  const auto is_call = [](const EventClaim& claim) { return claim.name.starts_with("syscalls:"); };
  if (target().kind() != "tracepoint" || std::ranges::none_of(target().claims(), is_call)) return;
  // Without tracepoints there is no such PMU, which is another reason.
  if (!KernelHas(Feature::kTracepoints)) return;
  if (const auto lacking = WhyLacking(Feature::kSyscallEvents)) throw Skipped{*lacking};
}

void CheckApplies(const CaseMeta& meta) {
  const std::string release = KernelRelease();
  if (!KernelMatches(target().kernel(), release)) {
    throw Broken("target " + target().name() + " is for kernels " + target().kernel());
  }
  const std::string described = ReleaseForRules(target(), release);
  const bool of_traces =
      std::find(meta.needs.begin(), meta.needs.end(), Cap::kTrace) != meta.needs.end();
  if (!of_traces && !target().Has(Cap::kCounting)) {
    SkipFor(Cap::kCounting);
  }
  for (const Cap cap : meta.needs) {
    if (!target().Has(cap)) SkipFor(cap);
  }
  if (!meta.kernels.empty() && !KernelMatches(meta.kernels, described)) {
    throw Skipped{SkipReason::kKernelLacks, "needs kernel " + meta.kernels};
  }
  for (const Rule& rule : meta.rules) {
    const std::string id(rule.id);
    if (!KernelMatches(rule.kernels, described)) {
      throw Skipped{SkipReason::kKernelLacks, id + " needs kernel " + std::string(rule.kernels)};
    }
    const auto claims = [](Cap cap) { return target().Claims(cap); };
    const auto has = [](Cap cap) { return target().Has(cap); };
    if (EvaluateApplies(rule.applies, has)) continue;
    const bool claimed = EvaluateApplies(rule.applies, claims);
    throw Skipped{claimed ? SkipReason::kKernelLacks : SkipReason::kNotClaimed,
                  id + " applies only to: " + std::string(rule.applies)};
  }
  const auto same = [&meta](const CaseInfo& info) { return &info.meta == &meta; };
  const auto own = std::ranges::find_if(AllCases(), same);
  if (own == AllCases().end()) return;
  for (const Feature feature : UsesOf(own->Id())) {
    if (const auto lacking = WhyLacking(feature)) throw Skipped{*lacking};
  }
}

// Converts an exception from the body to the result: SKIP (not permitted) if this process lacks a
// privilege, otherwise BROKEN.
void RecordError(const std::exception& error) {
  Context& c = context();
  const bool denied = c.failed_call.text == error.what() &&
                      (c.failed_call.error == EPERM || c.failed_call.error == EACCES);
  if (!denied || Privileged()) {
    c.broken = error.what();
    return;
  }
  c.skipped = error.what();
  c.skip_reason = SkipReason::kNotPermitted;
}

bool PortHasCpu(int cpu) {
  refpmu_stats stats = {};
  stats.size = sizeof(stats);
  stats.cpu = cpu;
  return port().TryIoctl(REFPMU_IOC_STATS, &stats).error != ENXIO;
}

// The kernel may free events of the previous case later: an event in a BPF map lives for another
// grace period, and a worker frees it. The function waits until they are gone, at most two seconds,
// which is many grace periods. If a driver reports live events for ever, the cases detect that.
void AwaitNoEvents(int cpu) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (port().Stats(cpu).live_events != 0 && std::chrono::steady_clock::now() < deadline) {
    sched_yield();
  }
}

// Resets the port before and after the body, also after an exception.
class PortOfCase {
 public:
  PortOfCase() : used_(!target().port_path().empty()) {
    if (!used_) return;
    // The port may not know a CPU that sysfs lists. Then that CPU has no PMU, which the cases
    // detect.
    std::vector<int> cpus = target().Cpus();
    std::erase_if(cpus, [](int cpu) { return !PortHasCpu(cpu); });
    // A case that is not pinned may run on a CPU without the PMU.
    if (!cpus.empty()) AwaitNoEvents(cpus.front());
    port().Reset();
    if (!target().Claims(Cap::kManualClock)) return;
    for (const int cpu : cpus) port().SetManualClock(cpu, true);
  }
  PortOfCase(const PortOfCase&) = delete;
  void Reset() {
    if (used_) port().Reset();
    used_ = false;
  }
  ~PortOfCase() {
    try {
      Reset();
    } catch (const Broken& broken) {
      if (!context().broken) context().broken = broken.what();
    }
  }

 private:
  bool used_;
};

}  // namespace

bool RegisterCase(CaseInfo info) {
  info.file = RelativeToRoot(info.file);
  if (info.meta.rules.empty()) AbortRegistration(info, "names no rule");
  Registry().push_back(std::move(info));
  return true;
}

// Sorts once. Sorted insertion at registration would take half the time of a short case.
std::span<const CaseInfo> AllCases() {
  static const std::vector<CaseInfo>& cases = Sorted(Registry());
  return cases;
}

void SkipCase(Cap missing, std::string_view reason) {
  const std::string capability(ToString(missing));
  throw Skipped{SkipReason::kKernelLacks, "needs " + capability + ": " + std::string(reason),
                capability};
}

int Case::NumberAt(std::string_view dimension) const {
  const auto chosen = std::ranges::find(at_, dimension, &ChosenValue::dimension);
  if (chosen == at_.end()) {
    throw Broken("the case does not declare the dimension " + std::string(dimension));
  }
  return chosen->value.number;
}

bool Case::Declares(std::string_view dimension) const {
  return std::ranges::find(at_, dimension, &ChosenValue::dimension) != at_.end();
}

bool Case::Needs(Cap cap) const {
  return std::find(meta_.needs.begin(), meta_.needs.end(), cap) != meta_.needs.end();
}

void Case::Prepare() const {
  const int cpu = meta_.cpu < 0 ? -1 : static_cast<int>(AtOr(static_cast<dim::Cpu>(meta_.cpu)));
  if (cpu >= 0) PinTo(target().Cpu(static_cast<std::size_t>(cpu)));
  if (!target().Claims(Cap::kQuietFork)) PrepareFaults();
  if (Needs(Cap::kStimulus) && target().HasWork()) {
    StartWorker();
    if (Needs(Cap::kSampling)) StartedWorker()->RunInSteps(target().min_period());
  }
  if (target().Claims(Cap::kSampling)) SampleRateLimit::Set(SampleRateLimit::kNoLimit);
}

void Case::RunOnce() {
  Prepare();
  PortOfCase port_of_case;
  context().in_body = true;
  Body();
  context().in_body = false;
  port_of_case.Reset();
}

void Case::Sweep() {
  const auto has = [](Cap cap) { return target().Has(cap); };
  const auto combinations = Combinations(Available(Restrict(meta_.over, context().at), has));
  if (combinations.empty()) {
    throw Skipped{SkipReason::kNotClaimed, "no combination of dimensions is available"};
  }
  for (const Combination& combination : combinations) {
    at_ = combination;
    if (at_.empty()) return RunOnce();
    context().current = ToString(at_);
    std::cerr << "at " << context().current << "\n";  // the message after a timeout has this line
    SCOPED_TRACE("at " + context().current);
    RunOnce();
    if (HasFailure()) return;
    context().current.clear();
  }
}

void Case::TestBody() {
  try {
    ShowTraceFs();
    CheckEventsExist();
    ResolveTarget(context().pmu);
    CheckApplies(meta_);
    if (const auto refused = WhyEventsDenied())
      throw Skipped{refused->skip_reason, refused->reason};
    Sweep();
  } catch (...) {
    RecordException();
  }
  context().in_body = false;
  // A call failed for lack of a privilege, and that may be why an expectation failed.
  if (HasFailure() && context().denied && !Privileged()) {
    context().skipped = "a call failed with EPERM or EACCES, and this process is not privileged";
    context().skip_reason = SkipReason::kNotPermitted;
  }
}

void RecordException() {
  try {
    throw;
  } catch (const Skipped& skipped) {
    context().skipped = skipped.reason;
    context().skip_reason = skipped.skip_reason;
    context().lacking = skipped.capability;
  } catch (const Violation& violation) {
    context().stuck = true;
    ADD_FAILURE() << violation.text << "\nrule " << rule::DRC_074.id << ": " << rule::DRC_074;
  } catch (const NoSuchPmu& missing) {
    context().skipped = missing.what();
    context().skip_reason = SkipReason::kNoSuchPmu;
  } catch (const std::exception& error) {
    RecordError(error);
  }
}

}  // namespace pmuconf
