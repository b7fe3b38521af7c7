// SPDX-License-Identifier: Apache-2.0
#include "tools/repro/options.h"

#include <CLI/CLI.hpp>

namespace pmuconf {

CLI::App* AddRepro(CLI::App* app, ReproOptions* options) {
  auto* const repro =
      app->add_subcommand("repro", "replay a program of perf operations that the fuzzer found");
  repro->add_option("file", options->file, "the program as text, or the fuzzer's input")
      ->required();
  repro->add_option("--target", options->target, "target of a fuzzer's input")
      ->capture_default_str();
  repro->add_flag("--print", options->print, "print an equivalent program in C");
  repro->add_flag("--text", options->text, "print the program as text, which can be edited");
  repro->add_flag("--cpus", options->cpus, "allow CPU hotplug although this is not a guest");
  return repro;
}

}  // namespace pmuconf
