// SPDX-License-Identifier: Apache-2.0
#include "tools/specify/options.h"

#include <CLI/CLI.hpp>

namespace pmuconf {

CLI::App* AddSpecify(CLI::App* app, SpecifyOptions* options) {
  auto* const specify =
      app->add_subcommand("specify", "compare random programs with the executable specification");
  specify->add_option("--seconds", options->seconds, "stop after this time (default: no limit)")
      ->check(CLI::PositiveNumber);
  specify->add_option("--programs", options->programs, "number of programs (default: no limit)")
      ->check(CLI::PositiveNumber);
  specify->add_option("--seed", options->seed, "seed of the programs")->capture_default_str();
  specify->add_option("--from", options->from, "number of the first program")
      ->capture_default_str();
  specify->add_flag("--keep-going", options->keep_going, "do not stop at the first disagreement");
  specify->add_option("--record", options->record,
                      "file for each program with its observations, for `pmuconf compare`");
  specify->add_option("files", options->files, "programs as text, to run instead");
  return specify;
}

CLI::App* AddCompare(CLI::App* app, CompareOptions* options) {
  auto* const compare = app->add_subcommand(
      "compare", "list the programs that two recordings of `pmuconf specify` observed differently");
  compare->add_option("first", options->first, "recording of a kernel or driver")->required();
  compare->add_option("second", options->second, "recording of another one, with the same seed")
      ->required();
  return compare;
}

}  // namespace pmuconf
