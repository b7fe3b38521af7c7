// SPDX-License-Identifier: Apache-2.0
// The facts about rules that are not in the program: evidence.json, which the build writes next to
// it. faults/evidence_file.py describes the content.
#ifndef PMUCONF_REPORT_EVIDENCE_H_
#define PMUCONF_REPORT_EVIDENCE_H_

#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

// A test outside the suite that verifies a rule.
struct OtherTest {
  std::string rule;
  std::string layer;  // "kunit", "vm", "fuzz"
  std::string name;
  std::string file;  // from the project's root
};

// A reason why a rule has no test, or why no fault can fail it.
struct Reason {
  std::string rule;
  std::string reason;
};

// A bug on purpose, with the claim that tests of `rules` fail because of it.
struct Fault {
  std::string kind = {};  // what it breaks: "driver", "kernel", ...
  std::string id = {};
  std::string text = {};
  std::string file = {};                // from the project's root
  std::vector<std::string> rules = {};  // empty: the rules of `cases`
  std::vector<std::string> cases = {};  // cases that must fail
  std::string target = {};              // may be empty
  std::vector<std::string> kernels = {};
  std::vector<std::string> observers = {};  // "suite", "kunit"
};

// A section of docs/findings.md.
struct DocumentedFinding {
  std::string title;
  std::string link;     // page and anchor, from the project's root
  std::string section;  // the driver or kernel that it is about
  std::vector<std::string> rules;
};

// The subject of a rule: who must follow it.
struct SubjectFact {
  std::string rule;
  std::string subject;
};

struct Evidence {
  std::vector<OtherTest> tests;
  std::vector<Reason> untested;
  std::vector<Fault> faults;
  std::vector<Reason> exempt;  // no fault can fail the rule
  std::vector<DocumentedFinding> findings;
  std::vector<SubjectFact> subjects;
  std::string results;  // path of the folder with the results of runs
  bool known = false;   // false if there is no file
};

// Returns the reason for the rule, or "".
std::string_view ReasonFor(const std::vector<Reason>& reasons, std::string_view rule);

// Reads the file. Throws ConfigError if it cannot be read or is not valid.
Evidence ReadEvidence(const std::string& path);

// Reads evidence.json in the directory of this program, if there is one.
Evidence EvidenceBesideProgram();

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_EVIDENCE_H_
