// SPDX-License-Identifier: Apache-2.0
// Reads what the processor and the kernel report about a hypervisor.
#include "system/hypervisor.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace pmuconf {

bool HasHypervisorFlag(std::string_view cpuinfo) {
  std::istringstream lines{std::string(cpuinfo)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("flags")) continue;
    return (line + " ").find(" hypervisor ") != std::string::npos;  // all CPUs have the same
  }
  return false;
}

bool IsVirtual() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream cpuinfo;
  cpuinfo << file.rdbuf();
  return HasHypervisorFlag(cpuinfo.str()) || access("/sys/hypervisor/type", F_OK) == 0 ||
         access("/proc/device-tree/hypervisor", F_OK) == 0;
}

bool IsPmuOfProcessor(std::string_view pmu) {
  return pmu == "cpu" || pmu.starts_with("cpu_") || pmu.starts_with("armv");
}

std::string HypervisorHint(std::string_view pmu) {
  if (!IsPmuOfProcessor(pmu) || !IsVirtual()) return "";
  return "; this machine is virtual, and its hypervisor may show no PMU of the processor";
}

}  // namespace pmuconf
