// SPDX-License-Identifier: Apache-2.0
// The cgroup that programs open events of.
#ifndef PMUCONF_PROGRAM_CGROUP_H_
#define PMUCONF_PROGRAM_CGROUP_H_

#include "pmuconf/fd.h"

namespace pmuconf {

// The folder of the root of the cgroups (version 2), which is mounted nowhere for it. None without
// the rights to mount, or where this hierarchy has no controllers.
Fd RootCgroup();

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_CGROUP_H_
