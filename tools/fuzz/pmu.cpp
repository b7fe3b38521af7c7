// SPDX-License-Identifier: Apache-2.0
#include "tools/fuzz/pmu.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "system/fd.h"
#include "target/target.h"

namespace pmuconf {
namespace {

std::string FolderOf(const std::string& name) { return std::string(kEventSource) + "/" + name; }

std::optional<long> NumberIn(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text || text->empty() || text->find_first_not_of("0123456789\n") != std::string::npos) {
    return std::nullopt;
  }
  return std::stol(*text);
}

}  // namespace

void CheckFuzzable(const std::string& name) {
  if (name.find('/') != std::string::npos || ListFolder(FolderOf(name)).empty()) {
    throw ConfigError("no PMU '" + name + "' in " + kEventSource);
  }
  if (name == "kprobe" || name == "uprobe") {
    throw ConfigError("PMU '" + name + "' is not fuzzed: its events change code that others run");
  }
}

FuzzedPmu ReadPmu(const std::string& name, const ProgramMachine& machine) {
  CheckFuzzable(name);
  const std::string folder = FolderOf(name);
  FuzzedPmu pmu;
  pmu.name = name;
  pmu.pmu = machine.model(true).pmu();
  pmu.type = pmu.pmu.type;
  for (const auto& [field, bits] : ReadFormats(folder)) pmu.fields.push_back(bits);
  for (const std::string& event : ListFolder(folder + "/events")) {
    const auto text = ReadFile(folder + "/events/" + event);
    const auto configs = text ? ReadTerms(folder, *text) : std::nullopt;
    if (configs) pmu.events.push_back(*configs);
  }
  for (const OpenEvent& event : pmu.pmu.events) {
    pmu.events.push_back({event.config, event.config1, event.config2});
  }
  // Placeholders name tracepoints.
  if (pmu.type == PERF_TYPE_TRACEPOINT) pmu.events.assign({{0xfe'0000}, {0xfe'0001}});
  if (pmu.events.empty()) {
    pmu.events.push_back({pmu.pmu.config, pmu.pmu.config1, pmu.pmu.config2});
  }
  constexpr long kMostPrecise = 3;
  pmu.precise = static_cast<unsigned>(std::clamp<long>(
      NumberIn(folder + "/caps/max_precise").value_or(kMostPrecise), 0, kMostPrecise));
  pmu.port = access(machine.port().c_str(), R_OK | W_OK) == 0;
  return pmu;
}

bool Exists(const FuzzedPmu& pmu) {
  return NumberIn(FolderOf(pmu.name) + "/type") == static_cast<long>(pmu.type);
}

unsigned FreeCounters(const OpenPmu& pmu, std::uint32_t type, int cpu) {
  std::array<Fd, kCountersLimit> events;
  unsigned running = 0;
  for (Fd& event : events) {
    perf_event_attr attr = {};
    attr.size = PERF_ATTR_SIZE_VER5;
    attr.type = type;
    attr.config = pmu.config;
    attr.config1 = pmu.config1;
    attr.config2 = pmu.config2;
    attr.bp_type = pmu.bp_type;
    attr.pinned = 1;
    event.Reset(
        static_cast<int>(syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  }
  for (const Fd& event : events) {
    std::uint64_t count = 0;
    // A pinned event without a counter is in an error state, in which a read returns 0 bytes.
    if (event.get() >= 0 && read(event.get(), &count, sizeof(count)) == sizeof(count)) ++running;
  }
  return running;
}

long ModuleReferences(const std::string& name) {
  // A driver may register several PMUs, whose names begin with that of the module.
  for (std::string module = name; !module.empty();) {
    const auto count = NumberIn("/sys/module/" + module + "/refcnt");
    if (count) return *count;
    const std::size_t end = module.find_last_of('_');
    module.resize(end == std::string::npos ? 0 : end);
  }
  return -1;
}

}  // namespace pmuconf
