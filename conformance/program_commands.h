// SPDX-License-Identifier: Apache-2.0
// The commands that run programs of perf operations: repro, specify, compare and fuzz.
#ifndef PMUCONF_PROGRAM_COMMANDS_H_
#define PMUCONF_PROGRAM_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "tools/fuzz/options.h"
#include "tools/repro/options.h"
#include "tools/specify/options.h"

namespace pmuconf {

class ProgramCommands {
 public:
  // Adds the commands to `app`.
  explicit ProgramCommands(CLI::App* app);
  ProgramCommands(const ProgramCommands&) = delete;

  bool parsed() const;  // one of them
  // Runs that one and returns its exit status. Throws ConfigError or Broken.
  int Run() const;

 private:
  int ReproOne() const;
  int SpecifyTarget() const;

  ReproOptions repro_options_;
  SpecifyOptions specify_options_;
  std::string specify_target_;
  CompareOptions compare_options_;
  FuzzOptions fuzz_options_;
  CLI::App *repro_, *specify_, *compare_, *fuzz_;
};

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_COMMANDS_H_
