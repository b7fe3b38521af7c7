// SPDX-License-Identifier: Apache-2.0
// A group of events that the kernel schedules together.
#ifndef PMUCONF_PERF_GROUP_H_
#define PMUCONF_PERF_GROUP_H_

#include <cstddef>
#include <vector>

#include "perf/event.h"

namespace pmuconf {

// Opens the leader with `options` (disabled by default) and enabled members that follow it, as perf
// stat does. Throws Broken on failure. Unless options.read_format is changed, all events use
// PERF_FORMAT_GROUP | PERF_FORMAT_ID and both times.
class Group {
 public:
  static constexpr std::uint64_t kReadFormat = kReadTimes | PERF_FORMAT_GROUP | PERF_FORMAT_ID;

  explicit Group(const std::vector<EventSpec>& specs, const OpenOptions& options = {});

  std::size_t size() const { return events_.size(); }
  Event& leader() { return events_.front(); }
  Event& operator[](std::size_t i) { return events_[i]; }  // 0: the leader
  std::vector<Event>& events() { return events_; }

  // Enable, disable and reset all members (PERF_IOC_FLAG_GROUP on the leader).
  void Enable() const { events_.front().EnableGroup(); }
  void Disable() const { events_.front().DisableGroup(); }
  void Reset() const { events_.front().ResetGroup(); }
  GroupReading Read() const { return events_.front().ReadGroup(); }

 private:
  std::vector<Event> events_;
};

// Opens a group as Group does. On an error, `error` is the first errno and `events` has the events
// that were opened before.
struct GroupOpenResult {
  std::vector<Event> events;
  int error = 0;
  bool ok() const { return error == 0; }
};
GroupOpenResult TryOpenGroup(const std::vector<EventSpec>& specs, const OpenOptions& options = {});

}  // namespace pmuconf

#endif  // PMUCONF_PERF_GROUP_H_
