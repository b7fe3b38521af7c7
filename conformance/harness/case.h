// SPDX-License-Identifier: Apache-2.0
// How to write a case: the macro, its metadata, and calls that end a case early.
//
//   CONFORMANCE_CASE(Counting, DisabledTimeIsNotCounted,
//                    .rules = {rule::CNT_002, rule::CNT_005},
//                    .needs = {Cap::kStimulus}) {
//     const EventSpec spec = target().AnyEvent();
//     Event event = Open(spec);
//     event.Enable();
//     ...
//     EXPECT_THAT(event.Read(), Counted(spec, 1'000)) << rule::CNT_002;
//   }
//
// An assertion of a case with several rules prints the rule that it is about. A case with one rule
// needs no such text: its failures belong to that rule. Reports print the rules of a failed case.
//
// The fixture does this before the body:
// - It checks `needs`, `applies` of the rules, and the kernel. If one does not match, the case is a
//   SKIP whose reason names it.
// - It pins the process to a CPU that the PMU has.
// - It resets the stimulus port and sets the clock of each of these CPUs to manual, so that clock
//   events count only the ticks that Stimulate() requests.
// - It raises the kernel's sampling rate limit (see sysctl.h; a case about throttling lowers it).
//
// A case with dimensions (`over`) does all of this for each combination of their values. The first
// combination that fails ends the case, and its message has the command that repeats it.
//
// After the body it resets the port again. The executor runs each case in a process of its own and
// reads the kernel log and the taint when the process has ended. A kernel report makes the case a
// CRASH.
#ifndef PMUCONF_HARNESS_CASE_H_
#define PMUCONF_HARNESS_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/dimensions.h"
#include "harness/measurement.h"
#include "harness/rule.h"
#include "harness/sweep.h"
#include "perf/event.h"
#include "perf/matchers.h"
#include "stimulus/stimulus.h"
#include "system/broken.h"
#include "target/target.h"
#include "target/target_port.h"

namespace pmuconf {

// The metadata of a case. Use designated initialisers, in this order.
struct CaseMeta {
  std::vector<Rule> rules = {};  // at least one, from the catalogue
  std::vector<Cap> needs = {};   // if one is absent, the case is a SKIP that names it
  int budget_s = 10;             // deadline in seconds, before the target's slowness factor
  std::string kernels = {};      // e.g. ">=6.12"; empty: every kernel
  int cpu = 0;  // the fixture pins the process to target().Cpu(cpu); -1: it does not pin
  // The event that the case waits for, and why its bound suffices. Empty: the result does not
  // depend on time.
  std::string timing = {};
  // The body runs once for each combination of their values, see dimensions.h.
  std::vector<Dimension> over = {};
};

// The fixture. Only CONFORMANCE_CASE derives from it.
class Case : public testing::Test {
 public:
  explicit Case(const CaseMeta& meta) : meta_(meta) {}

  // Returns the value of a dimension in the current combination. Throws Broken if the case does not
  // declare the dimension.
  template <typename Value>
  Value At() const {
    return static_cast<Value>(NumberAt(Over<Value>().name));
  }
  // The same, with a default for a case that does not declare the dimension.
  template <typename Value>
  Value AtOr(Value otherwise) const {
    return Declares(Over<Value>().name) ? At<Value>() : otherwise;
  }

 protected:
  virtual void Body() = 0;

 private:
  void TestBody() final;  // prepares, runs the body, and converts exceptions to a result
  void Sweep();           // runs Body() for each combination, until one fails
  void RunOnce();         // runs Body() for the current combination
  bool Needs(Cap cap) const;
  void Prepare() const;
  int NumberAt(std::string_view dimension) const;
  bool Declares(std::string_view dimension) const;

  const CaseMeta& meta_;
  Combination at_;
};

struct CaseInfo {
  std::string suite;
  std::string name;
  std::string file;  // relative to the root of the project
  int line = 0;
  CaseMeta meta;
  testing::Test* (*make)(const CaseMeta& meta) = nullptr;

  std::string Id() const { return suite + "." + name; }
};

// Records the exception that is being handled as the outcome of the case.
void RecordException();

// Adds a case to AllCases(). Aborts the program if the case has no rule.
bool RegisterCase(CaseInfo info);

// Returns every case of this program, in order of id. Aborts the program if two cases have the same
// id.
std::span<const CaseInfo> AllCases();

// Ends the case as SKIP and names the capability. Only for what the case finds out while it runs;
// everything else belongs into `needs`.
[[noreturn]] void SkipCase(Cap missing, std::string_view reason);

}  // namespace pmuconf

// Declares and registers one case. `Suite.Name` reads as a claim; the other arguments initialise
// CaseMeta.
#define CONFORMANCE_CASE(Suite, Name, ...)                                                  \
  class Suite##_##Name##_Case final : public ::pmuconf::Case {                              \
   public:                                                                                  \
    using Case::Case;                                                                       \
                                                                                            \
   private:                                                                                 \
    void Body() override;                                                                   \
  };                                                                                        \
  [[maybe_unused]] static const bool Suite##_##Name##_registered = ::pmuconf::RegisterCase( \
      {#Suite, #Name, __FILE__, __LINE__, ::pmuconf::CaseMeta{__VA_ARGS__},                 \
       [](const ::pmuconf::CaseMeta& meta) -> ::testing::Test* {                            \
         return new Suite##_##Name##_Case(meta);                                            \
       }});                                                                                 \
  void Suite##_##Name##_Case::Body()

#endif  // PMUCONF_HARNESS_CASE_H_
