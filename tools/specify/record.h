// SPDX-License-Identifier: Apache-2.0
// A recording: programs with their observations, one JSON object a line. The first line describes
// the run, and the last one ends it.
#ifndef PMUCONF_TOOLS_SPECIFY_RECORD_H_
#define PMUCONF_TOOLS_SPECIFY_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "system/fd.h"
#include "tools/repro/program.h"
#include "tools/specify/follow.h"

namespace pmuconf {

struct RecordedRun {
  std::string target;
  std::string kernel;                 // its version
  std::optional<std::uint64_t> seed;  // nullopt: the programs were given
  std::uint64_t from = 0;             // number of the first program
};

struct RecordedProgram {
  Program program;
  std::vector<FollowedStep> steps;  // `result` is not recorded
  std::string ended;                // "hang", "crash", or "" if the program ended
  std::size_t at = 0;               // the operation that hung or crashed
};

struct Recording {
  std::string name;  // its file
  RecordedRun run;
  std::map<std::uint64_t, RecordedProgram> programs;
};

// Writes each line at once, so that a lost machine leaves the programs that it ran.
class ProgramRecorder {
 public:
  // Throws Broken if the file cannot be written.
  ProgramRecorder(const std::string& file, const RecordedRun& run);
  ProgramRecorder(const ProgramRecorder&) = delete;

  void Add(std::uint64_t number, const Program& program, const std::vector<FollowedStep>& steps);
  void AddEnded(std::uint64_t number, const Program& program, const std::string& ended,
                std::size_t at);
  void End();

 private:
  void Write(const std::string& line);
  Fd file_;
};

// The lines of a recording, without their ends.
std::string RunLine(const RecordedRun& run);
std::string ProgramLine(std::uint64_t number, const RecordedProgram& recorded);
std::string EndLine();

// Throws ConfigError with the name and the line if the text is no recording, or is truncated.
Recording ParseRecording(std::string_view text, const std::string& name);
Recording LoadRecording(const std::string& path);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_RECORD_H_
