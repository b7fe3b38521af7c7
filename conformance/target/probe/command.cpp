// SPDX-License-Identifier: Apache-2.0
#include "target/probe/command.h"

#include <fstream>
#include <iostream>

#include "target/probe.h"
#include "target/target.h"

namespace pmuconf {

CLI::App* AddProbe(CLI::App* app, ProbeOptions* options) {
  auto* const probe = app->add_subcommand("probe", "draft a target file for a PMU of this machine");
  probe->add_option("pmu", options->pmu, "name of the PMU in sysfs")->required();
  probe->add_option("--out", options->out, "file for the draft, instead of standard output");
  probe->add_flag("--explain", options->explain,
                  "print a table instead of the draft: each key with its value, how sure it is "
                  "(measured, read from the kernel, default or guess), and how it was found");
  probe->add_flag("--json", options->json, "print the table of --explain as JSON");
  return probe;
}

int Probe(const ProbeOptions& options) {
  if (options.json && !options.explain) {
    throw ConfigError("--json needs --explain: it prints the table as JSON");
  }
  const PmuFacts facts = ProbePmu(options.pmu);
  if (!options.out.empty()) {
    std::ofstream file(options.out);
    file << WriteDraft(facts);
    file.close();
    if (!file) throw ConfigError(options.out + ": cannot be written");
  }
  if (options.explain) {
    std::cout << (options.json ? ExplainDraftAsJson(facts) : ExplainDraft(facts));
  } else if (options.out.empty()) {
    std::cout << WriteDraft(facts);
  }
  std::cout.flush();
  if (!std::cout) throw ConfigError("standard output cannot be written");
  return 0;
}

}  // namespace pmuconf
