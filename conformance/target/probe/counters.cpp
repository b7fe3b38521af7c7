// SPDX-License-Identifier: Apache-2.0
// Finds the number of counters and the counters of each event from the groups that fit.
#include <algorithm>
#include <functional>
#include <utility>

#include "system/cpu.h"
#include "target/probe/counter_model.h"
#include "target/probe/experiments.h"
#include "target/target.h"
#include "target/target_claims.h"

namespace pmuconf {
namespace {

constexpr unsigned kMostGeneral = 32;  // the maximum in a target file
constexpr unsigned kMostFixed = 16;
constexpr unsigned kMostMembers = kMostGeneral + kMostFixed;

std::uint64_t Bit(unsigned counter) { return std::uint64_t{1} << counter; }

using Specs = std::vector<EventSpec>;

// Opens one group of the first of `specs`, as many as fit, at most `most`. The events are enabled,
// because a driver may ignore disabled events when it validates a group. If the driver refuses
// enabled events, they are disabled.
std::vector<Event> OpenFitting(const ProbedPmu& pmu, const Specs& specs, unsigned most) {
  std::vector<Event> group;
  OpenOptions options = {.disabled = false};
  for (const EventSpec& spec : specs) {
    if (group.size() == most) break;
    const int leader = group.empty() ? -1 : group.front().fd();
    OpenResult opened = pmu.Open(spec, options, leader);
    if (!opened.ok() && group.empty()) {
      options.disabled = true;
      opened = pmu.Open(spec, options, leader);
    }
    if (!opened.ok()) break;
    group.push_back(std::move(opened.event));
  }
  return group;
}

unsigned CountFitting(const ProbedPmu& pmu, const Specs& specs, unsigned most = kMostMembers) {
  return static_cast<unsigned>(OpenFitting(pmu, specs, most).size());
}

// Returns whether a group of `members` counts. A driver that validates no group opens any.
bool Runs(const ProbedPmu& pmu, const Specs& specs, unsigned members) {
  const std::vector<Event> group = OpenFitting(pmu, specs, members);
  if (group.size() != members || !group.front().TryEnable(PERF_IOC_FLAG_GROUP).ok()) return false;
  BusyWait(0.002);
  return group.front().Read().time_running > 0;
}

// Returns the most members, up to `most`, of a group that counts.
unsigned CountRunningMembers(const ProbedPmu& pmu, const Specs& specs, unsigned most) {
  unsigned runs = 0;
  for (unsigned fails = most + 1; fails - runs > 1;) {
    const unsigned members = most == fails - 1 && runs == 0 ? most : (runs + fails) / 2;
    (Runs(pmu, specs, members) ? runs : fails) = members;
  }
  return runs;
}

// Returns how many of `specs`, which are in no group, count at the same time. A pinned event that
// gets no counter has no reading.
unsigned CountRunningAlone(const ProbedPmu& pmu, const Specs& specs) {
  std::vector<Event> events;
  std::vector<std::byte> bytes;
  for (const EventSpec& spec : specs) {
    OpenResult opened = pmu.Open(spec, {.pinned = true});
    if (!opened.ok() || !opened.event.TryEnable().ok()) break;
    if (!opened.event.TryRead(64, &bytes).ok() || bytes.empty()) break;
    events.push_back(std::move(opened.event));
  }
  return static_cast<unsigned>(events.size());
}

Specs Join(std::initializer_list<std::pair<unsigned, const EventSpec*>> parts) {
  Specs specs;
  for (const auto& [number, spec] : parts) specs.insert(specs.end(), number, *spec);
  return specs;
}

// Finds the sets of counters of the events, with groups of them and of `plain`, an event that uses
// every general counter.
class Constraints {
 public:
  Constraints(const ProbedPmu& pmu, unsigned general, const EventSpec& plain, PmuFacts* facts)
      : pmu_(pmu), general_(general), plain_(plain), facts_(*facts), full_(general, plain) {}

  void Run() {
    std::vector<EventFacts> known;
    for (EventFacts& event : facts_.events) {
      const std::string why = Find(&event);
      if (why.empty()) {
        known.push_back(event);
      } else {
        facts_.omitted.emplace_back(event.name, why);
      }
    }
    facts_.events = std::move(known);
    Verify();
    facts_.fixed = {
        fixed_.size(), 0,
        "so many more events fit into a group with " + std::to_string(general_) + " others"};
  }

 private:
  // Events with the same general counters, and no others.
  struct Class {
    EventSpec spec;
    unsigned own = 0;
    std::optional<unsigned> fixed;  // the fixed counter of `spec`
    CounterUse use;
    std::uint64_t set = 0;  // of the model
  };

  bool Fits(const Specs& specs) const { return CountFitting(pmu_, specs) == specs.size(); }
  bool FitsBeyond(const Specs& more) const {
    Specs specs = full_;
    specs.insert(specs.end(), more.begin(), more.end());
    return Fits(specs);
  }

