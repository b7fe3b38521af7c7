// SPDX-License-Identifier: Apache-2.0
// The event that a case is about, opened as the combination of the case's dimensions asks.
#ifndef PMUCONF_CASES_SUBJECT_H_
#define PMUCONF_CASES_SUBJECT_H_

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cases/common.h"

namespace pmuconf {

// The first CPU of the PMU that is not the one on which this thread runs.
inline int OtherCpu() {
  for (const int cpu : target().Cpus()) {
    if (cpu != EventCpu()) return cpu;
  }
  throw Broken("the PMU has only one CPU");
}

// The options, for the value of the dimension scope if the case declares it. The events of a
// system-wide PMU are on its designated CPU anyway.
inline OpenOptions AtScope(const Case& at, OpenOptions options = {}) {
  if (at.AtOr(dim::Scope::kTask) == dim::Scope::kCpu && !target().Claims(Cap::kSystemWide)) {
    options.pid = -1;
    options.cpu = EventCpu();
  }
  return options;
}

// Opens an event for the values of the dimensions scope, member, counter and before. A dimension
// that the case does not declare keeps the usual instance: the event of `options`, alone, on the
// first free counter, never enabled.
// Its companions count, but only while the group is on the PMU. Generate events with Pulse(), which
// also does so for a fixed counter without the other events of a clock step.
class Subject {
 public:
  // `options.disabled` must be true. The event is disabled, and counts 0.
  explicit Subject(const Case& at, const OpenOptions& options = {})
      : spec_(SpecAt(at)), companion_(target().AnyEvent()) {
    OpenMembers(at.AtOr(dim::Member::kAlone), at.AtOr(dim::Counter::kFirst), AtScope(at, options));
    Use(at.AtOr(dim::Before::kFresh));
  }

  const EventSpec& spec() const { return spec_; }
  const Event& event() const { return event_; }
  Event& mutable_event() { return event_; }
  // const auto [spec, event] = subject.Parts();
  struct Both {
    const EventSpec& spec;
    const Event& event;
  };
  Both Parts() const { return {spec_, event_}; }
  // Makes the group's leader write into the buffer of the event, which must have one. Kernels
  // differ in which of the two writes the records about a throttle.
  void ShareBuffer() const {
    if (leader_) companions_.front().SetOutput(event_);
  }
  // Moves all other events that the subject has opened to the caller.
  std::vector<Event> TakeOthers() {
    std::vector<Event> others = std::move(companions_);
    std::ranges::move(fillers_, std::back_inserter(others));
    return others;
  }

 private:
  static EventSpec SpecAt(const Case& at) {
    const bool fixed = at.AtOr(dim::Counter::kFirst) == dim::Counter::kFixed;
    return fixed ? target().Events({.fixed = true}).front() : target().AnyEvent();
  }

  // Leaves only as many counters free as the group needs. The kernel schedules pinned events of a
  // CPU before all others.
  void TakeOtherCounters(std::size_t needed) {
    const std::size_t all = CounterCount(companion_);
    if (needed >= all) return;
    fillers_ = OpenEach(std::vector(all - needed, companion_),
                        {.pid = -1, .cpu = EventCpu(), .disabled = false, .pinned = true});
  }

  void OpenMembers(dim::Member member, dim::Counter counter, OpenOptions options) {
    const std::size_t before =
        member == dim::Member::kAlone || member == dim::Member::kLeader ? 0 : 1;
    const std::size_t after =
        member == dim::Member::kLeader || member == dim::Member::kSibling ? 1 : 0;
    if (counter == dim::Counter::kLast) TakeOtherCounters(before + 1 + after);
    OpenOptions other = {.pid = options.pid, .cpu = options.cpu, .disabled = false};
    other.inherit = options.inherit;
    // Its records have the same trailer.
    constexpr std::uint64_t kIdFields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                        PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                        PERF_SAMPLE_IDENTIFIER;
    other.sample_type = options.sample_type & kIdFields;
    other.sample_id_all = options.sample_id_all;
    leader_ = before != 0;
    if (leader_) {
      companions_.push_back(Open(companion_, other));
      options.group_fd = companions_.front().fd();
    }
    event_ = Open(spec_, options);
    if (after != 0) {
      other.group_fd = before == 0 ? event_.fd() : companions_.front().fd();
      companions_.push_back(Open(companion_, other));
    }
  }

  // Counts a whole period, so that the whole next one remains, and resets the count.
  void CountOnce() const {
    const std::uint64_t period = event_.attr().freq ? 0 : event_.attr().sample_period;
    event_.Enable();
    Pulse(spec_, period == 0 ? 17 : period);
    event_.Disable();
    event_.Reset();
  }

  void Use(dim::Before before) const {
    switch (before) {
      case dim::Before::kFresh:
        return;
      case dim::Before::kReset:
        return CountOnce();
      case dim::Before::kEnabledTwice:
        for (int i = 0; i < 2; ++i) {
          event_.Enable();
          event_.Disable();
        }
        return;
      case dim::Before::kMoved: {
        // An event of a CPU does not move. Then another CPU enables and disables it.
        const int here = EventCpu();
        PinTo(OtherCpu());
        CountOnce();
        PinTo(here);
        return;
      }
    }
  }

  EventSpec spec_, companion_;
  std::vector<Event> fillers_, companions_;
  Event event_;
  bool leader_ = false;  // the first companion leads the group
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_SUBJECT_H_
