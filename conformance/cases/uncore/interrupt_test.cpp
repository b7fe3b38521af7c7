// SPDX-License-Identifier: Apache-2.0
// The interrupt of a device arrives on the CPU of the events, also after they have moved.
#include <map>
#include <sstream>

#include "cases/uncore/uncore.h"
#include "rules/UNC.h"
#include "system/context.h"

namespace pmuconf {
namespace {

// For each numbered interrupt in /proc/interrupts, how often it arrived on each online CPU.
using Arrivals = std::map<int, std::vector<std::uint64_t>>;

Arrivals ReadArrivals() {
  Arrivals arrivals;
  std::istringstream lines(ReadFile("/proc/interrupts").value_or(""));
  const std::size_t cpus = OnlineCpus().size();
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int number = 0;
    char colon = 0;
    if (!(words >> number >> colon) || colon != ':') continue;
    std::uint64_t count = 0;
    while (arrivals[number].size() < cpus && words >> count) arrivals[number].push_back(count);
  }
  return arrivals;
}

// Generates overflows, and adds to `more` how often each interrupt arrived. Erases the interrupts
// that arrived more or less often than the device requested one.
void CauseOverflows(const EventSpec& spec, int ranges, Arrivals* more) {
  const std::uint64_t requests = port().Stats().pmi;
  const Arrivals before = ReadArrivals();
  for (int i = 0; i < ranges; ++i) Pulse(spec, CounterRange());
  const Arrivals after = ReadArrivals();
  const std::uint64_t requested = port().Stats().pmi - requests;
  for (const auto& [number, counts] : after) {
    if (!more->contains(number)) continue;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::uint64_t here = counts[i] - before.at(number)[i];
      (*more)[number][i] += here;
      sum += here;
    }
    if (sum != requested || sum == 0) more->erase(number);
  }
}

// Checks that the interrupts of the device arrive on its designated CPU alone. The kernel does not
// state which number they have, so two different numbers of overflows show it.
void ExpectInterruptsOnDesignatedCpu(const EventSpec& spec) {
  Arrivals more;
  const std::vector<int> cpus = OnlineCpus();
  for (const auto& [number, counts] : ReadArrivals()) more[number].assign(cpus.size(), 0);
  // A new affinity of an interrupt takes effect when the next one arrives.
  for (int i = 0; i < 4; ++i) Pulse(spec, CounterRange());
  CauseOverflows(spec, 3, &more);
  CauseOverflows(spec, 8, &more);
  if (more.size() != 1) SkipUnclaimed("needs a device with an interrupt of its own");
  const auto& [number, counts] = *more.begin();
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    EXPECT_TRUE(counts[i] == 0 || cpus[i] == target().DesignatedCpu())
        << "interrupt " << number << " arrived " << counts[i] << " times on CPU " << cpus[i]
        << ", and the events are on CPU " << target().DesignatedCpu();
  }
}

CONFORMANCE_CASE(Uncore, InterruptArrivesOnTheCpuOfTheEvents, .rules = {rule::UNC_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSystemWide,
                           Cap::kCpus2},
                 .budget_s = 20) {
  // A case before this one may have moved the events.
  if (!HasCpuParameter()) LoadModuleOn(OnlineCpus().back());
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  ExpectInterruptsOnDesignatedCpu(spec);
}

CONFORMANCE_CASE(Uncore, InterruptFollowsTheEvents, .rules = {rule::UNC_014},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters, Cap::kSystemWide,
                           Cap::kHotplug},
                 .budget_s = 20) {
  const int leaving = LeavingCpu();
  StartEventsOn(leaving);
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.disabled = false});
  Offline offline(leaving);
  offline.Return();
  ExpectInterruptsOnDesignatedCpu(spec);
}

}  // namespace
}  // namespace pmuconf
