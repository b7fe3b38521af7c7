// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf specify`.
#ifndef PMUCONF_TOOLS_SPECIFY_COMMAND_H_
#define PMUCONF_TOOLS_SPECIFY_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

namespace pmuconf {

struct SpecifyOptions {
  double seconds = 0;  // 0: no limit
  std::uint64_t seed = 1;
  std::uint64_t programs = 0;      // 0: no limit
  std::uint64_t from = 0;          // the number of the first program
  bool keep_going = false;         // do not stop at the first disagreement
  std::string record;              // the file that receives each program with its observations
  std::vector<std::string> files;  // programs as text, to run instead
};

// Runs programs on the target in the context, and prints a JSON object. Returns the exit status: 0
// if each observation was as predicted or is a known deviation; 1 if not, or if a program hung.
int Specify(const SpecifyOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_COMMAND_H_
