// SPDX-License-Identifier: Apache-2.0
// Detects registers of this processor beyond the general ones.
#include "perf/registers.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace pmuconf::reg {

bool HasVectors() {
#if defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
#else
  return true;
#endif
}

}  // namespace pmuconf::reg
