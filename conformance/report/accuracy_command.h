// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf accuracy`.
#ifndef PMUCONF_REPORT_ACCURACY_COMMAND_H_
#define PMUCONF_REPORT_ACCURACY_COMMAND_H_

#include <CLI/CLI.hpp>
#include <string>

namespace pmuconf {

struct AccuracyOptions {
  std::string pmu;    // in sysfs
  bool json = false;  // print JSON
};

// Adds the command to the program.
CLI::App* AddAccuracy(CLI::App* program, AccuracyOptions* options);

// Measures the events of a PMU and prints a table. Returns 1 if an event does not count the work
// that its name states, or if a CPU counts unlike the others, and else 0. Throws ConfigError.
int AccuracyCommand(const AccuracyOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_ACCURACY_COMMAND_H_
