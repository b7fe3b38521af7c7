// SPDX-License-Identifier: Apache-2.0
// Helpers for several areas: sets of events, software events, and the rotation interval.
#ifndef PMUCONF_CASES_COMMON_H_
#define PMUCONF_CASES_COMMON_H_

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/case.h"
#include "perf/group.h"
#include "system/cpu.h"
#include "system/sysfs.h"

namespace pmuconf {

inline std::vector<Event> OpenEach(const std::vector<EventSpec>& specs,
                                   const OpenOptions& options = {}) {
  std::vector<Event> events;
  for (const EventSpec& spec : specs) events.push_back(Open(spec, options));
  return events;
}

inline void EnableEach(const std::vector<Event>& events) {
  for (const Event& event : events) event.Enable();
}

inline void DisableEach(const std::vector<Event>& events) {
  for (const Event& event : events) event.Disable();
}

// Generates `n` events of the code of `spec`. For a clock event only these happen, without the
// other events that a clock step would cause.
inline void Pulse(const EventSpec& spec, std::uint64_t n, const PulseOptions& options = {}) {
  if (spec.stimulus == StimulusKind::kClock) {
    port().Pulse(spec.code, n, WithRequirements(spec, options));
  } else {
    target().Stimulate(spec, n, options);
  }
}

// The number of counters that can count `spec`. It is four if the PMU has no limited counters.
inline std::size_t CounterCount(const EventSpec& spec) {
  return target().Has(Cap::kCounters) ? static_cast<std::size_t>(std::popcount(spec.counters)) : 4;
}

// As many events as the PMU has counters, which fit together. Each counter gets the event that the
// fewest other counters can count; of several, one that is least often in the set. No further event
// fits. Without counters: four events.
inline std::vector<EventSpec> FullSet() {
  if (!target().Has(Cap::kCounters)) return target().AnyEvents(4);
  const std::vector<EventSpec> all = target().Events();
  std::uint64_t counters = 0;
  for (const EventSpec& spec : all) counters |= spec.counters;

  std::vector<EventSpec> set;
  std::vector<std::size_t> taken(all.size());
  const auto rank = [&](std::size_t e) { return std::pair(CounterCount(all[e]), taken[e]); };
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((counters & bit) == 0) continue;
    std::optional<std::size_t> best;
    for (std::size_t e = 0; e < all.size(); ++e) {
      if ((all[e].counters & bit) != 0 && (!best || rank(e) < rank(*best))) best = e;
    }
    ++taken[*best];
    set.push_back(all[*best]);
  }
  return set;
}

// Generates a different number of each distinct event of `specs`: `base` of the first, one more of
// each later one. Returns the count that each of `specs` must have.
inline std::vector<std::uint64_t> PulseEach(const std::vector<EventSpec>& specs,
                                            std::uint64_t base) {
  std::vector<std::uint64_t> want;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    std::size_t first = 0;
    while (!ShareStimulus(specs[first], specs[i])) ++first;
    if (first == i) Pulse(specs[i], base + i);
    want.push_back(base + first);
  }
  return want;
}

// The path of the target's sysfs file with this name.
inline std::string DeviceFile(const std::string& name) {
  std::string path(kEventSource);
  return path.append("/").append(target().device()).append("/").append(name);
}

// The types of the PMUs of other core types: PMUs that cover only a part of the CPUs.
inline std::set<std::uint32_t> OtherCoreTypes() {
  const std::string folder = kEventSource;
  std::set<std::uint32_t> types;
  for (const std::string& device : ListFolder(folder)) {
    const auto type = ReadFile(folder + "/" + device + "/type");
    if (device == target().device() || !type || !ReadFile(folder + "/" + device + "/cpus"))
      continue;
    types.insert(static_cast<std::uint32_t>(std::stoul(*type)));
  }
  return types;
}

// Sets the rotation interval of the target's PMU for the lifetime of this object. A timer that
// already runs keeps its expiry, so a long interval would delay later cases.
class MuxInterval {
 public:
  explicit MuxInterval(int milliseconds)
      : path_(DeviceFile("perf_event_mux_interval_ms")), before_(ReadFile(path_)) {
    Write(std::to_string(milliseconds));
  }
  MuxInterval(const MuxInterval&) = delete;
  ~MuxInterval() { std::ofstream(path_) << *before_ << std::flush; }

 private:
  void Write(const std::string& text) const {
    std::ofstream file(path_);
    file << text << std::flush;
    if (!before_ || !file) throw Broken("cannot write " + path_);
  }

  std::string path_;
  std::optional<std::string> before_;
};

// Repeats `step` until `done` returns true. Returns false after five seconds.
template <typename Step, typename Done>
bool RepeatUntil(const Step& step, const Done& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    step();
  }
  return true;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_COMMON_H_
