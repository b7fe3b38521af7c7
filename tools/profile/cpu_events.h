// SPDX-License-Identifier: Apache-2.0
// The events of `profile`: on each CPU a side-band event, and sampling events.
#ifndef PMUCONF_TOOLS_PROFILE_CPU_EVENTS_H_
#define PMUCONF_TOOLS_PROFILE_CPU_EVENTS_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "perf/bpf.h"
#include "perf/event.h"
#include "perf/ring.h"
#include "tools/profile/bpf_side.h"
#include "tools/profile/event_name.h"
#include "tools/profile/options.h"
#include "tools/profile/side_band.h"

namespace pmuconf::profile {

// The tasks that are sampled.
struct Tasks {
  bool all_tasks = true;
  std::set<std::uint32_t> tids;  // if not everyone
  bool children = false;         // children too
  bool on_exec = false;          // from the next exec of the task on
};

class CpuEvents {
 public:
  // Opens no event yet.
  CpuEvents(const Options& options, SampledEvent event, Tasks tasks, BpfSide& bpf);

  // Opens missing events on the CPUs `online`, and closes events on other CPUs. The first call
  // throws UserError if no event can be opened. If only the event is not supported and the user
  // allows a fallback, it opens cpu-clock, and event() returns that.
  void UpdateCpus(const std::vector<int>& online);
  void Enable();
  void Stop();

  const SampledEvent& event() const { return event_; }
  std::vector<int> cpus() const;      // the sampled CPUs
  std::vector<int> wait_fds() const;  // readable when there are records

  // Passes all available records to `sink`, for each CPU in order.
  void Drain(const std::function<void(const SideRecord&)>& sink);
  // Updates the sampled tasks from a record. The records must be in order of time.
  void UpdateTasks(const SideRecord& record);
  bool AllTasksExited() const { return !tasks_.all_tasks && tasks_.tids.empty(); }

 private:
  struct EventsOfCpu {
    Event side;
    std::optional<Ring> records;
    std::vector<Event> samplers;
    std::vector<BpfLink> links;
  };

  bool IsSelected(int cpu) const;
  OpenResult TrySampler(int cpu, int tid) const;
  void AddSampler(EventsOfCpu& one, Event event);
  void Attach(int cpu);

  const Options& options_;
  SampledEvent event_;
  Tasks tasks_;
  BpfSide& bpf_;
  std::map<int, EventsOfCpu> cpus_;
  bool begun_ = false;
  bool enabled_ = false;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_CPU_EVENTS_H_
