// SPDX-License-Identifier: Apache-2.0
// Replays one program and prints the results.
#include "tools/repro/command.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <vector>

#include "harness/kmsg.h"
#include "perf/event.h"
#include "system/broken.h"
#include "target/target.h"
#include "text/errno_name.h"
#include "tools/repro/grammar.h"
#include "tools/repro/run.h"

namespace pmuconf {
namespace {

// Returns whether this is a guest of the project, where CPU hotplug affects nobody else.
bool InGuest() { return access("/channel", R_OK) == 0 && access("/target.toml", R_OK) == 0; }

std::string StepText(const Step& step) {
  const std::string line = PrintStep(step);
  return step.operation == Operation::kOpen
             ? line.substr(0, line.find(" attr=")) + " " + Describe(step.call.Attr())
             : line;
}

std::string Name(int error) { return error == 0 ? "opens" : ErrnoName(error); }

std::string OutcomeText(const Outcome& outcome) {
  if (!outcome.ran) return "did not end";
  std::string text = outcome.error == 0 ? std::to_string(outcome.value) : ErrnoName(outcome.error);
  if (outcome.wrong != nullptr) text += std::string("; WRONG: ") + outcome.wrong;
  if (!outcome.known) return text;
  text += outcome.Mismatch() ? "; MISMATCH, the model says " : "; so says the model: ";
  text += Name(outcome.predicted);
  if (outcome.check != nullptr) {
    text += " (" + std::string(outcome.check->rule) + " " + std::string(outcome.check->name) + ")";
  }
  return text;
}

std::optional<KernelLog> Log() {
  try {
    return KernelLog();
  } catch (const Broken&) {
    std::cerr << "cannot read the kernel log: kernel reports go unnoticed\n";
    return std::nullopt;
  }
}

}  // namespace

Program LoadProgram(const std::string& path, const std::string& target) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream read;
  read << file.rdbuf();
  if (!file) throw ConfigError(path + ": cannot be read");
  const std::string bytes = read.str();
  if (IsProgramText(bytes)) return ParseProgram(bytes);
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  return Grammar(target).Decode(input);
}

int Repro(const Program& program, bool cpus) {
  const bool may = cpus || InGuest();
  if (SwitchesCpus(program) && !may) {
    throw ConfigError(
        "the program takes a CPU offline, and this is not a guest: allow it with --cpus");
  }
  const bool by_pmu = program.target.starts_with(kProgramPmu);
  const ProgramMachine machine =
      by_pmu ? ProgramMachineFor(program.target.substr(kProgramPmu.size())) : LocalProgramMachine();
  std::optional<KernelLog> log = Log();
  RunOptions options;
  options.cpus = may;
  options.audit = by_pmu;
  const RunResult result = RunProgram(machine, program, options);
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    std::cout << i << " " << StepText(program.steps[i]) << "\n    "
              << OutcomeText(result.outcomes[i]) << "\n";
  }
  std::vector<std::string> reports;
  if (log) reports = FindReports(log->Lines());
  for (const std::string& report : reports) std::cout << "the kernel reports: " << report << "\n";
  if (result.wrong != nullptr) std::cout << "WRONG: " << result.wrong << "\n";
  if (result.died_of != 0) std::cout << "signal " << result.died_of << " ended it\n";
  if (result.hung) std::cout << "it hung" << (result.stuck ? ", and cannot be killed\n" : "\n");
  std::cout.flush();
  return result.Passed() && result.died_of == 0 && reports.empty() ? 0 : 1;
}

}  // namespace pmuconf
