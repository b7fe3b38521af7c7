// SPDX-License-Identifier: Apache-2.0
// Converts GoogleTest's verdict to the project's result and message.
#include "harness/runner.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <regex>
#include <sstream>
#include <utility>

#include "harness/case.h"
#include "harness/failures.h"
#include "harness/newer_kernel.h"
#include "perf/counted.h"
#include "system/context.h"
#include "target/expression.h"

namespace pmuconf {
namespace {

// Removes GoogleTest's byte dump of a value that it cannot print. The matcher's text follows it.
std::string WithoutBytes(const std::string& text) {
  static const std::regex kBytes("[0-9]+-byte object <[-0-9A-F .]*>( \\(of type [^)]*\\))?(, )?");
  return std::regex_replace(text, kBytes, "");
}

// Collects failures. GoogleTest's own printer is disabled.
class Listener : public testing::EmptyTestEventListener {
 public:
  const Failures& failures() const { return failures_; }

 private:
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    std::string file = part.file_name() == nullptr ? "" : part.file_name();
    const std::size_t at = file.rfind("conformance/");
    if (at != std::string::npos) file.erase(0, at);
    failures_.Add(file + ":" + std::to_string(part.line_number()) + ": " +
                  WithoutBytes(part.message()) + "\n");
  }

  Failures failures_;
};

// Returns whether a line only repeats a rule's text, which the message prints anyway.
bool IsRule(const CaseInfo& info, const std::string& line) {
  return std::any_of(info.meta.rules.begin(), info.meta.rules.end(),
                     [&](const Rule& rule) { return line == rule.text; });
}

// Returns the combination in which the case has ended, and the command that repeats it alone.
std::string WhereItEnded(const CaseInfo& info) {
  const Context& c = context();
  if (c.current.empty()) return {};
  std::string command = "pmuconf case " + info.Id() + " --target " + target().name();
  if (!c.pmu.empty()) command += " --pmu " + c.pmu;
  return "at " + c.current + "; only this combination: " + command + " --at " + c.current + "\n";
}

// Composes the message of a case that did not pass.
std::string Explain(const CaseInfo& info, const std::string& what) {
  std::string text = WhereItEnded(info);
  std::istringstream lines(what);
  for (std::string line; std::getline(lines, line);) {
    if (!IsRule(info, line)) text += line + "\n";
  }
  for (const Rule& rule : info.meta.rules) {
    text += "rule " + std::string(rule.id) + " (" + std::string(ToString(rule.level)) +
            "): " + std::string(rule.text) + "\n";
  }
  const Context& c = context();
  if (c.opens > c.opened.size()) {
    text += "opened: " + std::to_string(c.opens - c.opened.size()) + " before these\n";
  }
  for (const std::string& opened : c.opened) text += "opened: " + opened + "\n";
  text.pop_back();
  return text;
}

// Composes the result from GoogleTest's verdict and the context.
CaseResult Collect(const CaseInfo& info, const Failures& failures, bool good) {
  CaseResult result;
  result.id = info.Id();
  for (const Rule& rule : info.meta.rules) result.rules.emplace_back(rule.id);
  const Context& c = context();
  if (c.skip_reason != SkipReason::kNone) {
    result.result = Result::kSkip;
    result.skip_reason = c.skip_reason;
    result.message = *c.skipped;
    result.capability = c.lacking;
  } else if (!good) {  // a failed expectation counts even if something else broke later
    result.result = Result::kFail;
    result.message =
        Explain(info, failures.ToString() + (c.broken ? "then broken: " + *c.broken : ""));
    if (IsNewer(target(), KernelRelease()) &&
        NewerKernelMayDiffer(failures.Violated(info.meta.rules))) {
      result.result = Result::kSkip;
      result.skip_reason = SkipReason::kKernelNewer;
      result.message =
          "its core may differ from that of " + NewestKernel(target()) + "\n" + result.message;
    }
  } else if (c.broken) {
    result.result = Result::kBroken;
    result.skip_reason = SkipReason::kBroken;
    result.message = Explain(info, *c.broken);
  } else {
    result.result = Result::kPass;
  }
  result.stuck = c.stuck;
  result.preempted = c.preempted;
  result.interrupts = c.interrupts;
  result.cpu_wide = c.cpu_wide;
  if (target().resolved()) {
    result.counted = HasCounted({target().type(), PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE});
  }
  result.named_rules = failures.Named(info.meta.rules);
  if (result.result == Result::kFail) result.failed_rules = failures.ViolatedAlone(info.meta.rules);
  result.measurements = Attached();
  return result;
}

// The case that runs, for EndAfterThread.
struct Running {
  const CaseInfo* info;
  const Listener* listener;
  std::function<int(CaseResult)> finish;
  pid_t pid;
};
const Running* running = nullptr;

// Called for an exception that leaves a thread: ends the process with the result of the case. Other
// threads may wait for that thread for ever.
[[noreturn]] void EndAfterThread() {
  if (running == nullptr || running->pid != getpid() || !std::current_exception()) std::abort();
  RecordException();
  const bool good = !testing::Test::HasFailure();
  _exit(running->finish(Collect(*running->info, running->listener->failures(), good)));
}

}  // namespace

const CaseInfo* FindCase(std::string_view id) {
  const auto cases = AllCases();
  const auto it =
      std::find_if(cases.begin(), cases.end(), [&](const CaseInfo& c) { return c.Id() == id; });
  return it == cases.end() ? nullptr : &*it;
}

int RunInThisProcess(const CaseInfo& info, std::function<int(CaseResult)> finish) {
  std::string name = "pmuconf";
  char* argv[] = {name.data(), nullptr};
  int argc = 1;
  testing::InitGoogleMock(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  auto* const listener = new Listener;
  listeners.Append(listener);
  testing::RegisterTest(info.suite.c_str(), info.name.c_str(), nullptr, nullptr, info.file.c_str(),
                        info.line, [&info] { return info.make(info.meta); });
  const Running run = {&info, listener, std::move(finish), getpid()};
  running = &run;
  std::set_terminate(EndAfterThread);
  const bool good = RUN_ALL_TESTS() == 0;
  running = nullptr;
  return run.finish(Collect(info, listener->failures(), good));
}

}  // namespace pmuconf
