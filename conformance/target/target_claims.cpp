// SPDX-License-Identifier: Apache-2.0
// Capabilities: their names, and which of them a target file claims.
#include "target/target_claims.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "stimulus/page.h"

namespace pmuconf {
namespace {

struct CapText {
  Cap cap;
  std::string_view name;
  std::string_view condition;  // a target has it if
};

constexpr std::array<CapText, 47> kCapTexts = {{
    {Cap::kStimulus, "stimulus", "an event has a stimulus"},
    {Cap::kPort, "port", "it has a port"},
    {Cap::kRegisters, "registers", "it has a port that is not a page of a device"},
    {Cap::kCounters, "counters", "it has [counters]"},
    {Cap::kSeveralEvents, "several_events", "three events are exact and have independent stimuli"},
    {Cap::kQuietFork, "quiet_fork", "no stimulus is page_faults or context_switches"},
    {Cap::kAnyTask, "any_task", "an event has a stimulus, and none is work"},
    {Cap::kCpuScope, "cpu_scope", "two CPUs are online, or no stimulus is work"},
    {Cap::kSoftware, "software", "its kind is software"},
    {Cap::kTracepoint, "tracepoint", "its kind is tracepoint"},
    {Cap::kSampling, "sampling", "it has [sampling]"},
    {Cap::kFrequency, "frequency", "it has [sampling] with frequency"},
    {Cap::kManualClock, "manual_clock", "the stimulus of an event is clock"},
    {Cap::kFixedCounters, "fixed_counters", "it has a fixed counter, and a suitable event for it"},
    {Cap::kMultiplexing, "multiplexing", "its kind is core"},
    {Cap::kConstraints, "constraints", "some event cannot use every general counter"},
    {Cap::kGenericEvents, "generic_events", "a suitable event has generic"},
    {Cap::kExcludes, "excludes", "[features] has excludes"},
    {Cap::kBpf, "bpf", "the kernel has BPF, it has [sampling], and its kind is not tracepoint"},
    {Cap::kCpus2, "cpus2", "two CPUs of the PMU are online"},
    {Cap::kSomeCpus, "some_cpus", "a CPU that the PMU does not cover is online"},
    {Cap::kHotplug, "hotplug", "the second CPU of the PMU can go offline"},
    {Cap::kGroups, "groups",
     "it has at least two counters, or nothing limits its events; and [features] keeps groups"},
    {Cap::kCounters3, "counters3", "as groups, with three general counters"},
    {Cap::kLongPeriods, "long_periods", "it has [sampling], and counters of at most 60 bits"},
    {Cap::kCompat, "compat", "the machine runs 32-bit programs, too"},
    {Cap::kAddresses, "addresses", "[features] has addresses"},
    {Cap::kSingleEvents, "single_events", "it has [sampling] with a min_period of 1"},
    {Cap::kUnwind, "unwind",
     "the kernel defers the unwinding of user space: x86, since Linux 6.19"},
    {Cap::kPrecise, "precise", "it has [sampling] with precise"},
    {Cap::kBranches, "branches", "it has [sampling] with branches"},
    {Cap::kTasks, "tasks", "it is not an uncore PMU"},
    {Cap::kSystemWide, "system_wide", "it is an uncore PMU"},
    {Cap::kPolled, "polled", "[counters] has read_by = timer"},
    {Cap::kOwnCounters, "own_counters", "[features] lacks shared_counters"},
    {Cap::kCounting, "counting", "it is not a trace"},
    {Cap::kTrace, "trace", "its kind is trace"},
    {Cap::kTraceExcludes, "trace_excludes", "its kind is trace, and it claims excludes"},
    {Cap::kTracePause, "trace_pause", "its kind is trace, and it claims pause"},
    {Cap::kCacheEvents, "cache_events", "it has a [[cache]]"},
    {Cap::kFilters, "filters", "[features] has filters"},
    {Cap::kOffCore, "off_core", "an event has response"},
    {Cap::kLoadLatency, "load_latency", "an event has latency"},
    {Cap::kWide, "wide", "an event has wide"},
    {Cap::kLog, "log", "it has registers, and is not an uncore PMU"},
    {Cap::kUserReads, "user_reads", "[features] has user_reads"},
    {Cap::kBreakpoints, "breakpoints", "the kernel has the PMU breakpoint"},
}};

}  // namespace

std::string_view ToString(Cap cap) {
  for (const CapText& text : kCapTexts) {
    if (text.cap == cap) return text.name;
  }
  return "?";
}

std::string_view ConditionOf(std::string_view name) {
  const auto text = std::ranges::find(kCapTexts, name, &CapText::name);
  return text == kCapTexts.end() ? "" : text->condition;
}

std::optional<Cap> CapFromString(std::string_view name) {
  for (const CapText& text : kCapTexts) {
    if (text.name == name) return text.cap;
  }
  return std::nullopt;
}

const std::vector<Cap>& AllCaps() {
  static const std::vector<Cap> caps = [] {
    std::vector<Cap> all;
    for (const CapText& text : kCapTexts) all.push_back(text.cap);
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

unsigned Target::width(const EventSpec& spec) const {
  const bool only_fixed = spec.counters != 0 && (spec.counters & LowBits(kFixedBase)) == 0;
  return only_fixed ? fixed_width_ : width_;
}

std::uint64_t Target::counter_mask(const EventSpec& spec) const { return LowBits(width(spec)); }

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
  const auto useful = [&](const EventClaim& e) { return CanHappen(e) || !any(stimulated); };
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
    case Cap::kRegisters:
      return !port_.empty() && !HasPage();
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
      return groups_ && (general_ + fixed_ >= 2 || Unlimited());
    case Cap::kCounters3:
      return groups_ && (general_ >= 3 || Unlimited());
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
    case Cap::kPolled:
      return polled_;
    case Cap::kOwnCounters:
      return !shared_counters_;
    case Cap::kLog:
      return Claims(Cap::kRegisters) && kind_ != "uncore";
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

bool Target::HasPage() const { return ParsePagePath(port_).has_value(); }

// All events of a port are exact.
bool Target::CanHappen(const EventClaim& claim) const {
  if (port_.empty() || Unlimited()) return HasExactStimulus(claim);
  return claim.stimulus != StimulusKind::kNone;
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
