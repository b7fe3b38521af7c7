// SPDX-License-Identifier: Apache-2.0
// Executes branches whose source addresses contain real branch instructions, for drivers that
// decode the instruction.
#ifndef PMUCONF_STIMULUS_BRANCH_CODE_H_
#define PMUCONF_STIMULUS_BRANCH_CODE_H_

#include <vector>

#include "stimulus/stimulus.h"

namespace pmuconf {

// Writes an x86 instruction of the right kind at each user address that a branch comes from, then
// injects the branches in order. The instructions stay. The addresses must be unmapped or mapped by
// an earlier call; addresses from 0x60000000 on are unmapped.
void RunBranches(const Port& port, const std::vector<Branch>& branches);

}  // namespace pmuconf

#endif  // PMUCONF_STIMULUS_BRANCH_CODE_H_
