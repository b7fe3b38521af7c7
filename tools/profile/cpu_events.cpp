// SPDX-License-Identifier: Apache-2.0
// Opens and closes events as CPUs go online and offline.
#include "tools/profile/cpu_events.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "tools/profile/advice.h"

namespace pmuconf::profile {
namespace {

constexpr std::size_t kSidePages = 32;

bool Has(const std::vector<int>& list, int one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

CpuEvents::CpuEvents(const Options& options, SampledEvent event, Tasks tasks, BpfSide& bpf)
    : options_(options), event_(std::move(event)), tasks_(std::move(tasks)), bpf_(bpf) {}

bool CpuEvents::IsSelected(int cpu) const {
  return (options_.cpus.empty() || Has(options_.cpus, cpu)) &&
         (event_.cpus.empty() || Has(event_.cpus, cpu));
}

OpenResult CpuEvents::TrySampler(int cpu, int tid) const {
  EventSpec spec;
  spec.name = event_.name;
  spec.type = event_.type;
  spec.config = event_.config;
  spec.config1 = event_.config1;
  spec.config2 = event_.config2;
  const OpenOptions how = {
      .pid = tid,
      .cpu = cpu,
      .sample_period = options_.period,
      .sample_freq = options_.frequency,
      .inherit = tid >= 0 && tasks_.children,
      .exclude_user = event_.exclude_user || options_.kernel_only,
      .exclude_kernel = event_.exclude_kernel || options_.user_only,
      .exclude_hv = event_.exclude_kernel || options_.user_only,
      .enable_on_exec = tasks_.on_exec && !enabled_,
      // All samples and records need the same clock, to be sorted by time.
      .edit =
          [](perf_event_attr& attr) {
            attr.use_clockid = 1;
            attr.clockid = CLOCK_MONOTONIC;
          },
  };
  return TryOpen(spec, how);
}

void CpuEvents::AddSampler(EventsOfCpu& one, Event event) {
  event.SetOutput(one.side);  // so that throttle records go to the side-band ring buffer
  one.links.push_back(AttachBpf(bpf_.program(), event));
  if (enabled_) event.Enable();
  one.samplers.push_back(std::move(event));
}

void CpuEvents::Attach(int cpu) {
  OpenResult side = TryOpen(SideBandAttr(), -1, cpu);
  if (!side.ok()) {
    if (begun_) return;  // the CPU went offline again
    throw UserError(WhyNoEvent(side.error, options_, "dummy"));
  }
  EventsOfCpu one;
  one.side = std::move(side.event);
  one.records.emplace(one.side, kSidePages);
  if (IsSelected(cpu)) {
    bpf_.AddRing(cpu);
    std::vector<int> tids(tasks_.tids.begin(), tasks_.tids.end());
    if (tasks_.all_tasks) tids.push_back(-1);
    for (const int tid : tids) {
      OpenResult opened = TrySampler(cpu, tid);
      if (!begun_ && options_.fallback && IsMissingEvent(opened.error)) {
        const SampledEvent missing = event_;
        event_ = CpuClock();
        event_.exclude_user = missing.exclude_user;
        event_.exclude_kernel = missing.exclude_kernel;
        opened = TrySampler(cpu, tid);
      }
      if (opened.ok()) {
        AddSampler(one, std::move(opened.event));
        begun_ = true;
      } else if (!begun_) {
        throw UserError(WhyNoEvent(opened.error, options_, event_.name));
      }
    }
  }
  cpus_.emplace(cpu, std::move(one));
}

void CpuEvents::UpdateCpus(const std::vector<int>& online) {
  std::erase_if(cpus_, [&](const auto& entry) { return !Has(online, entry.first); });
  for (const int cpu : online) {
    if (!cpus_.contains(cpu)) Attach(cpu);
  }
  if (!begun_) throw UserError("no CPU of -C that has the PMU is online");
}

void CpuEvents::Enable() {
  enabled_ = true;
  for (auto& [cpu, one] : cpus_) {
    for (const Event& event : one.samplers) {
      if (!tasks_.on_exec) event.Enable();
    }
  }
}

void CpuEvents::Stop() {
  for (auto& [cpu, one] : cpus_) {
    for (const Event& event : one.samplers) event.TryIoctl(PERF_EVENT_IOC_DISABLE);
    one.links.clear();
  }
}

std::vector<int> CpuEvents::cpus() const {
  std::vector<int> cpus;
  for (const auto& [cpu, one] : cpus_) {
    if (!one.samplers.empty()) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> CpuEvents::wait_fds() const {
  std::vector<int> fds;
  for (const auto& [cpu, one] : cpus_) fds.push_back(one.side.fd());
  return fds;
}

void CpuEvents::UpdateTasks(const SideRecord& record) {
  if (record.kind == SideRecord::Kind::kFork && tasks_.children &&
      tasks_.tids.contains(record.parent_tid)) {
    tasks_.tids.insert(record.tid);
  }
  if (record.kind == SideRecord::Kind::kExit) tasks_.tids.erase(record.tid);
}

void CpuEvents::Drain(const std::function<void(const SideRecord&)>& sink) {
  for (auto& [cpu, one] : cpus_) {
    for (const Record& record : one.records->DrainRaw()) {
      const auto parsed = ParseSideRecord(record.type, record.misc, record.body);
      if (parsed) sink(*parsed);
    }
  }
}

}  // namespace pmuconf::profile
