// SPDX-License-Identifier: Apache-2.0
// The events of `profile`: on each CPU one that tells of processes, and those that sample.
#ifndef PMUCONF_TOOLS_PROFILE_CPU_EVENTS_H_
#define PMUCONF_TOOLS_PROFILE_CPU_EVENTS_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "pmuconf/bpf.h"
#include "pmuconf/event.h"
#include "pmuconf/ring.h"
#include "tools/profile/bpf_side.h"
#include "tools/profile/event_name.h"
#include "tools/profile/options.h"
#include "tools/profile/side_band.h"

namespace pmuconf::profile {

// Who is sampled.
struct Tasks {
  bool everyone = true;
  std::set<std::uint32_t> tids;  // else
  bool children = false;         // theirs as well
  bool on_exec = false;          // from the moment on that the one becomes another program
};

class CpuEvents {
 public:
  // Opens nothing yet.
  CpuEvents(const Options& options, SampledEvent event, Tasks tasks, BpfSide& bpf);

  // The CPUs online are those: opens what is missing, closes what is on CPUs that left. The first
  // call throws UserError if no event can be opened; where only the event is missing and the user
  // allows it, cpu-clock is taken, and event() tells.
  void Follow(const std::vector<int>& online);
  void Enable();
  void Stop();

  const SampledEvent& event() const { return event_; }
  std::vector<int> cpus() const;      // that are sampled
  std::vector<int> wait_fds() const;  // readable when there are records

  // Takes the records that there are, of each CPU in their order.
  void Drain(const std::function<void(const SideRecord&)>& sink);
  // Follows who is sampled, by records in their order.
  void NoteTask(const SideRecord& record);
  bool AllGone() const { return !tasks_.everyone && tasks_.tids.empty(); }

 private:
  struct OneCpu {
    Event side;
    std::optional<Ring> records;
    std::vector<Event> samplers;
    std::vector<BpfLink> links;
  };

  bool Wanted(int cpu) const;
  OpenResult TrySampler(int cpu, int tid) const;
  void AddSampler(OneCpu& one, Event event);
  void Attach(int cpu);

  const Options& options_;
  SampledEvent event_;
  Tasks tasks_;
  BpfSide& bpf_;
  std::map<int, OneCpu> cpus_;
  bool begun_ = false;
  bool enabled_ = false;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_CPU_EVENTS_H_
