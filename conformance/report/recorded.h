// SPDX-License-Identifier: Apache-2.0
// Results of earlier runs, in the folder that evidence.json names. Each file is optional.
//
//   judged.json          make check, make matrix:  {"runs": [run]}, see ci/judged.py
//   faults/rules.json    make faults:              {rule: [{kind, id, observer, test, kernel}]}
//   check/*/rules.json   make check, make nightly: the same
//
// Unknown keys are ignored. Only the keys `kind` and `id` are required.
#ifndef PMUCONF_REPORT_RECORDED_H_
#define PMUCONF_REPORT_RECORDED_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pmuconf {

// A test of a rule failed because of a fault.
struct SeenFault {
  std::string rule = {};
  std::string kind = {};  // as in Fault
  std::string id = {};
  std::string observer = {};  // "suite", "kunit", "unit", "fuzz"
  std::string test = {};
  std::string kernel = {};

  bool operator==(const SeenFault&) const = default;
};

// A case that did not pass in a run.
struct BadCase {
  std::string id;
  std::string result;
  std::string message;
};

// The results of a run. An empty field is not known.
struct JudgedRun {
  std::string observer;  // "cases", "kunit", "pytest"
  std::string target;
  std::string kernel;
  std::string arch;
  std::string when;                          // UTC, 2026-11-25T03:30:00
  std::map<std::string, std::string> rules;  // rule → its result
  std::vector<BadCase> bad;
};

struct Recorded {
  std::vector<SeenFault> seen;
  std::vector<JudgedRun> runs;
  std::set<std::pair<std::string, std::string>> ran;  // kind and id of the faults with results
  bool has_judged = false;                            // judged.json exists
};

// Reads the files in `folder`. Throws ConfigError with the path of a file that is not valid.
Recorded ReadRecorded(const std::string& folder);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_RECORDED_H_
