// SPDX-License-Identifier: Apache-2.0
// Processors without a file of their own.
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cerrno>

#include "stimulus/work/code.h"

namespace pmuconf {

std::uint64_t LadderAddress(WorkKind, unsigned) { return 0; }

int LoadWork(pid_t, WorkKind, const WorkPlan&, std::uint64_t*) { return ENOSYS; }

}  // namespace pmuconf
#endif
