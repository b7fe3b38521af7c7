// SPDX-License-Identifier: Apache-2.0
// The command `pmuconf probe`, and the draft that `pmuconf run` uses.
#ifndef PMUCONF_REPORT_PROBE_COMMAND_H_
#define PMUCONF_REPORT_PROBE_COMMAND_H_

#include <CLI/CLI.hpp>
#include <string>

namespace pmuconf {

struct ProbeOptions {
  std::string pmu;        // in sysfs
  std::string name;       // of the target in the draft; empty: that of the PMU
  double slowness = 1.0;  // factor for the deadlines of the cases
  std::string out;        // empty: standard output
  bool explain = false;   // print the table of the facts
  bool json = false;      // as JSON
  bool attr = false;      // print the matrix of attr fields
  std::string target;     // with the stimulus for the matrix; empty: the built-in one or a draft
};

// Adds the command to the program.
CLI::App* AddProbe(CLI::App* program, ProbeOptions* options);

// Drafts a target file, and writes it, explains it, or both; or prints the matrix of attr fields.
// Returns the exit status. Throws ConfigError.
int ProbeCommand(const ProbeOptions& options);

// A temporary file with the draft for a PMU, which the processes of the cases read. The destructor
// deletes it.
class DraftFile {
 public:
  // Throws ConfigError if the PMU cannot be probed, or if the file cannot be written.
  explicit DraftFile(const std::string& pmu);
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  ~DraftFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_PROBE_COMMAND_H_
