// SPDX-License-Identifier: Apache-2.0
// Capabilities: their names, and which of them a target file claims.
#include "target/target_claims.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace pmuconf {
namespace {

constexpr std::array<std::pair<Cap, std::string_view>, 44> kCapNames = {{
    {Cap::kStimulus, "stimulus"},
    {Cap::kPort, "port"},
    {Cap::kCounters, "counters"},
    {Cap::kSeveralEvents, "several_events"},
    {Cap::kQuietFork, "quiet_fork"},
    {Cap::kAnyTask, "any_task"},
    {Cap::kCpuScope, "cpu_scope"},
    {Cap::kSoftware, "software"},
    {Cap::kTracepoint, "tracepoint"},
    {Cap::kSampling, "sampling"},
    {Cap::kFrequency, "frequency"},
    {Cap::kManualClock, "manual_clock"},
    {Cap::kFixedCounters, "fixed_counters"},
    {Cap::kMultiplexing, "multiplexing"},
    {Cap::kConstraints, "constraints"},
    {Cap::kGenericEvents, "generic_events"},
    {Cap::kExcludes, "excludes"},
    {Cap::kBpf, "bpf"},
    {Cap::kCpus2, "cpus2"},
    {Cap::kSomeCpus, "some_cpus"},
    {Cap::kHotplug, "hotplug"},
    {Cap::kGroups, "groups"},
    {Cap::kCounters3, "counters3"},
    {Cap::kLongPeriods, "long_periods"},
    {Cap::kCompat, "compat"},
    {Cap::kAddresses, "addresses"},
    {Cap::kSingleEvents, "single_events"},
    {Cap::kUnwind, "unwind"},
    {Cap::kPrecise, "precise"},
    {Cap::kBranches, "branches"},
    {Cap::kTasks, "tasks"},
    {Cap::kSystemWide, "system_wide"},
    {Cap::kCounting, "counting"},
    {Cap::kTrace, "trace"},
    {Cap::kTraceExcludes, "trace_excludes"},
    {Cap::kTracePause, "trace_pause"},
    {Cap::kCacheEvents, "cache_events"},
    {Cap::kFilters, "filters"},
    {Cap::kOffCore, "off_core"},
    {Cap::kLoadLatency, "load_latency"},
    {Cap::kWide, "wide"},
    {Cap::kLog, "log"},
    {Cap::kUserReads, "user_reads"},
    {Cap::kBreakpoints, "breakpoints"},
}};

}  // namespace

std::string_view ToString(Cap cap) {
  for (const auto& [known, name] : kCapNames) {
    if (known == cap) return name;
  }
  return "?";
}

std::optional<Cap> CapFromString(std::string_view name) {
  for (const auto& [cap, known] : kCapNames) {
    if (known == name) return cap;
  }
  return std::nullopt;
}

const std::vector<Cap>& AllCaps() {
  static const std::vector<Cap> caps = [] {
    std::vector<Cap> all;
    for (const auto& [cap, name] : kCapNames) all.push_back(cap);
    return all;
  }();
  return caps;
}

bool HasExactStimulus(const EventClaim& claim) {
  switch (claim.stimulus) {
    case StimulusKind::kNone:
    case StimulusKind::kContextSwitches:
    case StimulusKind::kMigrations:
      return false;
    default:
      return claim.accuracy.exact();
  }
}

std::uint64_t Target::counter_mask() const { return LowBits(width_); }

std::optional<int> Target::refusal(const std::string& what) const {
  const auto it = refusals_.find(what);
  return it == refusals_.end() ? std::nullopt : std::optional(it->second);
}

