// SPDX-License-Identifier: Apache-2.0
// The cgroup that every task is in.
#ifndef PMUCONF_LIB_ROOT_CGROUP_H_
#define PMUCONF_LIB_ROOT_CGROUP_H_

#include "pmuconf/fd.h"

namespace pmuconf {

// The folder of the root of the cgroups (version 2), which is mounted nowhere for it; from then on
// perf knows all of them. None without the rights to mount, or where this hierarchy has no
// controllers.
Fd RootCgroup();

}  // namespace pmuconf

#endif  // PMUCONF_LIB_ROOT_CGROUP_H_
