// SPDX-License-Identifier: Apache-2.0
// Migrations: moves this thread from CPU to CPU.
#include "pmuconf/broken.h"
#include "pmuconf/cpu.h"
#include "pmuconf/stimuli.h"
#include "pmuconf/target.h"

namespace pmuconf {

void Migrate(std::uint64_t n) {
  const int home = target().Cpu(0);
  const int away = target().Cpu(1);
  if (CurrentCpu() != home && CurrentCpu() != away) throw Broken("the case is on neither CPU");
  for (std::uint64_t i = 0; i < n; ++i) PinTo(CurrentCpu() == home ? away : home);
}

}  // namespace pmuconf