bool Target::Claims(Cap cap) const {
  const auto any = [&](auto predicate) {
    return std::any_of(claims_.begin(), claims_.end(), predicate);
  };
  const auto stimulated = [](const EventClaim& e) { return e.stimulus != StimulusKind::kNone; };
  // In a target that has events with and without a stimulus, cases know the count only of those
  // with one.
  const auto useful = [&](const EventClaim& e) {
    return !port_.empty() || HasExactStimulus(e) || !any(stimulated);
  };
  switch (cap) {
    case Cap::kStimulus:
      return any(stimulated);
    case Cap::kSampling:
      return sampling_;
    case Cap::kBpf:
      // Programs on tracepoints and probes run at each event, not on overflow.
      return sampling_ && kind_ != "tracepoint" && kind_ != "kprobe" && kind_ != "uprobe";
    case Cap::kFrequency:
      return sampling_ && frequency_;
    case Cap::kManualClock:
      return any([](const EventClaim& e) { return e.stimulus == StimulusKind::kClock; });
    case Cap::kPort:
      return !port_.empty();
    case Cap::kCounters:
      return general_ > 0;
    case Cap::kSeveralEvents:
      return IndependentEvents() >= 3;
    case Cap::kQuietFork:
      return !any([](const EventClaim& e) {
        return e.stimulus == StimulusKind::kPageFaults ||
               e.stimulus == StimulusKind::kContextSwitches;
      });
    case Cap::kAnyTask:
      return any(stimulated) && !HasWork();
    case Cap::kSoftware:
      return kind_ == "software";
    case Cap::kTracepoint:
      return kind_ == "tracepoint";
    case Cap::kFixedCounters:
      return fixed_ > 0 &&
             any([&](const EventClaim& e) { return (e.counters >> kFixedBase) != 0 && useful(e); });
    case Cap::kMultiplexing:
      return kind_ == "core" && general_ > 0;
    case Cap::kConstraints:
      return any([&](const EventClaim& e) {
        return (e.counters & LowBits(general_)) != LowBits(general_) && useful(e);
      });
    case Cap::kGenericEvents:
      return any([&](const EventClaim& e) { return e.generic.has_value() && useful(e); });
    case Cap::kExcludes:
      return excludes_;
    case Cap::kGroups:
      return general_ + fixed_ >= 2 || Unlimited();
    case Cap::kCounters3:
      return general_ >= 3 || Unlimited();
    case Cap::kLongPeriods:
      return sampling_ && general_ > 0 && width_ <= 60;
    case Cap::kPrecise:
      return sampling_ && precise_ > 0;
    case Cap::kBranches:
      return sampling_ && branches_ > 0;
    case Cap::kCacheEvents:
      return !cache_claims_.empty();
    case Cap::kUserReads:
      return user_reads_;
    case Cap::kFilters:
      return filters_;
    case Cap::kOffCore:
      return any([](const EventClaim& e) { return e.response != 0; });
    case Cap::kLoadLatency:
      return any([](const EventClaim& e) { return e.latency != 0; });
    case Cap::kWide:
      return any([](const EventClaim& e) { return e.wide; });
    case Cap::kTasks:
      return kind_ != "uncore";
    case Cap::kSystemWide:
      return kind_ == "uncore";
    case Cap::kLog:
      return !port_.empty() && kind_ != "uncore";
    case Cap::kAddresses:
      return addresses_;
    case Cap::kSingleEvents:
      return sampling_ && min_period_ == 1;
    case Cap::kCounting:
      return kind_ != "trace";
    case Cap::kTrace:
      return kind_ == "trace";
    case Cap::kTraceExcludes:
      return trace_excludes_;
    case Cap::kTracePause:
      return trace_pause_;
    case Cap::kCpuScope:
    case Cap::kCompat:
    case Cap::kCpus2:
    case Cap::kSomeCpus:
    case Cap::kHotplug:
    case Cap::kBreakpoints:
    case Cap::kUnwind:
      return true;
  }
  return false;
}

bool Target::HasWork() const {
  return std::any_of(claims_.begin(), claims_.end(),
                     [](const EventClaim& e) { return e.stimulus == StimulusKind::kWork; });
}

bool Target::Unlimited() const { return general_ == 0 && kind_ != "trace"; }

std::size_t Target::IndependentEvents() const {
  std::set<std::pair<StimulusKind, std::uint64_t>> different;
  for (const EventClaim& claim : claims_) {
    if (!HasExactStimulus(claim)) continue;
    const std::uint64_t own = port_.empty() ? 0 : static_cast<std::uint64_t>(&claim - &claims_[0]);
    different.emplace(claim.stimulus,
                      claim.syscall.value_or(claim.watched.value_or(claim.code.value_or(own))));
  }
  return different.size();
}

}  // namespace pmuconf
