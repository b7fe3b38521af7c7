// SPDX-License-Identifier: Apache-2.0
// What a target can do, and its events as sysfs shows them.
#include "pmuconf/target.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>

#include "pmuconf/broken.h"
#include "pmuconf/cpu.h"
#include "pmuconf/sysfs.h"

namespace pmuconf {
namespace {

constexpr std::array<std::pair<Cap, std::string_view>, 14> kCapNames = {{
    {Cap::kStimulus, "stimulus"},
    {Cap::kSampling, "sampling"},
    {Cap::kFrequency, "frequency"},
    {Cap::kManualClock, "manual_clock"},
    {Cap::kRegisters, "registers"},
    {Cap::kFixedCounters, "fixed_counters"},
    {Cap::kMultiplexing, "multiplexing"},
    {Cap::kConstraints, "constraints"},
    {Cap::kGenericEvents, "generic_events"},
    {Cap::kExcludes, "excludes"},
    {Cap::kBpf, "bpf"},
    {Cap::kCpus2, "cpus2"},
    {Cap::kHotplug, "hotplug"},
    {Cap::kGroups, "groups"},
}};

std::uint64_t LowBits(unsigned n) { return n >= 64 ? ~0ULL : (1ULL << n) - 1; }

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

std::uint64_t Target::counter_mask() const { return LowBits(width_); }

std::optional<int> Target::refusal(const std::string& what) const {
  const auto it = refusals_.find(what);
  return it == refusals_.end() ? std::nullopt : std::optional(it->second);
}

bool Target::Claims(Cap cap) const {
  const auto any = [&](auto predicate) {
    return std::any_of(claims_.begin(), claims_.end(), predicate);
  };
  switch (cap) {
    case Cap::kStimulus:
      return any([](const EventClaim& e) { return e.stimulus != StimulusKind::kNone; });
    case Cap::kSampling:
    case Cap::kBpf:
      return sampling_;
    case Cap::kFrequency:
      return sampling_ && frequency_;
    case Cap::kManualClock:
      return any([](const EventClaim& e) { return e.stimulus == StimulusKind::kClock; });
    case Cap::kRegisters:
      return !port_.empty();
    case Cap::kFixedCounters:
      return fixed_ > 0;
    case Cap::kMultiplexing:
      return kind_ == "core";
    case Cap::kConstraints:
      return any([&](const EventClaim& e) {
        return (e.counters & LowBits(general_)) != LowBits(general_);
      });
    case Cap::kGenericEvents:
      return any([](const EventClaim& e) { return e.generic.has_value(); });
    case Cap::kExcludes:
      return excludes_;
    case Cap::kGroups:
      return general_ + fixed_ >= 2;
    case Cap::kCpus2:
    case Cap::kHotplug:
      return true;
  }
  return false;
}

bool Target::Has(Cap cap) const {
  if (!Claims(cap)) return false;
  switch (cap) {
    case Cap::kBpf:
      return access("/proc/sys/kernel/unprivileged_bpf_disabled", F_OK) == 0;
    case Cap::kCpus2:
      return OnlineCpus().size() >= 2;
    case Cap::kHotplug:
      return access("/sys/devices/system/cpu/cpu1/online", F_OK) == 0;
    default:
      return true;
  }
}

void Target::Resolve(const std::string& pmu) {
  const std::string pattern = pmu.empty() ? match_ : pmu;
  for (const std::string& device : ListFolder(kEventSource)) {
    if (fnmatch(pattern.c_str(), device.c_str(), 0) != 0) continue;
    const std::string path = std::string(kEventSource) + "/" + device + "/type";
    const auto type = ReadFile(path);
    if (!type || type->empty() || type->find_first_not_of("0123456789") != std::string::npos) {
      throw Broken(path + " is no number");
    }
    type_ = static_cast<std::uint32_t>(std::stoul(*type));
    device_ = device;
    return;
  }
  throw Broken("no PMU matches '" + pattern + "' in " + kEventSource);
}

EventSpec Target::ResolveClaim(const EventClaim& claim) const {
  if (!resolved()) throw Broken("event " + claim.name + ": the target is not resolved yet");
  EventSpec spec;
  spec.name = claim.name;
  spec.type = type_;
  spec.stimulus = claim.stimulus;
  spec.ticks = claim.ticks;
  spec.counters = claim.counters;
  spec.generic = claim.generic;
  spec.accuracy = claim.accuracy;
  if (claim.code) {
    spec.code = *claim.code;
    spec.config = *claim.code;
    return spec;
  }
  const std::string folder = std::string(kEventSource) + "/" + device_;
  const std::string path = folder + "/events/" + claim.name;
  const auto text = ReadFile(path);
  const auto terms = text ? ParseTerms(*text) : std::nullopt;
  if (!terms) throw Broken(path + " is no event (the target file claims it)");
  std::map<std::string, FormatField> formats;
  for (const auto& [name, value] : *terms) {
    const auto format = ReadFile(folder + "/format/" + name);
    const auto field = format ? ParseFormat(*format) : std::nullopt;
    if (!field)
      throw Broken(folder + "/format/" + name + " is no format, and " + path + " uses it");
    formats[name] = *field;
    if (name == "event") spec.code |= static_cast<std::uint16_t>(value & 0xff);
    if (name == "umask") spec.code |= static_cast<std::uint16_t>((value & 0xff) << 8);
  }
  const auto configs = EncodeTerms(*terms, formats);
  if (!configs) throw Broken(path + ": a term does not fit its format");
  spec.config = configs->config;
  spec.config1 = configs->config1;
  spec.config2 = configs->config2;
  return spec;
}

EventSpec Target::Event(std::string_view name) const {
  for (const EventClaim& claim : claims_) {
    if (claim.name == name) return ResolveClaim(claim);
  }
  throw Broken("target " + name_ + " has no event " + std::string(name));
}

std::vector<EventSpec> Target::Events(const EventWish& wish) const {
  std::vector<EventSpec> specs;
  const std::uint64_t all = LowBits(general_);
  for (const EventClaim& claim : claims_) {
    const bool everywhere = (claim.counters & all) == all;
    if (wish.stimulus && claim.stimulus != *wish.stimulus) continue;
    if (wish.any_general && !everywhere) continue;
    if (wish.constrained && everywhere) continue;
    if (wish.fixed && (claim.counters >> 32) == 0) continue;
    if (wish.generic && !claim.generic) continue;
    specs.push_back(ResolveClaim(claim));
  }
  if (specs.empty()) throw Broken("target " + name_ + " has no event as the case wishes it");
  return specs;
}

EventSpec Target::AnyEvent() const { return AnyEvents(1).front(); }

std::vector<EventSpec> Target::AnyEvents(std::size_t n) const {
  const auto known = Events({.stimulus = StimulusKind::kPulse, .any_general = true});
  std::vector<EventSpec> specs;
  for (std::size_t i = 0; i < n; ++i) specs.push_back(known[i % known.size()]);
  return specs;
}

void Target::Stimulate(const EventSpec& spec, std::uint64_t n, const PulseOptions& options) const {
  switch (spec.stimulus) {
    case StimulusKind::kPulse:
      port().Pulse(spec.code, n, options);
      return;
    case StimulusKind::kClock:
      port().Advance(n * spec.ticks, options);
      return;
    case StimulusKind::kNone:
      throw Broken("event " + spec.name + " has no stimulus");
  }
}

}  // namespace pmuconf
