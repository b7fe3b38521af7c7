// SPDX-License-Identifier: Apache-2.0
// C++ interface of a stimulus port: that of the reference PMU (/dev/refpmu,
// driver/include/uapi/refpmu.h), or the page of a device (port_page.h). Every call throws Broken on
// failure, except calls whose names begin with Try.
#ifndef PMUCONF_STIMULUS_STIMULUS_H_
#define PMUCONF_STIMULUS_STIMULUS_H_

#include <uapi/refpmu.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "perf/event.h"
#include "stimulus/page.h"
#include "system/fd.h"

namespace pmuconf {

enum class Privilege { kUser = REFPMU_PRIV_USER, kKernel = REFPMU_PRIV_KERNEL };

// Use designated initialisers, in this order.
struct PulseOptions {
  int cpu = REFPMU_CPU_CURRENT;  // on another CPU, events of this task do not count the pulses
  Privilege privilege = Privilege::kUser;
  std::uint64_t ip = 0;    // the address in samples; 0: the caller's
  std::uint64_t addr = 0;  // the data address in samples (pulses only)
  std::uint32_t skid = 0;  // events after the overflow that are counted before its interrupt
  // For pulses only.
  std::uint32_t per_pulse = 1;   // occurrences of each event per pulse
  std::uint32_t latency = 0;     // cycles
  std::uint64_t source = 0;      // of the data, as PERF_MEM_* bits
  std::uint64_t response = 0;    // off-core request and response bits
  const refpmu_regs* regs = {};  // the registers in samples; null: zeros

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

// A taken branch. Use designated initialisers, in this order.
struct Branch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  BranchKind kind = BranchKind::kJump;
  Privilege privilege = Privilege::kUser;  // at the target of the branch
  std::uint32_t flags = 0;                 // REFPMU_BRANCH_*
  std::uint32_t cycles = 0;                // since the previous branch
};

struct InjectResult {
  std::uint32_t runs = 0;     // handler runs
  std::uint32_t claimed = 0;  // handler runs that claimed the interrupt
};

class Port {
 public:
  // `path` is a file, or the place of a port page, like "page:0xfed81000".
  explicit Port(const std::string& path = "/dev/refpmu");

  // Injects `n` events of `code`: event in bits 0-7, unit mask in bits 8-15, or as the model of a
  // device numbers its events. Throws Broken unless all happened.
  void Pulse(std::uint64_t code, std::uint64_t n, const PulseOptions& options = {}) const;
  // Sets `size`; the port sets `done`, the number of pulses that happened.
  SysResult TryPulse(refpmu_pulse& pulse) const;

  // Injects the branches in order. Throws Broken unless all happened.
  void Branches(const std::vector<Branch>& branches, int cpu = REFPMU_CPU_CURRENT) const;

  void SetManualClock(int cpu, bool manual) const;
  // Advances the manual clock by `ticks`. Throws Broken unless all passed.
  void Advance(std::uint64_t ticks, const PulseOptions& options = {}) const;

  std::uint64_t ReadRegister(std::uint32_t reg, int cpu = REFPMU_CPU_CURRENT) const;
  void WriteRegister(std::uint32_t reg, std::uint64_t value, int cpu = REFPMU_CPU_CURRENT) const;

  void SetLine(bool held, int cpu = REFPMU_CPU_CURRENT) const;
  InjectResult Inject(std::uint64_t status, int cpu = REFPMU_CPU_CURRENT) const;

  // Returns the newest entries of the log, at most `capacity`, oldest first.
  std::vector<refpmu_log_entry> Log(std::size_t capacity = 4096,
                                    int cpu = REFPMU_CPU_CURRENT) const;
  refpmu_stats Stats(int cpu = REFPMU_CPU_CURRENT) const;
  refpmu_info Info() const;
  void Reset() const;  // clears statistics and log, releases lines, sets clocks to automatic

  SysResult TryIoctl(unsigned long request, void* arg) const;
  int fd() const { return fd_.get(); }  // -1 if it is a page

 private:
  Fd fd_;
  std::shared_ptr<const Page> page_;  // null if it is a file
};

}  // namespace pmuconf

#endif  // PMUCONF_STIMULUS_STIMULUS_H_
