// SPDX-License-Identifier: Apache-2.0
// Prints the results of a run as LAVA's signals, for a console that LAVA reads: docs/results.md.
#ifndef PMUCONF_REPORT_LAVA_H_
#define PMUCONF_REPORT_LAVA_H_

#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "report/verdict.h"

namespace pmuconf {

// Returns "pass", "fail", "skip" or "unknown".
std::string_view LavaResult(Result result);
std::string_view LavaResult(Verdict verdict);

// Returns a name that LAVA accepts for a test case or a test set: it replaces each character except
// A-Z a-z 0-9 _ . - by '_'. An empty name becomes "_".
std::string LavaName(std::string_view name);

// Prints the signals of one run. Each is a line of its own, and is printed at once, so that a crash
// of the kernel leaves the results before it. A newline precedes each signal, since a kernel
// message on the same console may have left a line without its end.
class LavaSignals {
 public:
  // Prints nothing if `os` is null.
  explicit LavaSignals(std::ostream* os) : os_(os) {}
  LavaSignals(const LavaSignals&) = delete;
  LavaSignals& operator=(const LavaSignals&) = delete;
  // Prints the verdict "unknown" if the run ended without one.
  ~LavaSignals();

  bool on() const { return os_ != nullptr; }
  // Starts the test set of the target.
  void Start(const std::string& target);
  // Begins and ends a case. `row` has the waivers applied.
  void Begin(const std::string& id);
  void End(const CaseResult& row);
  // Prints the cases of the report that were not yet printed, those of other layers, each layer in
  // a test set of its own, and at the end the verdict.
  void Finish(const Report& report);

 private:
  void Print(const std::string& signal);
  void Open(const std::string& set);
  void Close();
  void Verdict(std::string_view result);

  std::ostream* os_;
  std::string target_, open_;
  std::set<std::string> printed_;
  bool finished_ = false;
};

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_LAVA_H_
