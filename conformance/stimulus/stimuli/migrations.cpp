// SPDX-License-Identifier: Apache-2.0
// Migrations: moves this thread from CPU to CPU.
#include "stimulus/stimuli.h"
#include "system/broken.h"
#include "system/cpu.h"

namespace pmuconf {

void Migrate(std::uint64_t n, int first_cpu, int second_cpu) {
  if (CurrentCpu() != first_cpu && CurrentCpu() != second_cpu) {
    throw Broken("the case is on neither CPU");
  }
  for (std::uint64_t i = 0; i < n; ++i) PinTo(CurrentCpu() == first_cpu ? second_cpu : first_cpu);
}

}  // namespace pmuconf
