// SPDX-License-Identifier: Apache-2.0
// Software increments of counters.
#include <unistd.h>

#include "arch/arch.h"
#include "stimulus/stimuli.h"
#include "system/broken.h"

namespace pmuconf {
namespace {

// Without this module each write raises SIGILL.
constexpr const char* kModule = "/sys/module/refpmu_swinc";

}  // namespace

void Increment(std::uint64_t n) {
  static const bool may = access(kModule, F_OK) == 0;
  if (!may) throw Broken("software increments need the module refpmu_swinc");
  if (!processor::kIncrements) throw Broken("no software increments on this processor");
  for (; n > 0; --n) processor::SoftwareIncrement();
}

}  // namespace pmuconf
