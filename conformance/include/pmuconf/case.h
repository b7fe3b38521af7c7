// SPDX-License-Identifier: Apache-2.0
// How a case is written: the macro, its metadata, and what ends a case early.
//
//   CONFORMANCE_CASE(Counting, DisabledTimeIsNotCounted,
//                    .rules = {rule::CNT_002, rule::CNT_005},
//                    .needs = {Cap::kStimulus}) {
//     const EventSpec spec = target().AnyEvent();
//     Event event = Open(spec);
//     event.Enable();
//     ...
//     EXPECT_THAT(event.Read(), Counted(spec, 1'000)) << rule::CNT_002.text;
//   }
//
// Around the body the fixture: checks `needs`, the rules' `applies` and the kernel (else SKIP with
// the name of what is missing); pins the process to a CPU that the PMU has; resets the stimulus
// port and puts the clock of each of those CPUs to manual (so clock events count only what
// Stimulate() asks for); lifts the kernel's sampling rate limit (sysctl.h: a case about throttling
// lowers it again); and afterwards resets the port. The executor, which runs every case in a
// process of its own, scans the kernel log and taint when it has ended: a report there makes it
// CRASH.
#ifndef PMUCONF_CASE_H_
#define PMUCONF_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmuconf/broken.h"
#include "pmuconf/event.h"
#include "pmuconf/matchers.h"
#include "pmuconf/rule.h"
#include "pmuconf/stimulus.h"
#include "pmuconf/target.h"

namespace pmuconf {

// What stands beside the body of a case. Designated initialisers, in this order.
struct CaseMeta {
  std::vector<Rule> rules = {};  // at least one; of the catalogue
  std::vector<Cap> needs = {};   // missing one: SKIP, naming it
  int budget_s = 10;             // deadline, seconds, before the target's slowness
  std::string kernels = {};      // e.g. ">=6.12"; empty: all
  int cpu = 0;                   // the process is pinned to target().Cpu(cpu); -1: not pinned
  // What the case waits for and why its bound is enough; empty: time decides nothing in it.
  std::string timing = {};
};

// The fixture. Case bodies are its only subclasses, made by CONFORMANCE_CASE.
class Case : public testing::Test {
 public:
  explicit Case(const CaseMeta& meta) : meta_(meta) {}

 protected:
  virtual void Body() = 0;

 private:
  void TestBody() final;  // surroundings and Body(); turns what they throw into a result
  void Prepare() const;

  const CaseMeta& meta_;
};

// A registered case.
struct CaseInfo {
  std::string suite;
  std::string name;
  std::string file;  // relative to the project's root
  int line = 0;
  CaseMeta meta;
  testing::Test* (*make)(const CaseMeta& meta) = nullptr;

  std::string Id() const { return suite + "." + name; }
};

// Adds a case to AllCases(). Aborts the program on a case without rules.
bool RegisterCase(CaseInfo info);

// Every case of this program, in order of id. Aborts the program if two have the same.
std::span<const CaseInfo> AllCases();

// What `name` of the rule's by_kernel is on the running kernel: a number, or an errno.
std::int64_t ValueHere(const Rule& rule, std::string_view name);

// Ends the case with SKIP, naming the capability. For what only the running kernel can tell; all
// else belongs into .needs.
[[noreturn]] void SkipCase(Cap missing, std::string_view reason);

}  // namespace pmuconf

// Declares and registers one case. `Suite.Name` reads as a claim; the rest initialises CaseMeta.
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

#endif  // PMUCONF_CASE_H_
