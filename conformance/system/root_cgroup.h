// SPDX-License-Identifier: Apache-2.0
// The root cgroup, which contains every task.
#ifndef PMUCONF_SYSTEM_ROOT_CGROUP_H_
#define PMUCONF_SYSTEM_ROOT_CGROUP_H_

#include "system/fd.h"

namespace pmuconf {

// Returns the root directory of cgroup v2, mounted without a mount point. After the call, perf has
// its state for all cgroups. Returns a closed Fd without the privilege to mount, or if this
// hierarchy has no controllers.
Fd RootCgroup();

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_ROOT_CGROUP_H_
