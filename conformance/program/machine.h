// SPDX-License-Identifier: Apache-2.0
// The machine that programs run on, and what its kernel has to answer to their calls.
#ifndef PMUCONF_PROGRAM_MACHINE_H_
#define PMUCONF_PROGRAM_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pmuconf/fd.h"
#include "pmuconf/open_model.h"

namespace pmuconf {

class ProgramMachine {
 public:
  // Of a kernel and its PMUs, the target's first; `port`: the file of its stimulus port; `cgroup`:
  // the folder of one, if there is any.
  ProgramMachine(OpenSystem system, const std::vector<OpenPmu>& pmus, std::string port,
                 Fd cgroup = Fd());
  ProgramMachine(const ProgramMachine&) = delete;

  const OpenModel& model(bool rights) const { return rights ? with_ : without_; }
  const std::string& port() const { return port_; }
  int cgroup() const { return cgroup_.get(); }  // -1: none

  // The call with this machine's numbers. What the errno model does not know, or what should not
  // be tried (a probe at an address of chance, a tracepoint of any kind), becomes what nobody has.
  OpenCall Bind(OpenCall call) const;

  const OpenPmu* PmuOf(std::uint32_t type) const;

 private:
  OpenModel with_, without_;
  std::string port_;
  Fd cgroup_;
};

// This machine, of the target in the context. Throws ConfigError or Broken if it is not fit.
ProgramMachine ProgramMachineHere();

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_MACHINE_H_
