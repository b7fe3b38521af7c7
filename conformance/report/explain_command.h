// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf explain`.
#ifndef PMUCONF_REPORT_EXPLAIN_COMMAND_H_
#define PMUCONF_REPORT_EXPLAIN_COMMAND_H_

#include <CLI/CLI.hpp>
#include <string>

namespace pmuconf {

struct ExplainOptions {
  std::string id;        // of a rule, a case, or a KUnit or pytest test
  std::string evidence;  // empty: evidence.json next to the program
  std::string out;       // folder for the pages of --markdown
  bool json = false;
  bool markdown = false;
  bool unproven = false;
};

// Adds the command to the program.
CLI::App* AddExplain(CLI::App* program, ExplainOptions* options);

// Prints or writes what the options select. Returns the exit status. Throws ConfigError.
int Explain(const ExplainOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_EXPLAIN_COMMAND_H_
