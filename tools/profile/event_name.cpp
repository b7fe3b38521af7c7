// SPDX-License-Identifier: Apache-2.0
// Names of events: generic events, cache events, raw codes, and events in sysfs.
#include "tools/profile/event_name.h"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "system/sysfs.h"
#include "tools/profile/options.h"

namespace pmuconf::profile {
namespace {

struct Generic {
  std::uint32_t type;
  std::uint64_t config;
};

const std::map<std::string, Generic, std::less<>>& Generics() {
  static const std::map<std::string, Generic, std::less<>> generics = {
      {"cycles", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}},
      {"cpu-cycles", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}},
      {"instructions", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}},
      {"cache-references", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES}},
      {"cache-misses", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}},
      {"branches", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS}},
      {"branch-instructions", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS}},
      {"branch-misses", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES}},
      {"bus-cycles", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES}},
      {"stalled-cycles-frontend", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND}},
      {"stalled-cycles-backend", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND}},
      {"ref-cycles", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES}},
      {"cpu-clock", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK}},
      {"task-clock", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}},
      {"page-faults", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}},
      {"minor-faults", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN}},
      {"major-faults", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ}},
      {"context-switches", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES}},
      {"cpu-migrations", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}},
      {"alignment-faults", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS}},
      {"emulation-faults", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS}},
  };
  return generics;
}

// Parses "LLC-load-misses" or "L1-dcache-stores".
std::optional<std::uint64_t> CacheConfig(std::string_view name) {
  constexpr std::array<std::string_view, 7> kCaches = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                                       "iTLB",      "branch",    "node"};
  constexpr std::array<std::string_view, 3> kCalls = {"load", "store", "prefetch"};
  for (std::uint64_t cache = 0; cache < kCaches.size(); ++cache) {
    for (std::uint64_t call = 0; call < kCalls.size(); ++call) {
      const std::string one = std::string(kCaches[cache]) + "-" + std::string(kCalls[call]);
      const std::uint64_t config = cache | call << 8;
      if (name == one + (kCalls[call] == "prefetch" ? "es" : "s")) return config;
      if (name == one + "-misses") return config | std::uint64_t{1} << 16;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> RawConfig(std::string_view name) {
  std::uint64_t config = 0;
  const char* const end = name.data() + name.size();
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  const auto [at, error] = std::from_chars(name.data() + 1, end, config, 16);
  return error == std::errc() && at == end ? std::optional(config) : std::nullopt;
}

[[noreturn]] void ThrowUnknown(const std::string& name, const std::string& why) {
  throw UserError("no event '" + name + "': " + why);
}

// Returns the terms of `text`. A name in the PMU's directory `events` stands for the terms in that
// file.
Terms TermsOf(const std::string& event, const std::string& pmu, const std::string& text) {
  const auto terms = ParseTerms(text);
  if (!terms) ThrowUnknown(event, "terms are written name=value,name=value");
  Terms all;
  for (const auto& term : *terms) {
    const auto file = ReadFile(pmu + "/events/" + term.first);
    if (!file) {
      all.push_back(term);
      continue;
    }
    const auto meant = ParseTerms(*file);
    if (!meant) ThrowUnknown(event, pmu + "/events/" + term.first + " is invalid");
    all.insert(all.end(), meant->begin(), meant->end());
  }
  return all;
}

std::string Names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

SampledEvent OfPmu(const std::string& event, const std::string& folder, const std::string& name,
                   const std::string& terms) {
  const std::string pmu = folder + "/" + name;
  const auto type = ReadFile(pmu + "/type");
  if (!type)
    ThrowUnknown(event, "there is no PMU '" + name + "'; there are: " + Names(ListFolder(folder)));
  const Terms all = TermsOf(event, pmu, terms);
  const auto formats = ReadFormats(pmu);
  const auto configs = EncodeTerms(all, formats);
  if (!configs) {
    std::vector<std::string> known = ListFolder(pmu + "/events");
    for (const auto& [field, format] : formats) known.push_back(field + "=");
    for (const char* const word : {"config=", "config1=", "config2="}) known.push_back(word);
    ThrowUnknown(
        event, "a term is unknown to " + name + ", or its value too large; known: " + Names(known));
  }
  SampledEvent found;
  const auto [at, error] = std::from_chars(type->data(), type->data() + type->size(), found.type);
  if (error != std::errc()) ThrowUnknown(event, pmu + "/type is not a number");
  found.config = configs->config;
  found.config1 = configs->config1;
  found.config2 = configs->config2;
  if (configs->config3 != 0 || configs->config4 != 0) {
    ThrowUnknown(event, "config3 and config4 are not supported");
  }
  for (const char* const file : {"/cpumask", "/cpus"}) {
    const auto cpus = ParseCpuList(ReadFile(pmu + file).value_or(""));
    if (cpus && !cpus->empty()) found.cpus = *cpus;
  }
  return found;
}

// Applies the modifiers "u" and "k".
void ApplyModifiers(const std::string& event, std::string_view modifiers, SampledEvent& found) {
  for (const char modifier : modifiers) {
    if (modifier == 'u') {
      found.exclude_kernel = true;
    } else if (modifier == 'k') {
      found.exclude_user = true;
    } else {
      ThrowUnknown(event, std::string("unknown modifier '") + modifier + "' (known: u, k)");
    }
  }
  if (found.exclude_kernel && found.exclude_user) {  // as in perf, ":uk" excludes nothing
    found.exclude_kernel = found.exclude_user = false;
  }
}

}  // namespace

SampledEvent CpuClock() {
  SampledEvent event;
  event.name = "cpu-clock";
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_CPU_CLOCK;
  return event;
}

SampledEvent FindEvent(const std::string& name, const std::string& folder) {
  const std::string_view text = name;
  const std::size_t slash = name.find('/');
  SampledEvent found;
  if (slash != std::string::npos) {
    const std::size_t last = name.rfind('/');
    if (last == slash)
      ThrowUnknown(name, "terms of a PMU must be between slashes, as in cpu/cycles/");
    found = OfPmu(name, folder, name.substr(0, slash), name.substr(slash + 1, last - slash - 1));
    std::string_view modifiers = text.substr(last + 1);
    if (modifiers.starts_with(':')) modifiers.remove_prefix(1);
    ApplyModifiers(name, modifiers, found);
  } else {
    const std::size_t colon = name.find(':');
    const std::string_view plain = text.substr(0, colon);
    if (const auto generic = Generics().find(plain); generic != Generics().end()) {
      found.type = generic->second.type;
      found.config = generic->second.config;
    } else if (const auto cache = CacheConfig(plain); cache) {
      found.type = PERF_TYPE_HW_CACHE;
      found.config = *cache;
    } else if (const auto raw = RawConfig(plain); raw) {
      found.type = PERF_TYPE_RAW;
      found.config = *raw;
    } else {
      ThrowUnknown(name,
                   "known are cycles, instructions, cpu-clock, LLC-load-misses, … , rHEX, and "
                   "PMU/EVENT/ of " +
                       folder);
    }
    if (colon != std::string::npos) ApplyModifiers(name, text.substr(colon + 1), found);
  }
  found.name = name;
  return found;
}

}  // namespace pmuconf::profile
