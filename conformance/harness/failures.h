// SPDX-License-Identifier: Apache-2.0
// The failed assertions of a case, and the rules that they are about.
#ifndef PMUCONF_HARNESS_FAILURES_H_
#define PMUCONF_HARNESS_FAILURES_H_

#include <string>
#include <utility>
#include <vector>

#include "harness/rule.h"

namespace pmuconf {

// An assertion is about the rules whose texts it prints. If the case has one rule only, each is
// about that rule.
class Failures {
 public:
  void Add(const std::string& text);

  // Returns the ids of those of `rules` that a failure is about.
  std::vector<std::string> Named(const std::vector<Rule>& rules) const;

  // Returns the rules that failed: those that failures are about, or all of `rules`.
  std::vector<Rule> Violated(const std::vector<Rule>& rules) const;

  // Returns the ids of the rules that failed, if each failure is about one and others of `rules`
  // did not fail. Otherwise it returns nothing.
  std::vector<std::string> ViolatedAlone(const std::vector<Rule>& rules) const;

  // Returns each failure once, with the number of times it occurred.
  std::string ToString() const;

 private:
  std::vector<std::pair<std::string, int>> failures_;
};

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_FAILURES_H_
