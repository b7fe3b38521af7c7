// SPDX-License-Identifier: Apache-2.0
#include "program_commands.h"

#include <iostream>

#include "report/choose.h"
#include "target/target.h"
#include "target/target_of_process.h"

namespace pmuconf {

ProgramCommands::ProgramCommands(CLI::App* app)
    : repro_(AddRepro(app, &repro_options_)),
      specify_(AddSpecify(app, &specify_options_)),
      compare_(AddCompare(app, &compare_options_)),
      fuzz_(AddFuzz(app, &fuzz_options_)) {
  specify_
      ->add_option("--target", specify_target_,
                   "path of a target file, or name of a built-in target")
      ->required();
}

bool ProgramCommands::parsed() const {
  return repro_->parsed() || specify_->parsed() || compare_->parsed() || fuzz_->parsed();
}

int ProgramCommands::Run() const {
  if (repro_->parsed()) return ReproOne();
  if (specify_->parsed()) return SpecifyTarget();
  return compare_->parsed() ? CompareFiles(compare_options_) : Fuzz(fuzz_options_);
}

// A program as text names its target; for a fuzzer's input, an option does.
int ProgramCommands::ReproOne() const {
  const Program program = LoadProgram(repro_options_.file, repro_options_.target);
  if (repro_options_.print || repro_options_.text) {
    std::cout << (repro_options_.print ? PrintProgramAsC(program) : PrintProgram(program))
              << std::flush;
    if (!std::cout) throw ConfigError("standard output cannot be written");
    return 0;
  }
  if (!program.target.starts_with(kProgramPmu)) {
    SetTarget(LoadTarget(program.target));
    ResolveTarget();
  }
  return Repro(program, repro_options_.cpus);
}

int ProgramCommands::SpecifyTarget() const {
  SetTarget(LoadTarget(specify_target_));
  ResolveTarget();
  return Specify(specify_options_);
}

}  // namespace pmuconf
