// SPDX-License-Identifier: Apache-2.0
// Lies about the global variables of BPF programs.
#ifndef PMUCONF_LIES_BPF_MEMORY_H_
#define PMUCONF_LIES_BPF_MEMORY_H_

#include "lies/liar.h"

struct bpf_object;

namespace pmuconf {

// Changes the variables of a loaded object whose name matches the path of the lie. A value that is
// still the one of the last lie is not changed again.
void LieAboutBpfMemory(Liar* liar, bpf_object* object);

}  // namespace pmuconf

#endif  // PMUCONF_LIES_BPF_MEMORY_H_