  // Stores the counters of an event. Returns the reason if they are unknown.
  std::string Find(EventFacts* event) {
    const std::string how = "a group takes " + std::to_string(event->fit) + " of it";
    std::optional<unsigned> fixed;
    if (event->fit != general_ && FitsBeyond({event->spec})) {
      if (FitsBeyond({event->spec, event->spec})) return how + ", two of them in fixed counters";
      fixed = FixedCounterOf(event->spec);
      if (!fixed) return how + ", and no fixed counter explains the groups that it fits into";
    }
    const unsigned own = event->fit - (fixed ? 1 : 0);
    if (own > general_) return how + ", more than there are counters";
    event->counters_how = how;
    if (fixed) {
      event->counters = Bit(kFixedBase + *fixed);
      event->counters_how += "; which fixed counter is a guess";
      event->counters_sure = Sure::kGuess;
    }
    if (own == general_) event->counters |= LowBits(general_);
    return own == 0 || own == general_ ? "" : FindSome(event, own, fixed);
  }

  // Returns the fixed counter of an event that has one: that of an earlier event, or a new one.
  std::optional<unsigned> FixedCounterOf(const EventSpec& spec) {
    Specs all = fixed_;
    all.push_back(spec);
    if (fixed_.size() < kMostFixed && FitsBeyond(all)) {
      fixed_.push_back(spec);
      return static_cast<unsigned>(fixed_.size()) - 1;
    }
    for (unsigned i = 0; i < fixed_.size(); ++i) {
      Specs others = fixed_;
      others[i] = spec;
      if (FitsBeyond(others)) return i;
    }
    return std::nullopt;
  }

  // As Find, for an event that can use `own` general counters, but not all.
  std::string FindSome(EventFacts* event, unsigned own, std::optional<unsigned> fixed) {
    const std::string how = "a group takes " + std::to_string(event->fit) + " of it";
    if (!Fits(Join({{fixed ? 2 : 1, &event->spec}, {general_ - 1, &plain_}}))) {
      return how + ", and each takes more than one counter: which ones is unknown";
    }
    Class found = {event->spec, own, fixed, {own, {}}};
    for (const Class& known : classes_) {
      const auto shared = Shared(known, found);
      if (!shared) {
        return how + ", and how often it fits depends on the order: no counters explain that";
      }
      if (*shared == own && *shared == known.own) return Join(event, known);
      found.use.shared.push_back(*shared);
    }
    std::vector<CounterUse> uses;
    for (const Class& known : classes_) uses.push_back(known.use);
    uses.push_back(found.use);
    const auto sets = AssignCounters(general_, uses);
    if (!sets) return how + ", and no counters explain the groups that it fits into";
    classes_.push_back(found);
    for (std::size_t i = 0; i < classes_.size(); ++i) classes_[i].set = (*sets)[i];
    return Join(event, classes_.back());
  }

  // Notes the class of an event. Its counters become known when all classes are.
  std::string Join(EventFacts* event, const Class& its) {
    members_.emplace_back(event->name, static_cast<std::size_t>(&its - classes_.data()));
    return "";
  }
  static Specs Join(std::initializer_list<std::pair<unsigned, const EventSpec*>> parts) {
    return pmuconf::Join(parts);
  }

  // Returns how many general counters both events can use: those that one of them takes from the
  // other. nullopt if the order matters.
  std::optional<unsigned> Shared(const Class& a, const Class& b) const {
    const auto shared = [this](const Class& first, const Class& second) {
      const unsigned before = first.own + (first.fixed ? 1 : 0);
      const unsigned fit =
          CountFitting(pmu_, Join({{before, &first.spec}, {general_ + 1, &second.spec}}));
      const bool another = second.fixed && second.fixed != first.fixed;
      return static_cast<int>(second.own + before + (another ? 1 : 0)) - static_cast<int>(fit);
    };
    const int one = shared(a, b);
    if (one != shared(b, a) || one < 0) return std::nullopt;
    return static_cast<unsigned>(one);
  }

  // Compares the model with larger groups: each class in turn, in both orders. If it predicts
  // another number of members, omits the events of all classes.
  void Verify() {
    Specs specs;
    std::vector<std::uint64_t> sets;
    for (unsigned round = 0; round <= general_ && !classes_.empty(); ++round) {
      for (const Class& its : classes_) {
        specs.push_back(its.spec);
        sets.push_back(its.set | (its.fixed ? Bit(kFixedBase + *its.fixed) : 0));
      }
    }
    bool agrees = true;
    for (int order = 0; order < 2; ++order) {
      agrees = agrees && std::min(PredictFitting(sets), kMostMembers) == CountFitting(pmu_, specs);
      std::reverse(specs.begin(), specs.end());
      std::reverse(sets.begin(), sets.end());
    }
    for (const auto& [name, number] : members_) {
      const auto event = std::find_if(facts_.events.begin(), facts_.events.end(),
                                      [&name = name](const auto& e) { return e.name == name; });
      if (agrees) {
        event->counters |= classes_[number].set;
        event->counters_how += ": some counters; their numbers are a model of all groups tried";
        event->counters_sure = Sure::kGuess;
      } else {
        facts_.omitted.emplace_back(
            name,
            event->counters_how + ": the model of its counters does not explain larger groups");
        facts_.events.erase(event);
      }
    }
  }

