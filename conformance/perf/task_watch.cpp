// SPDX-License-Identifier: Apache-2.0
#include "perf/task_watch.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <sstream>

#include "perf/event.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

constexpr std::size_t kPages = 64;                 // about 6000 switches
constexpr std::size_t kNamed = 4;                  // tasks that the text names
constexpr unsigned long kKernelThread = 0x200000;  // PF_KTHREAD of the kernel
constexpr pid_t kKthreadd = 2;                     // the parent of all other kernel threads

bool ReadFacts(pid_t pid, TaskFacts* facts) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return false;
  // The fields after the name: state, ppid, pgrp, session, tty, tpgid, flags.
  std::istringstream fields(stat->substr(std::min(stat->rfind(')') + 1, stat->size())));
  std::string state;
  long session = 0, tty = 0, tpgid = 0;
  unsigned long flags = 0;
  fields >> state >> facts->parent >> facts->group >> session >> tty >> tpgid >> flags;
  facts->kernel_thread = (flags & kKernelThread) != 0;
  return static_cast<bool>(fields);
}

std::string NameOf(pid_t pid) {
  return ReadFile("/proc/" + std::to_string(pid) + "/comm").value_or("ended");
}

}  // namespace

std::set<pid_t> SwitchedTasks(std::span<const Record> records) {
  std::set<pid_t> tasks;
  for (const Record& record : records) {
    std::uint32_t ids[4] = {};  // pid and tid of the other task, then of the current one
    if (record.type != PERF_RECORD_SWITCH_CPU_WIDE || record.body.size() < sizeof(ids)) continue;
    std::memcpy(ids, record.body.data(), sizeof(ids));
    for (const std::uint32_t id : {ids[0], ids[2]}) {
      const auto pid = static_cast<pid_t>(id);
      if (pid > 0) tasks.insert(pid);  // -1: the task is being released
    }
  }
  return tasks;
}

std::map<pid_t, pid_t> ParentsIn(std::span<const Record> records) {
  std::map<pid_t, pid_t> parents;
  for (const Record& record : records) {
    std::uint32_t ids[2] = {};  // pid and ppid
    const bool of_task = record.type == PERF_RECORD_FORK || record.type == PERF_RECORD_EXIT;
    if (!of_task || record.body.size() < sizeof(ids)) continue;
    std::memcpy(ids, record.body.data(), sizeof(ids));
    // A new or ended thread has its own process as both.
    if (ids[0] != ids[1]) parents[static_cast<pid_t>(ids[0])] = static_cast<pid_t>(ids[1]);
  }
  return parents;
}

std::set<pid_t> Foreign(const std::set<pid_t>& tasks, const std::set<pid_t>& family,
                        const std::map<pid_t, pid_t>& parents,
                        const std::function<bool(pid_t, TaskFacts*)>& facts) {
  const auto belongs = [&](pid_t task) {
    // A loop is possible, because a pid may be used again.
    std::set<pid_t> seen;
    while (task > 0 && seen.insert(task).second) {
      if (family.contains(task) || task == kKthreadd) return true;
      TaskFacts found;
      if (facts(task, &found)) {
        if (found.kernel_thread || family.contains(found.group)) return true;
      }
      // A record has the parent at that time. /proc has a later one if the parent has ended.
      const auto recorded = parents.find(task);
      task = recorded != parents.end() ? recorded->second : found.parent;
    }
    return false;
  };
  std::set<pid_t> foreign;
  std::ranges::copy_if(tasks, std::inserter(foreign, foreign.end()),
                       [&](pid_t task) { return !belongs(task); });
  return foreign;
}

TaskWatch::TaskWatch(const std::vector<int>& cpus) {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TID;
  attr.sample_id_all = 1;
  attr.context_switch = 1;
  attr.task = 1;
  for (const int cpu : cpus) {
    const SysResult opened = TryOpenRaw(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (!opened.ok()) continue;
    Event event(Fd(static_cast<int>(opened.value)), attr);
    if (!Ring::TryMap(event, kPages).ok()) continue;
    Ring ring(event, kPages);
    watched_.emplace(cpu, Watched{std::move(event), std::move(ring)});
  }
}

void TaskWatch::Restart() {
  for (auto& [cpu, watched] : watched_) watched.ring.set_tail(watched.ring.head());
}

std::string TaskWatch::Others(pid_t pid, const std::set<int>& cpus) {
  std::set<pid_t> tasks;
  std::map<pid_t, pid_t> parents;
  bool lost = false;
  for (auto& [cpu, watched] : watched_) {
    const std::vector<Record> records = watched.ring.DrainRaw();
    parents.merge(ParentsIn(records));
    if (!cpus.contains(cpu)) continue;
    tasks.merge(SwitchedTasks(records));
    lost = lost || std::ranges::any_of(records, [](const Record& record) {
             return record.type == PERF_RECORD_LOST;
           });
  }
  const std::set<pid_t> others = Foreign(tasks, {pid, getpid()}, parents, ReadFacts);
  std::string text;
  std::size_t named = 0;
  for (const pid_t other : others) {
    if (named++ == kNamed) break;
    text += (text.empty() ? "" : ", ") + std::string("task ") + std::to_string(other) + " (" +
            NameOf(other) + ")";
  }
  if (others.size() > kNamed) text += " and " + std::to_string(others.size() - kNamed) + " more";
  if (text.empty() && lost) text = "unknown, because records of task switches were lost";
  return text;
}

}  // namespace pmuconf
