// SPDX-License-Identifier: Apache-2.0
// The tests outside the suite that verify rules: evidence.json, which the build writes next to the
// program.
#ifndef PMUCONF_REPORT_EVIDENCE_H_
#define PMUCONF_REPORT_EVIDENCE_H_

#include <string>
#include <vector>

namespace pmuconf {

// A test outside the suite that verifies a rule.
struct OtherTest {
  std::string rule;
  std::string layer;  // "kunit", "vm", "fuzz"
  std::string name;
  std::string file;  // from the project's root
};

// A rule that no test verifies, and the reason.
struct UntestedRule {
  std::string rule;
  std::string reason;
};

struct Evidence {
  std::vector<OtherTest> tests;
  std::vector<UntestedRule> untested;
  bool known = false;  // false if there is no file: other tests may exist
};

// Reads the file. Throws ConfigError if it cannot be read or is not valid.
Evidence ReadEvidence(const std::string& path);

// Reads evidence.json in the directory of this program, if there is one.
Evidence EvidenceBesideProgram();

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_EVIDENCE_H_
