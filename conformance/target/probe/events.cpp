// SPDX-License-Identifier: Apache-2.0
// Finds the events of a PMU, and their generic names.
#include <algorithm>
#include <cstdlib>
#include <exception>

#include "system/sysfs.h"
#include "target/probe/experiments.h"
#include "target/probe/names.h"
#include "target/target.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kNumbersTried = 64;
constexpr std::size_t kMostNumbers = 16;

bool AnyOf(std::string_view name, const std::array<const char*, 3>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

EventSpec SpecOf(const PmuFacts& facts, std::uint64_t config) {
  EventSpec spec;
  spec.type = facts.type;
  spec.config = config;
  return spec;
}

void AddEvent(const ProbedPmu& pmu, const std::string& name, const EventSpec& spec,
              PmuFacts* facts) {
  const OpenResult opened = pmu.Open(spec);
  if (!opened.ok()) {
    facts->omitted.emplace_back(name, "open " + ErrnoText(opened.error));
    return;
  }
  EventFacts event;
  event.name = name;
  event.spec = spec;
  facts->events.push_back(event);
}

// Resolves an event of sysfs as the suite does for a target file.
EventSpec Resolve(const PmuFacts& facts, const std::string& name) {
  const std::string text = "[target]\nname = \"probe\"\nmatch = \"" + facts.device +
                           "\"\nkind = \"" + facts.kind +
                           "\"\n[counters]\ngeneral = 1\nwidth = 64\n[[event]]\nname = \"" + name +
                           "\"\ncounters = \"0\"\naccuracy = \"exact\"\n";
  Target target = Target::Parse(text, "probe");
  target.Resolve(facts.device);
  return target.Event(name);
}

void FindSoftware(const ProbedPmu& pmu, PmuFacts* facts) {
  facts->names_how = "as perf calls it";
  for (std::uint64_t number = 0; number < kSoftwareNames.size(); ++number) {
    AddEvent(pmu, kSoftwareNames[number], SpecOf(*facts, number), facts);
  }
}

void FindTracepoints(const ProbedPmu& pmu, PmuFacts* facts) {
  facts->names_how = "of tracefs";
  for (const std::string name : kTracepointNames) {
    std::string folder = name;
    std::replace(folder.begin(), folder.end(), ':', '/');
    const auto id = ReadFile("/sys/kernel/tracing/events/" + folder + "/id");
    if (id) AddEvent(pmu, name, SpecOf(*facts, std::strtoull(id->c_str(), nullptr, 10)), facts);
  }
}

void FindNumbers(const ProbedPmu& pmu, PmuFacts* facts) {
  for (std::uint64_t number = 0; number < kNumbersTried; ++number) {
    if (facts->events.size() == kMostNumbers) return;
    const EventSpec spec = SpecOf(*facts, number);
    if (!pmu.Open(spec).ok()) continue;
    AddEvent(pmu, "config-" + std::to_string(number), spec, facts);
    facts->events.back().code = static_cast<std::uint16_t>(number);
  }
}

}  // namespace

void FindEvents(const ProbedPmu& pmu, PmuFacts* facts) {
  for (const std::string& name : ListFolder(FolderOf(facts->device) + "/events")) {
    if (name.find('.') != std::string::npos) continue;  // a scale, a unit, a snapshot
    try {
      AddEvent(pmu, name, Resolve(*facts, name), facts);
    } catch (const std::exception& error) {
      facts->omitted.emplace_back(name, error.what());
    }
  }
  if (facts->kind == "software") FindSoftware(pmu, facts);
  if (facts->kind == "tracepoint") FindTracepoints(pmu, facts);
  if (facts->events.empty()) {
    if (!facts->omitted.empty()) {
      facts->numbers_how = "a number that opens; no event that sysfs names can be opened";
    }
    FindNumbers(pmu, facts);
  }
  if (facts->events.empty()) {
    throw ConfigError("no event of PMU '" + facts->device + "' opens: write its target by hand");
  }
}

void FindGenericNames(const ProbedPmu& pmu, PmuFacts* facts) {
  for (EventFacts& event : facts->events) {
    for (const GenericName& generic : kGenericNames) {
      if (!AnyOf(event.name, generic.in_sysfs)) continue;
      EventSpec spec;
      spec.type = PERF_TYPE_HARDWARE;
      spec.config = generic.config | static_cast<std::uint64_t>(facts->type) << PERF_PMU_TYPE_SHIFT;
      if (pmu.Open(spec).ok()) event.generic = generic.name;
    }
  }
}

}  // namespace pmuconf
