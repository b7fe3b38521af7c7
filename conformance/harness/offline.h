// SPDX-License-Identifier: Apache-2.0
// A CPU that goes offline and returns.
#ifndef PMUCONF_HARNESS_OFFLINE_H_
#define PMUCONF_HARNESS_OFFLINE_H_

#include <fstream>
#include <string>

#include "harness/case.h"

namespace pmuconf {

// Takes `cpu` offline while the object lives. Cap::kHotplug guarantees that target().Cpu(1) can go
// offline.
class Offline {
 public:
  explicit Offline(int cpu) : cpu_(cpu) {
    if (!Write("0")) throw Broken("CPU " + std::to_string(cpu) + " does not go offline");
  }
  Offline(const Offline&) = delete;
  ~Offline() {
    if (off_) Write("1");
  }
  // Brings the CPU online, with a manual clock, as cases expect it.
  void Return() {
    if (!Write("1")) throw Broken("CPU " + std::to_string(cpu_) + " does not come back online");
    off_ = false;
    if (target().Claims(Cap::kManualClock)) port().SetManualClock(cpu_, true);
  }

 private:
  bool Write(const char* state) const {
    std::ofstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu_) + "/online");
    file << state << std::flush;
    return file.good();
  }
  int cpu_;
  bool off_ = true;
};

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_OFFLINE_H_
