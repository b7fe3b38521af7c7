// SPDX-License-Identifier: Apache-2.0
#include "report/accuracy_command.h"

#include <iostream>

#include "target/accuracy/accuracy.h"
#include "target/target.h"

namespace pmuconf {

CLI::App* AddAccuracy(CLI::App* program, AccuracyOptions* options) {
  auto* const accuracy = program->add_subcommand(
      "accuracy", "compare the counts of a PMU's events with work of known counts");
  accuracy->add_option("pmu", options->pmu, "name of the PMU in sysfs")->required();
  accuracy->add_flag("--json", options->json, "print JSON");
  return accuracy;
}

int AccuracyCommand(const AccuracyOptions& options) {
  const PmuAccuracy accuracy = MeasureAccuracy(options.pmu);
  std::cout << (options.json ? AccuracyJson(accuracy) : AccuracyTable(accuracy)) << std::flush;
  if (!std::cout) throw ConfigError("standard output cannot be written");
  return accuracy.wrong() ? 1 : 0;
}

}  // namespace pmuconf
