// SPDX-License-Identifier: Apache-2.0
// Branches at branch instructions, for drivers that read these.
#ifndef PMUCONF_BRANCH_CODE_H_
#define PMUCONF_BRANCH_CODE_H_

#include <vector>

#include "pmuconf/stimulus.h"

namespace pmuconf {

// The branches happen, one after the other, and at each user address that one comes from there is
// an instruction of its kind (of x86; it stays). Those addresses must be free, or from an earlier
// call; from 0x60000000 on they are.
void RunBranches(const Port& port, const std::vector<Branch>& branches);

}  // namespace pmuconf

#endif  // PMUCONF_BRANCH_CODE_H_
