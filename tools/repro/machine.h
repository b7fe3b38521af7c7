// SPDX-License-Identifier: Apache-2.0
// The machine that runs programs, and its errno models.
#ifndef PMUCONF_TOOLS_REPRO_MACHINE_H_
#define PMUCONF_TOOLS_REPRO_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/open_model.h"
#include "system/fd.h"

namespace pmuconf {

class ProgramMachine {
 public:
  // `pmus`: the target's PMU comes first. `port`: the path of its stimulus port. `cgroup`: a
  // descriptor of a cgroup's directory. `trace`: the type of the target's PMU with an AUX area, if
  // it has one.
  ProgramMachine(OpenSystem system, const std::vector<OpenPmu>& pmus, std::string port,
                 Fd cgroup = Fd(), std::optional<std::uint32_t> trace = std::nullopt);
  ProgramMachine(const ProgramMachine&) = delete;

  // Returns the errno model for a caller with or without privileges.
  const OpenModel& model(bool rights) const { return rights ? with_ : without_; }
  const std::string& port() const { return port_; }
  std::string trace_port() const { return port_ + "_trace"; }
  int cgroup() const { return cgroup_.get(); }  // -1: none

  // Returns the call with the numbers of this machine. Replaces values that the model does not know
  // or that are dangerous (a kprobe at a random address, an arbitrary tracepoint) by invalid ones.
  OpenCall Bind(OpenCall call) const;

  const OpenPmu* PmuOf(std::uint32_t type) const;
  // Returns whether programs open events of that PMU although the model does not know it.
  bool IsTrace(std::uint32_t type) const { return trace_ && *trace_ == type; }
  // Returns whether a driver decides about the event whose checks the model does not know.
  bool IsOpaque(const perf_event_attr& attr) const;

 private:
  OpenModel with_, without_;
  std::string port_;
  Fd cgroup_;
  std::optional<std::uint32_t> trace_;
};

// Returns this machine, for a PMU in sysfs, which may be one that the model does not know. Throws
// ConfigError if there is no such PMU.
ProgramMachine ProgramMachineFor(const std::string& pmu);

// Returns this machine, for the target in the context. Throws ConfigError or Broken if the machine
// is not suitable.
ProgramMachine LocalProgramMachine();

// Opens a disabled event of each software event of the machine. While they are open, the kernel's
// text stays patched. Otherwise it would be patched for each program.
std::vector<Fd> HoldStaticKeys(const ProgramMachine& machine);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_MACHINE_H_
