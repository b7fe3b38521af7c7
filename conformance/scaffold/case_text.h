// SPDX-License-Identifier: Apache-2.0
// The C++ text of a new case, formatted as clang-format does it.
#ifndef PMUCONF_SCAFFOLD_CASE_TEXT_H_
#define PMUCONF_SCAFFOLD_CASE_TEXT_H_

#include <string>
#include <vector>

namespace pmuconf::scaffold {

struct CaseText {
  std::string suite;
  std::string name;
  std::vector<std::string> rules;  // ids
  std::vector<std::string> needs;  // names of capabilities
};

// The expectation that each new case ends with. It fails until the author replaces it.
inline constexpr const char* kExpectation = "write the expectation of this case";

// Returns whether `CONFORMANCE_CASE(suite, name,` fits into one line.
bool Fits(const CaseText& text);

// Returns a whole file with the case.
std::string NewFile(const CaseText& text);

// Returns the text of a file of cases with the case at its end, and with the missing includes.
// Throws ConfigError with `path` if the file does not look like a file of cases.
std::string Appended(const std::string& file, const CaseText& text, const std::string& path);

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_CASE_TEXT_H_
