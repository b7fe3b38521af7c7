// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf repro`.
#ifndef PMUCONF_TOOLS_REPRO_COMMAND_H_
#define PMUCONF_TOOLS_REPRO_COMMAND_H_

#include <string>

#include "tools/repro/program.h"

namespace pmuconf {

struct ReproOptions {
  std::string file;
  std::string target = "refpmu";  // for a fuzzer's input, which does not name its target
  bool print = false;             // print the program as C; do not run it
  bool text = false;              // print the program as text; do not run it
  bool cpus = false;              // allow CPU hotplug outside a guest too
};

// Reads a program as text or as a fuzzer's input. Throws ConfigError.
Program LoadProgram(const std::string& file, const std::string& target);

// Replays the program on the target in the context and prints the result of each operation. Returns
// the exit status: 0 if the errno model predicted every errno; 1 if not, on a kernel report, or on
// a hang.
int Repro(const Program& program, bool cpus);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_COMMAND_H_
