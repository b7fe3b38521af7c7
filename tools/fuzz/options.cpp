// SPDX-License-Identifier: Apache-2.0
#include "tools/fuzz/options.h"

#include <CLI/CLI.hpp>

namespace pmuconf {

CLI::App* AddFuzz(CLI::App* app, FuzzOptions* options) {
  auto* const fuzz = app->add_subcommand(
      "fuzz", "run random programs of perf operations on a PMU, and look for faults of the kernel");
  fuzz->add_option("--pmu", options->pmu, "name of the PMU in sysfs")->required();
  fuzz->add_option("--time", options->seconds, "seconds (default: until Ctrl-C)")
      ->check(CLI::PositiveNumber);
  fuzz->add_option("--seed", options->seed, "seed of the programs")->capture_default_str();
  fuzz->add_option("--from", options->from, "number of the first program")->capture_default_str();
  fuzz->add_option("--programs", options->programs, "number of programs (default: no limit)")
      ->check(CLI::PositiveNumber);
  fuzz->add_option("--out", options->out,
                   "folder for the last program, while it runs, and for findings")
      ->capture_default_str();
  fuzz->add_flag("--cpus", options->cpus, "programs also take the second CPU offline");
  fuzz->add_flag("--blind", options->blind,
                 "draw operations that know nothing of each other or of sysfs, for comparison");
  return fuzz;
}

}  // namespace pmuconf
