// SPDX-License-Identifier: Apache-2.0
// Prepares the machine, runs programs, and prints the totals.
#include "tools/specify/command.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include <cerrno>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/kmsg.h"
#include "report/kernel_bug.h"
#include "stimulus/stimulus.h"
#include "system/broken.h"
#include "system/sysctl.h"
#include "target/target.h"
#include "tools/repro/command.h"
#include "tools/repro/machine.h"
#include "tools/specify/event_kinds.h"
#include "tools/specify/generate.h"
#include "tools/specify/record.h"
#include "tools/specify/worker.h"

namespace pmuconf {
namespace {

constexpr std::size_t kShown = 8;

// The programs know one CPU.
void StayOnFirstCpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) throw BrokenErrno("sched_setaffinity", errno);
}

std::string RunningKernel() {
  utsname names = {};
  if (uname(&names) != 0) throw BrokenErrno("uname", errno);
  return StableVersion(names.release, names.version);
}

class ManualClock {
 public:
  explicit ManualClock(bool manual) : manual_(manual) {
    if (manual_) Port(target().port_path()).SetManualClock(0, true);
  }
  ManualClock(const ManualClock&) = delete;
  ~ManualClock() {
    try {
      if (manual_) Port(target().port_path()).SetManualClock(0, false);
    } catch (const Broken&) {
      std::cerr << "the clock of the port stays manual\n";
    }
  }

 private:
  bool manual_;
};

struct Unmapper {
  void operator()(WorkerTotals* totals) const { munmap(totals, sizeof(WorkerTotals)); }
};

std::unique_ptr<WorkerTotals, Unmapper> SharedTotals() {
  void* const at = mmap(nullptr, sizeof(WorkerTotals), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw BrokenErrno("mmap", errno);
  return std::unique_ptr<WorkerTotals, Unmapper>(new (at) WorkerTotals);
}

nlohmann::json ChecksOf(const WorkerTotals& totals) {
  nlohmann::json checks = nlohmann::json::array();
  for (const SpecCheckRow& row : SpecChecks()) {
    const auto i = static_cast<std::size_t>(row.check);
    checks.push_back({{"rule", row.rule},
                      {"name", row.name},
                      {"decided", totals.decided[i]},
                      {"not_judged", totals.unknown[i]}});
  }
  return checks;
}

nlohmann::json KnownOf(const WorkerTotals& totals) {
  nlohmann::json known = nlohmann::json::object();
  for (std::size_t i = 0; i < kSpecFindings.size(); ++i) {
    if (totals.known[i] > 0) known[std::string(kSpecFindings[i].name)] = totals.known[i];
  }
  return known;
}

// Operations by state, and the pairs of operations that occurred.
nlohmann::json CoverageOf(const SpecCoverage& coverage) {
  nlohmann::json states, never = nlohmann::json::array();
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < kOperations; ++i) {
    const std::string name(OperationName(static_cast<Operation>(i)));
    for (std::size_t j = 0; j < kSpecStates; ++j) {
      const std::uint64_t times = coverage.states[i][j];
      const std::string state(SpecModel::States()[j]);
      if (times > 0) states[name][state] = times;
    }
    for (const std::uint64_t times : coverage.pairs[i]) pairs += times > 0 ? 1 : 0;
  }
  for (std::size_t j = 0; j < kSpecStates; ++j) {
    std::uint64_t times = 0;
    for (const auto& row : coverage.states) times += row[j];
    if (times == 0) never.push_back(SpecModel::States()[j]);
  }
  return {{"states", states}, {"states_never_reached", never}, {"pairs", pairs}};
}

void PrintFound(const nlohmann::json& found) {
  std::cerr << found.at("kind").get<std::string>() << ": " << found.at("rule").get<std::string>()
            << " " << found.at("check").get<std::string>() << ", program " << found.at("program")
            << "\n"
            << found.at("text").get<std::string>();
}

}  // namespace

int Specify(const SpecifyOptions& options) {
  const std::string& name = target().name();
  const TargetKinds kinds = KindsOf(name);
  StayOnFirstCpu();
  SampleRateLimit::Set(SampleRateLimit::kNoLimit);
  const ProgramMachine machine = LocalProgramMachine();
  const ManualClock clock(kinds.clock);
  std::optional<KernelLog> log;
  try {
    log.emplace();
  } catch (const Broken&) {
    std::cerr << "cannot read the kernel log: kernel reports go unnoticed\n";
  }
  WorkerTask task;
  std::vector<Program> given;
  for (const std::string& file : options.files) given.push_back(LoadProgram(file, name));
  task.first = options.from;
  task.end = options.programs == 0 ? std::numeric_limits<std::uint64_t>::max()
                                   : options.from + options.programs;
  task.seconds = options.seconds;
  task.keep_going = options.keep_going;
  task.program = [&](std::uint64_t number) {
    return DrawProgram(kinds, name, options.seed, number);
  };
  if (!given.empty()) {
    task.first = 0;
    task.end = given.size();
    task.program = [&given](std::uint64_t number) { return given.at(number); };
  }
  std::optional<ProgramRecorder> recorder;
  if (!options.record.empty()) {
    const std::optional<std::uint64_t> seed =
        given.empty() ? std::optional(options.seed) : std::nullopt;
    recorder.emplace(options.record, RecordedRun{name, RunningKernel(), seed, task.first});
    task.recorder = &*recorder;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto totals = SharedTotals();
  nlohmann::json found = nlohmann::json::array();
  RunWorker(machine, kinds, task, totals.get(), [&found](const nlohmann::json& each) {
    // The output of a guest has a limit.
    if (found.size() == kShown) return;
    PrintFound(each);
    found.push_back(each);
  });
  if (recorder) recorder->End();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::vector<std::string> reports;
  if (log) reports = FindReports(log->Lines());
  const nlohmann::json result = {
      {"target", name},
      {"kernel", machine.model(true).system().release},
      {"seed", options.seed},
      {"from", options.from},
      {"programs", totals->programs},
      {"operations", totals->operations},
      {"seconds", seconds},
      {"operations_per_s", seconds > 0 ? static_cast<double>(totals->operations) / seconds : 0.0},
      {"disagreeing_programs", totals->disagreeing},
      {"known_deviations", KnownOf(*totals)},
      {"found", found},
      {"reports", reports},
      {"checks", ChecksOf(*totals)},
      {"coverage", CoverageOf(totals->coverage)}};
  std::cout << result.dump() << "\n";
  std::cout.flush();
  return found.empty() && reports.empty() ? 0 : 1;
}

}  // namespace pmuconf
