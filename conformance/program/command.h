// SPDX-License-Identifier: Apache-2.0
// pmuconf repro.
#ifndef PMUCONF_PROGRAM_COMMAND_H_
#define PMUCONF_PROGRAM_COMMAND_H_

#include <string>

#include "program/program.h"

namespace pmuconf {

struct ReproOptions {
  std::string file;
  std::string target = "refpmu";  // of input that does not name it
  bool print = false;             // the program in C, instead
  bool text = false;              // the program as text, instead
  bool cpus = false;              // CPUs may be taken off outside of a guest, too
};

// The program in a file: its text, or a fuzzer's input. Throws ConfigError.
Program LoadProgram(const std::string& file, const std::string& target);

// Replays it here, on the target in the context, and says of each operation what came of it.
// Exit status: 0 as the errno model says, 1 not, or the kernel reported something, or it hung.
int Repro(const Program& program, bool cpus);

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_COMMAND_H_
