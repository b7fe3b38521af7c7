// SPDX-License-Identifier: Apache-2.0
// The command "pmuconf probe".
#ifndef PMUCONF_TARGET_PROBE_COMMAND_H_
#define PMUCONF_TARGET_PROBE_COMMAND_H_

#include <CLI/CLI.hpp>
#include <string>

namespace pmuconf {

struct ProbeOptions {
  std::string pmu;
  std::string out;  // "" for standard output
  bool explain = false;
  bool json = false;
};

// Adds the subcommand. Parsing stores its arguments in `options`.
CLI::App* AddProbe(CLI::App* app, ProbeOptions* options);

// Drafts the target file, and writes it, explains it, or both. Returns the exit status. Throws
// ConfigError for options that do not fit, a PMU that is absent, or a file that cannot be written.
int Probe(const ProbeOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_COMMAND_H_
