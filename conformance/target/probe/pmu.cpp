// SPDX-License-Identifier: Apache-2.0
#include "target/probe/pmu.h"

#include <sys/mman.h>
#include <unistd.h>

#include "perf/matchers.h"
#include "system/cpu.h"
#include "system/sysfs.h"
#include "target/target.h"

namespace pmuconf {

std::string FolderOf(const std::string& pmu) { return std::string(kEventSource) + "/" + pmu; }

std::string ErrnoText(int error) { return error == 0 ? "opens" : "gives " + ErrnoName(error); }

ProbedPmu::ProbedPmu(PmuFacts* facts) {
  const std::string folder = FolderOf(facts->device);
  facts->type = TypeOfPmu(facts->device);
  const auto mask = ReadFile(folder + "/cpumask");
  const auto cpus = ReadFile(folder + "/cpus");
  const auto listed = ParseCpuList(mask.value_or(cpus.value_or("")));
  cpu_ = listed && !listed->empty() ? listed->front() : OnlineCpus().front();
  PinTo(cpu_);
  per_cpu_ = mask.has_value();
  if (mask) {
    facts->kind = "uncore";
    facts->kind_how = "sysfs has a cpumask: " + *mask;
  } else if (facts->type == PERF_TYPE_SOFTWARE) {
    facts->kind = "software";
    facts->kind_how = "its type is PERF_TYPE_SOFTWARE";
  } else if (facts->type == PERF_TYPE_TRACEPOINT) {
    facts->kind = "tracepoint";
    facts->kind_how = "its type is PERF_TYPE_TRACEPOINT";
  } else if (HasAux(facts->type)) {
    facts->kind = "trace";
    facts->kind_how = "an event of it maps an AUX area";
  } else {
    facts->kind = "core";
    facts->kind_how = "sysfs has no cpumask, and no AUX area can be mapped";
  }
}

bool ProbedPmu::HasAux(std::uint32_t type) const {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = type;
  attr.disabled = 1;
  const SysResult opened = TryOpenRaw(&attr, -1, cpu_, -1, PERF_FLAG_FD_CLOEXEC);
  if (!opened.ok()) return false;
  const Fd fd(static_cast<int>(opened.value));
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const base = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return false;
  auto* const control = static_cast<perf_event_mmap_page*>(base);
  control->aux_offset = 2 * page;
  control->aux_size = 4 * page;
  void* const aux = mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(),
                         static_cast<off_t>(2 * page));
  if (aux != MAP_FAILED) munmap(aux, 4 * page);
  munmap(base, 2 * page);
  return aux != MAP_FAILED;
}

OpenResult ProbedPmu::Open(const EventSpec& spec, OpenOptions options, int group_fd) const {
  options.pid = per_cpu_ ? -1 : 0;
  options.cpu = per_cpu_ ? cpu_ : -1;
  options.group_fd = group_fd;
  return OpenAt(spec, options);
}

OpenResult ProbedPmu::OpenAt(const EventSpec& spec, const OpenOptions& options) {
  perf_event_attr attr = MakeAttr(spec, options);
  const SysResult result =
      TryOpenRaw(&attr, options.pid, options.cpu, options.group_fd, PERF_FLAG_FD_CLOEXEC);
  if (!result.ok()) return {Event(), result.error};
  return {Event(Fd(static_cast<int>(result.value)), attr), 0};
}

Finding ProbedPmu::Try(const EventSpec& spec, const OpenOptions& options,
                       const std::string& what) const {
  const OpenResult opened = Open(spec, options);
  return {0, opened.error, what + " " + ErrnoText(opened.error)};
}

Finding ProbedPmu::TryAny(const std::vector<EventFacts>& events, const OpenOptions& options,
                          const std::string& what) const {
  Finding first = Try(events.front().spec, options, what);
  for (const EventFacts& event : events) {
    Finding finding = Try(event.spec, options, what);
    if (finding.ok()) return finding;
  }
  return first;
}

Finding ProbedPmu::TryTask(const std::vector<EventFacts>& events, const std::string& what, int cpu,
                           OpenOptions options) const {
  options.cpu = cpu;
  const auto attempt = [&](const EventSpec& spec) {
    const OpenResult opened = OpenAt(spec, options);
    return Finding{0, opened.error, what + " " + ErrnoText(opened.error)};
  };
  Finding first = attempt(events.front().spec);
  for (const EventFacts& event : events) {
    Finding finding = attempt(event.spec);
    if (finding.ok()) return finding;
  }
  return first;
}

}  // namespace pmuconf
