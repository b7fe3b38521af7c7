// SPDX-License-Identifier: Apache-2.0
// Whether this machine is virtual.
#ifndef PMUCONF_SYSTEM_HYPERVISOR_H_
#define PMUCONF_SYSTEM_HYPERVISOR_H_

#include <string>
#include <string_view>

namespace pmuconf {

// Returns whether /proc/cpuinfo has the flag that a hypervisor of x86 sets.
bool HasHypervisorFlag(std::string_view cpuinfo);

// Returns whether this machine reports a hypervisor. A hypervisor may hide that it is one.
bool IsVirtual();

// Returns whether the processor itself has the PMU of this name in sysfs ("cpu", "armv8_pmuv3"), so
// that a hypervisor decides what a virtual machine sees of it.
bool IsPmuOfProcessor(std::string_view pmu);

// Returns the end of a message about an absent PMU: "" or the part that the hypervisor has in it.
std::string HypervisorHint(std::string_view pmu);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_HYPERVISOR_H_
