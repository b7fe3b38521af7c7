// SPDX-License-Identifier: Apache-2.0
// The stimulus port of the reference PMU (/dev/refpmu; driver/include/uapi/refpmu.h), as C++.
// Every call asserts (BROKEN) unless it is named Try.
#ifndef PMUCONF_STIMULUS_H_
#define PMUCONF_STIMULUS_H_

#include <uapi/refpmu.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pmuconf/event.h"
#include "pmuconf/fd.h"

namespace pmuconf {

enum class Privilege { kUser = REFPMU_PRIV_USER, kKernel = REFPMU_PRIV_KERNEL };

// Designated initialisers, in this order.
struct PulseOptions {
  int cpu = REFPMU_CPU_CURRENT;  // a foreign CPU: this task's events do not see it
  Privilege privilege = Privilege::kUser;
  std::uint64_t ip = 0;    // what samples show; 0: the caller's
  std::uint64_t addr = 0;  // what samples show (pulses only)
  std::uint32_t skid = 0;  // events counted after the overflow before the interrupt
  // Pulses only.
  std::uint32_t per_pulse = 1;   // occurrences in the cycle of each event
  std::uint32_t latency = 0;     // cycles
  std::uint64_t source = 0;      // of the data, as PERF_MEM_* bits
  std::uint64_t response = 0;    // off-core request and response bits
  const refpmu_regs* regs = {};  // what samples of registers show; null: zeros

  bool operator==(const PulseOptions&) const = default;
};

enum class BranchKind : std::uint32_t {
  kConditional,
  kCall,
  kIndirectCall,
  kReturn,
  kIndirectJump,
  kJump,
  kFar,
};

// A branch that is taken. Designated initialisers, in this order.
struct Branch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  BranchKind kind = BranchKind::kJump;
  Privilege privilege = Privilege::kUser;  // where it ends
  std::uint32_t flags = 0;                 // REFPMU_BRANCH_*
  std::uint32_t cycles = 0;                // since the branch before
};

struct InjectResult {
  std::uint32_t runs = 0;     // handler runs
  std::uint32_t claimed = 0;  // of those, the ones that claimed the interrupt
};

class Port {
 public:
  explicit Port(const std::string& path = "/dev/refpmu");

  // `n` events of `code` (event bits 0-7, unit mask 8-15). Asserts that all happened.
  void Pulse(std::uint16_t code, std::uint64_t n, const PulseOptions& options = {}) const;
  SysResult TryPulse(refpmu_pulse& pulse) const;  // fills in size; `pulse.done` is how far it came

  // The branches happen, one after the other. Asserts that all did.
  void Branches(const std::vector<Branch>& branches, int cpu = REFPMU_CPU_CURRENT) const;

  void SetManualClock(int cpu, bool manual) const;
  // `ticks` of the manual clock. Asserts that all passed.
  void Advance(std::uint64_t ticks, const PulseOptions& options = {}) const;

  std::uint64_t ReadRegister(std::uint32_t reg, int cpu = REFPMU_CPU_CURRENT) const;
  void WriteRegister(std::uint32_t reg, std::uint64_t value, int cpu = REFPMU_CPU_CURRENT) const;

  void SetLine(bool held, int cpu = REFPMU_CPU_CURRENT) const;
  InjectResult Inject(std::uint64_t status, int cpu = REFPMU_CPU_CURRENT) const;

  // Newest entries of the log (up to `capacity`), oldest first.
  std::vector<refpmu_log_entry> Log(std::size_t capacity = 4096,
                                    int cpu = REFPMU_CPU_CURRENT) const;
  refpmu_stats Stats(int cpu = REFPMU_CPU_CURRENT) const;
  refpmu_info Info() const;
  void Reset() const;  // statistics and log to zero, lines released, clocks to automatic

  SysResult TryIoctl(unsigned long request, void* arg) const;
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

// The port of this process; opens it at the first call. BROKEN if the target has none.
const Port& port();

// The clock of one CPU follows time while this lives; then it is manual again (the default of a
// case).
class AutoClock {
 public:
  explicit AutoClock(int cpu = REFPMU_CPU_CURRENT);
  AutoClock(const AutoClock&) = delete;
  ~AutoClock();

 private:
  int cpu_;
};

// The interrupt line of one CPU is held down while this lives; Release() lets it rise earlier.
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

#endif  // PMUCONF_STIMULUS_H_
