// SPDX-License-Identifier: Apache-2.0
// The dimensions that cases declare. An enumerator is a value. The functions Of() have the names in
// the order of the enumerators, and the capabilities that a value needs.
//
//   CONFORMANCE_CASE(Sampling, X, .rules = {...}, .needs = {...},
//                    .over = {Over<dim::Cpu>(), Over(dim::Member::kAlone, dim::Member::kLast)}) {
//     if (At<dim::Member>() == dim::Member::kLast) ...
//   }
#ifndef PMUCONF_HARNESS_DIMENSIONS_H_
#define PMUCONF_HARNESS_DIMENSIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "harness/sweep.h"

namespace pmuconf {
namespace dim {

// The CPU of the case among the CPUs of the PMU. The fixture pins the process to it.
enum class Cpu { kFirst, kSecond };
// The tasks and CPUs that the event counts.
enum class Scope { kTask, kCpu };
// The place of the event in a group.
enum class Member { kAlone, kLeader, kSibling, kLast };
// The counter of the event: the first or the last free general counter, or a fixed one.
enum class Counter { kFirst, kLast, kFixed };
// The history of the event before the case uses it.
enum class Before { kFresh, kReset, kEnabledTwice, kMoved };
// The rest of the period at the moment that the rule is about: all, a part, or a single event.
enum class Left { kFull, kPart, kOne };
// The moment of the interrupt: at the overflow, later, or after the event has stopped.
enum class Interrupt { kPrompt, kLate, kStopped };
// The way in which an event begins to count.
enum class Start { kOpen, kIoctl, kGroup };

// The name and the values of a dimension.
inline Dimension Of(Cpu /*unused*/) { return {"cpu", {{"0", 0}, {"1", 1, {Cap::kCpus2}}}}; }
inline Dimension Of(Scope /*unused*/) {
  return {"scope", {{"task", 0, {Cap::kTasks}}, {"cpu", 1, {Cap::kCpuScope}}}};
}
inline Dimension Of(Member /*unused*/) {
  return {"member",
          {{"alone", 0},
           {"leader", 1, {Cap::kGroups}},
           {"sibling", 2, {Cap::kCounters3}},
           {"last", 3, {Cap::kGroups}}}};
}
inline Dimension Of(Counter /*unused*/) {
  return {"counter",
          {{"first", 0},
           {"last", 1, {Cap::kCounters, Cap::kCounters3}},
           {"fixed", 2, {Cap::kFixedCounters, Cap::kPort}}}};
}
inline Dimension Of(Before /*unused*/) {
  return {"before",
          {{"fresh", 0}, {"reset", 1}, {"enabled-twice", 2}, {"moved", 3, {Cap::kCpus2}}}};
}
inline Dimension Of(Left /*unused*/) { return {"left", {{"full", 0}, {"part", 1}, {"one", 2}}}; }
inline Dimension Of(Interrupt /*unused*/) {
  return {"interrupt", {{"prompt", 0}, {"late", 1, {Cap::kPort}}, {"stopped", 2, {Cap::kPort}}}};
}
inline Dimension Of(Start /*unused*/) {
  return {"start", {{"open", 0}, {"ioctl", 1}, {"group", 2, {Cap::kGroups}}}};
}

}  // namespace dim

// The whole dimension.
template <typename Value>
Dimension Over() {
  return dim::Of(Value{});
}

// Only these values of a dimension.
template <typename Value, typename... More>
Dimension Over(Value value, More... more) {
  Dimension all = dim::Of(value);
  Dimension some{all.name, {}};
  for (const Value one : {value, more...}) {
    some.values.push_back(all.values.at(static_cast<std::size_t>(one)));
  }
  return some;
}

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_DIMENSIONS_H_
