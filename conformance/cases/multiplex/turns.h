// SPDX-License-Identifier: Apache-2.0
// The turns of multiplexed events, as measurements of a case.
#ifndef PMUCONF_CASES_MULTIPLEX_TURNS_H_
#define PMUCONF_CASES_MULTIPLEX_TURNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cases/common.h"

namespace pmuconf {

// Observes which events have a counter. The destructor attaches the pictures. `events` must outlive
// this object.
class Turns {
 public:
  explicit Turns(const std::vector<Event>& events) : events_(events), running_(events.size()) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      spans_.push_back({"event " + std::to_string(i), {}});
      shares_.push_back({"event " + std::to_string(i), {}});
    }
  }
  Turns(const Turns&) = delete;
  ~Turns() {
    Attach({.name = "turns",
            .title = "Turns of the events on the counters",
            .mark = Mark::kSpans,
            .x = {"enabled time", "ms"},
            .y = {"event", ""},
            .series = std::move(spans_)});
    Attach({.name = "running",
            .title = "Running time over enabled time",
            .mark = Mark::kLine,
            .x = {"enabled time", "ms"},
            .y = {"running / enabled", ""},
            .series = std::move(shares_)});
  }

  // Reads each event. An event whose running time has advanced since the previous observation had a
  // counter.
  void Observe() {
    if (observations_ == kMaxPointsOfCase / 2 / events_.size()) return;
    const bool first = observations_++ == 0;
    const double begin = now_;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Reading reading = events_[i].Read();
      if (i == 0) now_ = static_cast<double>(reading.time_enabled) / 1e6;
      const bool on = reading.time_running != std::exchange(running_[i], reading.time_running);
      if (first) continue;
      auto& spans = spans_[i].points;
      const bool was_on = !spans.empty() && spans.back().second == begin;
      if (on && was_on) {
        spans.back().second = now_;
      } else if (on) {
        spans.emplace_back(begin, now_);
      }
      if (reading.time_enabled != 0) {
        shares_[i].points.emplace_back(now_, static_cast<double>(reading.time_running) /
                                                 static_cast<double>(reading.time_enabled));
      }
    }
  }

 private:
  const std::vector<Event>& events_;
  std::vector<std::uint64_t> running_;  // ns, of each event at the last observation
  std::vector<Series> spans_;
  std::vector<Series> shares_;
  double now_ = 0;  // the enabled time of the first event in ms
  std::size_t observations_ = 0;
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_MULTIPLEX_TURNS_H_
