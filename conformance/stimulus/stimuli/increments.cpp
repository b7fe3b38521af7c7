// SPDX-License-Identifier: Apache-2.0
// Software increments of arm64 counters, by a write to PMSWINC_EL0.
#include <unistd.h>

#include "stimulus/stimuli.h"
#include "system/broken.h"

namespace pmuconf {
namespace {

// Without this module each write raises SIGILL.
constexpr const char* kModule = "/sys/module/refpmu_swinc";

}  // namespace

void Increment([[maybe_unused]] std::uint64_t n) {
  static const bool may = access(kModule, F_OK) == 0;
  if (!may) throw Broken("software increments need the module refpmu_swinc");
#if defined(__aarch64__)
  // For all counters except fixed ones. The barrier ensures that the increment has been counted.
  constexpr std::uint64_t kCounters = 0x7fff'ffff;
  for (; n > 0; --n) asm volatile("msr pmswinc_el0, %0\n\tisb" : : "r"(kCounters) : "memory");
#else
  throw Broken("no software increments on this processor");
#endif
}

}  // namespace pmuconf
