// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf new`.
#ifndef PMUCONF_SCAFFOLD_COMMAND_H_
#define PMUCONF_SCAFFOLD_COMMAND_H_

#include <CLI/CLI.hpp>
#include <string>

#include "scaffold/new_case.h"
#include "scaffold/new_rule.h"
#include "scaffold/new_target.h"

namespace pmuconf {

struct NewOptions {
  std::string root = ".";
  scaffold::CaseRequest new_case;
  scaffold::RuleText rule = {
      .id = {}, .level = "MUST", .subject = {}, .text = {}, .why = {}, .source = {}};
  scaffold::TargetRequest target;
};

// Adds the command and its subcommands to the program.
CLI::App* AddNew(CLI::App* program, NewOptions* options);

// Writes the files of the subcommand that was parsed. Prints them, and the next command to type.
// Returns the exit status. Throws ConfigError.
int New(const CLI::App& command, const NewOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_SCAFFOLD_COMMAND_H_