  const ProbedPmu& pmu_;
  unsigned general_;
  EventSpec plain_;
  PmuFacts& facts_;
  Specs full_;   // a group that takes all general counters
  Specs fixed_;  // an event for each fixed counter
  std::vector<Class> classes_;
  std::vector<std::pair<std::string, std::size_t>> members_;  // names of events, and their class
};

}  // namespace

namespace {

// Finds how many instances of each event count at the same time on a PMU of the whole machine. Its
// driver may open groups that never count, or refuse each group.
void FindRunning(const ProbedPmu& pmu, PmuFacts* facts) {
  std::vector<EventFacts> running;
  unsigned never = 0;  // the members of a group that opened and did not count
  unsigned alone = 0;
  for (EventFacts& event : facts->events) {
    const Specs copies(kMostGeneral, event.spec);
    const unsigned opens = CountFitting(pmu, copies, kMostGeneral);
    event.fit = CountRunningMembers(pmu, copies, opens);
    if (event.fit < opens) never = std::max(never, opens);
    const unsigned single = CountRunningAlone(pmu, copies);
    if (single == 0) {
      facts->omitted.emplace_back(event.name, "it opens and never counts: no counter takes it");
      continue;
    }
    if (event.fit <= 1 && single > 1) {
      event.fit = single;
      alone = std::max(alone, single);
    }
    running.push_back(event);
  }
  if (running.empty()) {
    throw ConfigError("each event of PMU '" + facts->device +
                      "' opens, and none counts: its driver gives it no counter");
  }
  facts->events = std::move(running);
  if (never > 0) {
    facts->feature_notes.push_back(
        {"groups", "not validated by the driver",
         "a group of " + std::to_string(never) + " opens and never counts"});
  }
  if (alone > 0) {
    facts->groups = false;
  }
}

// Finds whether events of the same config share a counter: then any number of them counts.
void FindSharing(const ProbedPmu& pmu, PmuFacts* facts) {
  Specs different;
  for (const EventFacts& event : facts->events) {
    if (different.size() < kMostGeneral) different.push_back(event.spec);
  }
  const unsigned run = CountRunningAlone(pmu, different);
  if (run == different.size()) return;
  facts->unlimited = false;
  facts->shared_counters = true;
  facts->general = {run, 0, std::to_string(run) + " different events count at the same time"};
}

// Gives each event all counters, if no group can show which ones it uses.
void AssumeAllCounters(PmuFacts* facts) {
  const auto general = static_cast<unsigned>(facts->general.value);
  std::vector<EventFacts> known;
  for (EventFacts& event : facts->events) {
    if (!facts->shared_counters && event.fit != general) {
      facts->omitted.emplace_back(event.name, std::to_string(event.fit) +
                                                  " of it count at the same time: which counters "
                                                  "it uses is unknown");
      continue;
    }
    event.counters = LowBits(general);
    event.counters_how = facts->shared_counters
                             ? "any number of it counts: they share a counter"
                             : std::to_string(event.fit) + " of it count at the same time";
    event.counters_sure = Sure::kGuess;
    known.push_back(event);
  }
  facts->events = std::move(known);
}

}  // namespace

void FindCounters(const ProbedPmu& pmu, PmuFacts* facts) {
  std::vector<unsigned> fits;
  if (pmu.per_cpu()) FindRunning(pmu, facts);
  for (EventFacts& event : facts->events) {
    if (!pmu.per_cpu()) {
      event.fit = CountFitting(pmu, Specs(kMostGeneral, event.spec), kMostGeneral);
    }
    fits.push_back(event.fit);
  }
  const unsigned general = MostFrequent(fits);
  facts->unlimited = general == kMostGeneral;
  facts->general = {general, 0,
                    std::to_string(std::count(fits.begin(), fits.end(), general)) + " of " +
                        std::to_string(fits.size()) + " events fit so often into one group" +
                        (facts->unlimited ? ", and perhaps more often" : "")};
  if (pmu.per_cpu() && facts->unlimited) FindSharing(pmu, facts);
  if (!facts->groups) {
    facts->groups_how = std::to_string(general) +
                        " events count at the same time, and the driver refuses a second event in "
                        "each group";
    facts->general.how = facts->groups_how;
  }
  if (!facts->groups || facts->shared_counters) return AssumeAllCounters(facts);
  const auto plain = std::find_if(facts->events.begin(), facts->events.end(),
                                  [&](const EventFacts& e) { return e.fit == general; });
  if (plain != facts->events.end()) Constraints(pmu, general, plain->spec, facts).Run();
}

}  // namespace pmuconf
