// SPDX-License-Identifier: Apache-2.0
#include "perf/other_tasks.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "perf/event.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

constexpr std::size_t kPages = 32;                 // about 3000 switches
constexpr unsigned long kKernelThread = 0x200000;  // PF_KTHREAD of the kernel

struct Watched {
  Event event;
  Ring ring;
};

std::map<int, std::unique_ptr<Watched>>& AllWatched() {
  static std::map<int, std::unique_ptr<Watched>> all_watched;
  return all_watched;
}

// Returns whether the task never runs in user mode. A task that has ended was none of these: they
// seldom end.
bool IsKernelThread(pid_t pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return false;
  // The fields after the name: state, ppid, pgrp, session, tty, tpgid, flags.
  std::istringstream fields(stat->substr(std::min(stat->rfind(')') + 1, stat->size())));
  std::string skipped;
  for (int i = 0; i < 6; ++i) fields >> skipped;
  unsigned long flags = 0;
  fields >> flags;
  return (flags & kKernelThread) != 0;
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
    for (const std::uint32_t pid : {ids[0], ids[2]}) {
      if (pid != 0) tasks.insert(static_cast<pid_t>(pid));
    }
  }
  return tasks;
}

void WatchTasks(int cpu) {
  if (AllWatched().contains(cpu)) return;
  AllWatched()[cpu] = nullptr;
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TID;
  attr.sample_id_all = 1;
  attr.context_switch = 1;
  const SysResult opened = TryOpenRaw(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (!opened.ok()) return;
  Event event(Fd(static_cast<int>(opened.value)), attr);
  if (!Ring::TryMap(event, kPages).ok()) return;
  Ring ring(event, kPages);
  AllWatched()[cpu] = std::make_unique<Watched>(std::move(event), std::move(ring));
}

std::string OtherTasks(pid_t own) {
  std::set<pid_t> tasks;
  for (const auto& [cpu, watched] : AllWatched()) {
    if (watched) tasks.merge(SwitchedTasks(watched->ring.DrainRaw()));
  }
  std::string text;
  for (const pid_t pid : tasks) {
    if (pid == own || pid == getpid() || pid < 0 || IsKernelThread(pid)) continue;
    text += (text.empty() ? "" : ", ") + std::string("task ") + std::to_string(pid) + " (" +
            NameOf(pid) + ")";
  }
  return text;
}

}  // namespace pmuconf
