// SPDX-License-Identifier: Apache-2.0
#include "scaffold/command.h"

#include <iostream>

#include "scaffold/names.h"
#include "target/target.h"

namespace pmuconf {

CLI::App* AddNew(CLI::App* program, NewOptions* options) {
  auto* const command =
      program->add_subcommand("new", "write the skeleton of a case, a rule or a target");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    auto* const one = command->add_subcommand(name, help);
    one->add_option("--root", options->root, "root of the checkout, instead of this folder");
    return one;
  };

  auto* const one_case = add("case", "write a case that fails until it has an expectation");
  one_case->add_option("id", options->new_case.id, "Area.NameOfClaim")->required();
  one_case->add_option("--rule", options->new_case.rules, "ids of the rules that it verifies")
      ->delimiter(',')
      ->required();
  one_case->add_option("--needs", options->new_case.needs, "capabilities besides the stimulus")
      ->delimiter(',');
  one_case->add_option("--file", options->new_case.file,
                       "append to this file, instead of a new one; a path from the root");

  auto* const rule = add("rule", "append a draft rule to the catalogue");
  rule->add_option("area", options->rule.id, "area, such as CNT")->required();
  rule->add_option("--text", options->rule.text,
                   "one sentence with one MUST, SHOULD or MAY, at most 40 words")
      ->required();
  rule->add_option("--source", options->rule.source,
                   "linux:FILE#SYMBOL or man:PAGE(2)#WORDS; can be repeated")
      ->required();
  rule->add_option("--why", options->rule.why, "the effect on a user if a driver violates the rule")
      ->required();
  rule->add_option("--subject", options->rule.subject,
                   "whose code has to be mended: driver, perf core, architecture or suite")
      ->required();
  rule->add_option("--level", options->rule.level, "MUST, SHOULD or MAY")->capture_default_str();

  auto* const target = add("target", "write a target file");
  target->add_option("name", options->target.name, "name of the target")->required();
  target->add_option("--base", options->target.base, "target that the file is based on");
  target->add_option("--pmu", options->target.pmu, "name of the PMU in sysfs");
  return command;
}

int New(const CLI::App& command, const NewOptions& options) {
  const scaffold::Checkout checkout(options.root);
  const std::string kind = command.get_subcommands().front()->get_name();
  scaffold::Scaffold made;
  if (kind == "case") made = NewCase(checkout, options.new_case);
  if (kind == "rule") made = NewRule(checkout, options.rule);
  if (kind == "target") made = NewTarget(checkout, options.target);
  scaffold::Write(options.root, made.changes);
  for (const scaffold::Change& change : made.changes) std::cout << change.path << "\n";
  for (const std::string& note : made.notes) std::cout << note << "\n";
  const std::string where =
      options.root == "." ? "" : "cd " + scaffold::ShellWord(options.root) + " && ";
  std::cout << "next: " << where << made.next << std::endl;
  if (!std::cout) throw ConfigError("standard output cannot be written");
  return 0;
}

}  // namespace pmuconf
