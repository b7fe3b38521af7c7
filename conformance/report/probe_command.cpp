// SPDX-License-Identifier: Apache-2.0
// Writes drafts to files.
#include "report/probe_command.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "harness/ground.h"
#include "report/choose.h"
#include "system/broken.h"
#include "target/attr/attr_matrix.h"
#include "target/probe.h"
#include "target/target.h"
#include "target/target_of_process.h"

namespace pmuconf {
namespace {

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw ConfigError(path + ": cannot be written");
}

// Also checks that no other user of the counters has falsified the experiments.
PmuFacts Facts(const ProbeOptions& options) {
  PmuFacts facts = ProbePmu(options.pmu);
  if (!options.name.empty()) facts.name = options.name;
  facts.slowness = options.slowness;
  const Target target = Target::Parse(WriteDraft(facts), "draft of " + options.pmu);
  PrintWarnings(CheckGround(target, options.pmu));
  return facts;
}

int PrintAttrMatrix(const ProbeOptions& options) {
  std::string target = options.target.empty() ? TargetForPmu(options.pmu) : options.target;
  std::optional<DraftFile> draft;
  if (target.empty()) target = draft.emplace(options.pmu).path();
  SetTarget(LoadTarget(target));
  try {
    ResolveTarget(options.pmu);
    const std::vector<FieldFinding> findings = AttrMatrix(MatrixScope::kAll);
    const std::string text = options.json ? AttrJson(findings) : AttrTable(findings);
    if (!options.out.empty()) return Write(options.out, text), 0;
    std::cout << text << std::flush;
  } catch (const Broken& broken) {
    throw ConfigError("probing " + options.pmu + ": " + broken.what());
  }
  if (!std::cout) throw ConfigError("standard output cannot be written");
  return 0;
}

}  // namespace

CLI::App* AddProbe(CLI::App* program, ProbeOptions* options) {
  auto* const probe =
      program->add_subcommand("probe", "draft a target file for a PMU of this machine");
  probe->add_option("pmu", options->pmu, "name of the PMU in sysfs")->required();
  probe->add_option("--name", options->name, "name of the target, instead of the PMU's")
      ->check([](const std::string& name) {
        const bool plain = name.find_first_of("\"\\\n") == std::string::npos;
        return plain && !name.empty() ? "" : "must not be empty, or have quotes or backslashes";
      });
  probe->add_option("--slowness", options->slowness, "factor for the deadline of each case")
      ->check(CLI::PositiveNumber);
  probe->add_option("--out", options->out, "file for the draft, instead of standard output");
  probe->add_flag("--explain", options->explain,
                  "print a table instead of the draft: each key with its value, how sure it is "
                  "(measured, read from the kernel, default or guess), and how it was found");
  auto* const attr =
      probe->add_flag("--attr", options->attr,
                      "print a table instead of the draft: each field of perf_event_attr, and "
                      "whether it is refused "
                      "(with which errno), honoured (shown by which effect), or ignored");
  probe
      ->add_option(
          "--target", options->target,
          "target file with the stimulus for --attr, instead of the built-in one or a draft")
      ->needs(attr);
  attr->excludes("--explain");
  probe->add_flag("--json", options->json, "print the table of --explain or --attr as JSON");
  return probe;
}

int ProbeCommand(const ProbeOptions& options) {
  if (options.json && !options.explain && !options.attr) {
    throw ConfigError("--json needs --explain or --attr: it prints the table as JSON");
  }
  if (options.attr) return PrintAttrMatrix(options);
  const PmuFacts facts = Facts(options);
  if (!options.out.empty()) Write(options.out, WriteDraft(facts));
  if (options.explain) {
    std::cout << (options.json ? ExplainDraftAsJson(facts) : ExplainDraft(facts));
  } else if (options.out.empty()) {
    std::cout << WriteDraft(facts);
  }
  std::cout.flush();
  if (!std::cout) throw ConfigError("standard output cannot be written");
  return 0;
}

DraftFile::DraftFile(const std::string& pmu) {
  ProbeOptions options;
  options.pmu = pmu;
  const std::string text = WriteDraft(Facts(options));
  path_ = std::filesystem::temp_directory_path() / "pmuconf-draft-XXXXXX.toml";
  const int fd = mkstemps(path_.data(), 5);
  if (fd < 0) throw ConfigError(path_ + ": cannot be created");
  close(fd);
  Write(path_, text);
}

DraftFile::~DraftFile() { unlink(path_.c_str()); }

}  // namespace pmuconf
