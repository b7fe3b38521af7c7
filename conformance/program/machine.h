// SPDX-License-Identifier: Apache-2.0
// The machine that programs run on, and what its kernel has to answer to their calls.
#ifndef PMUCONF_PROGRAM_MACHINE_H_
#define PMUCONF_PROGRAM_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pmuconf/fd.h"
#include "pmuconf/open_model.h"

namespace pmuconf {

class ProgramMachine {
 public:
  // Of a kernel and its PMUs, the target's first; `port`: the file of its stimulus port; `cgroup`:
  // the folder of one, and `trace`: the type of the target's PMU with an AUX area, if there is any.
  ProgramMachine(OpenSystem system, const std::vector<OpenPmu>& pmus, std::string port,
                 Fd cgroup = Fd(), std::optional<std::uint32_t> trace = std::nullopt);
  ProgramMachine(const ProgramMachine&) = delete;

  const OpenModel& model(bool rights) const { return rights ? with_ : without_; }
  const std::string& port() const { return port_; }
  std::string trace_port() const { return port_ + "_trace"; }
  int cgroup() const { return cgroup_.get(); }  // -1: none

  // The call with this machine's numbers. What the errno model does not know, or what should not
  // be tried (a probe at an address of chance, a tracepoint of any kind), becomes what nobody has.
  OpenCall Bind(OpenCall call) const;

  const OpenPmu* PmuOf(std::uint32_t type) const;
  // Whether the model knows nothing of that PMU, though programs open its events.
  bool IsTrace(std::uint32_t type) const { return trace_ && *trace_ == type; }

 private:
  OpenModel with_, without_;
  std::string port_;
  Fd cgroup_;
  std::optional<std::uint32_t> trace_;
};

// This machine, of the target in the context. Throws ConfigError or Broken if it is not fit.
ProgramMachine ProgramMachineHere();

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_MACHINE_H_
