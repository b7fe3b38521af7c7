// SPDX-License-Identifier: Apache-2.0
// The stimulus port of the target.
#ifndef PMUCONF_TARGET_TARGET_PORT_H_
#define PMUCONF_TARGET_TARGET_PORT_H_

#include "stimulus/stimulus.h"

namespace pmuconf {

// Returns the port of this process, which the first call opens. Throws Broken if the target has
// none.
const Port& port();

// The clock of one CPU runs automatically during the lifetime of this object. Then it is manual
// again, the default in a case.
class AutoClock {
 public:
  explicit AutoClock(int cpu = REFPMU_CPU_CURRENT);
  AutoClock(const AutoClock&) = delete;
  ~AutoClock();

 private:
  int cpu_;
};

// Holds the interrupt line of one CPU low until Release() or destruction.
class HoldLine {
 public:
  explicit HoldLine(int cpu = REFPMU_CPU_CURRENT);
  HoldLine(const HoldLine&) = delete;
  ~HoldLine();
  void Release();

 private:
  int cpu_;
  bool held_ = true;
};

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_TARGET_PORT_H_
