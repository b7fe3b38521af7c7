// SPDX-License-Identifier: Apache-2.0
// The code that a worker executes.
#ifndef PMUCONF_STIMULUS_WORK_CODE_H_
#define PMUCONF_STIMULUS_WORK_CODE_H_

#include <sys/types.h>

#include <cstdint>

#include "stimulus/work/work.h"

namespace pmuconf {

// Sets the registers of the stopped task `pid`: it then goes `plan.rounds` times round the loop of
// `kind` and executes the straight line code, or executes `plan.single` units of that code if there
// are no rounds. It ends with tgkill(pid, pid, SIGSTOP). `memory` is a word for loads and stores.
// Returns 0 or the errno of ptrace(2).
int LoadWork(pid_t pid, WorkKind kind, const WorkPlan& plan, std::uint64_t* memory);

}  // namespace pmuconf

#endif  // PMUCONF_STIMULUS_WORK_CODE_H_
