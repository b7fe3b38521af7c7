// SPDX-License-Identifier: Apache-2.0
// Runs programs in batches, each in one process. Between batches no program runs, so nothing of the
// PMU may be in use.
#include "tools/fuzz/command.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/kmsg.h"
#include "system/broken.h"
#include "system/sysctl.h"
#include "target/target.h"
#include "tools/fuzz/files.h"
#include "tools/fuzz/finding.h"
#include "tools/fuzz/generate.h"
#include "tools/fuzz/pmu.h"
#include "tools/repro/machine.h"
#include "tools/repro/minimise.h"
#include "tools/repro/run.h"

namespace pmuconf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatch = 32;  // programs of a process
constexpr double kProgram_s = 30;     // limit of a program
constexpr double kMinimise_s = 40;
constexpr double kRelease_s = 2;  // in which an ended process returns its references
constexpr unsigned kRepeats = 5;
constexpr std::size_t kMostFindings = 8;

volatile std::sig_atomic_t stop_signal = 0;

double PassedSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Stops the run at these signals until the end of the object.
class StopSignals {
 public:
  StopSignals() {
    stop_signal = 0;
    struct sigaction action = {};
    action.sa_handler = [](int number) { stop_signal = number; };
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  StopSignals(const StopSignals&) = delete;
  ~StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_ = {};
};

// The kernel must not change the highest sample rate during the run, since the errno model has read
// it. With a high one, samples could take all time of a CPU.
class SampleLimits {
 public:
  SampleLimits() : rate_(Sysctl::Get(kRate)), percent_(Sysctl::Get(kPercent)) {
    constexpr std::uint64_t kSampleRate = 2'000;
    SampleRateLimit::Set(kSampleRate);
  }
  SampleLimits(const SampleLimits&) = delete;
  ~SampleLimits() {
    try {
      // The kernel rejects a rate while the percentage is 0.
      Sysctl::Set(kPercent, "25");
      Sysctl::Set(kRate, rate_);
      Sysctl::Set(kPercent, percent_);
    } catch (const Broken& broken) {
      std::cerr << "pmuconf: " << broken.what() << "\n";
    }
  }

 private:
  static constexpr const char* kRate = "kernel/perf_event_max_sample_rate";
  static constexpr const char* kPercent = "kernel/perf_cpu_time_max_percent";
  std::string rate_, percent_;
};

// What no program may leave in use.
struct InUse {
  std::array<unsigned, 2> free_counters = {};  // of the first two CPUs
  long references = 0;                         // to the module
};

class Campaign {
 public:
  explicit Campaign(const FuzzOptions& options)
      : options_(options),
        machine_(ProgramMachineFor(options.pmu)),
        generator_(Read()),
        held_(HoldStaticKeys(machine_)) {
    try {
      log_.emplace();
    } catch (const Broken&) {
      std::cerr << "cannot read the kernel log: kernel reports go unnoticed\n";
    }
    run_.limit_s = kProgram_s;
    run_.audit = true;
    run_.cpus = options.cpus;
    run_.stop = &stop_signal;
    base_ = Measure();
  }
  Campaign(const Campaign&) = delete;

  // Returns whether there is a finding.
  bool Run() {
    LastProgram last(options_.out + "/fuzz-" + options_.pmu + "-last.program");
    ProgramProcess process(
        machine_,
        [this](std::span<const std::uint8_t> bytes) {
          std::uint64_t number = 0;
          std::memcpy(&number, bytes.data(), std::min(sizeof(number), bytes.size()));
          return Draw(number);
        },
        run_);
    const std::uint64_t end = options_.programs == 0 ? std::numeric_limits<std::uint64_t>::max()
                                                     : options_.from + options_.programs;
    std::uint64_t number = options_.from, first = number;
    bool ended = false;
    for (; !ended; ++number) {
      const Program program = Draw(number);
      last.Write(PrintProgram(program));
      std::array<std::uint8_t, sizeof(number)> bytes;
      std::memcpy(bytes.data(), &number, sizeof(number));
      const bool leaves = number + 1 - first == kBatch;
      const RunResult result = process.Run(bytes, leaves);
      if (stop_signal != 0 && result.hung) break;
      Count(program, result);
      const std::optional<FuzzFinding> found = FindingOf(program, result, Reports(), run_.limit_s);
      if (found) Report(number, program, *found, leaves);
      ended = suspect_ || stop_signal != 0 || number + 1 == end || findings_ == kMostFindings ||
              (options_.seconds > 0 && PassedSince(begin_) > options_.seconds);
      if (!leaves && !ended) continue;
      process.Kill();
      if (!suspect_) CheckInUse(first, number);
      first = number + 1;
    }
    process.Kill();
    return findings_ > 0;
  }

  void PrintSummary() const {
    const double seconds = PassedSince(begin_);
    std::printf(
        "fuzz %s: seed %llu, from program %llu: %llu programs, %llu operations in %.1f s "
        "(%.0f operations/s), %llu opens compared with the model, %llu events opened, "
        "%zu findings%s\n",
        options_.pmu.c_str(), Long(options_.seed), Long(options_.from), Long(programs_),
        Long(operations_), seconds, seconds > 0 ? static_cast<double>(operations_) / seconds : 0.0,
        Long(compared_), Long(opened_), findings_,
        stop_signal != 0 ? ", stopped by a signal"
        : suspect_       ? ", stopped by a crash"
                         : "");
    std::fflush(stdout);
  }

 private:
  static unsigned long long Long(std::uint64_t value) { return value; }

  FuzzedPmu Read() const {
    FuzzedPmu pmu = ReadPmu(options_.pmu, machine_);
    pmu.cpus = options_.cpus;
    return pmu;
  }

  Program Draw(std::uint64_t number) const {
    return options_.blind ? generator_.DrawBlind(options_.seed, number)
                          : generator_.Draw(options_.seed, number);
  }

  std::vector<std::string> Reports() {
    return log_ ? FindReports(log_->Lines()) : std::vector<std::string>();
  }

  void Count(const Program& program, const RunResult& result) {
    ++programs_;
    for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
      const Outcome& outcome = result.outcomes[i];
      if (!outcome.ran) continue;
      ++operations_;
      compared_ += outcome.known ? 1 : 0;
      const bool opens = program.steps[i].operation == Operation::kOpen;
      opened_ += opens && outcome.error == 0 ? 1 : 0;
    }
  }

  InUse Measure() const {
    InUse now;
    const FuzzedPmu& pmu = generator_.pmu();
    for (std::size_t cpu = 0; cpu < now.free_counters.size(); ++cpu) {
      now.free_counters[cpu] = FreeCounters(pmu.pmu, pmu.type, static_cast<int>(cpu));
    }
    now.references = ModuleReferences(pmu.name);
    return now;
  }

  // Returns what is in use now that was not before. The kernel may return references late.
  // Measure() opens events, which may leak, too: so the references are read first.
  std::optional<FuzzFinding> LeakSince(const InUse& before) {
    const Clock::time_point begin = Clock::now();
    const auto references = [&] { return ModuleReferences(generator_.pmu().name); };
    long held = references();
    while (held > before.references && PassedSince(begin) < kRelease_s) held = references();
    InUse now = Measure();
    const auto leaks = [&] {
      return now.free_counters[0] < before.free_counters[0] ||
             now.free_counters[1] < before.free_counters[1];
    };
    while (leaks() && PassedSince(begin) < kRelease_s) now = Measure();
    const std::vector<std::string> reports = Reports();
    if (!reports.empty()) return FindingOf({}, {}, reports, 0);
    for (std::size_t cpu = 0; cpu < now.free_counters.size(); ++cpu) {
      if (now.free_counters[cpu] >= before.free_counters[cpu]) continue;
      return FuzzFinding{FindingKind::kLeak, "of " + std::to_string(before.free_counters[cpu]) +
                                                 " events that ran on CPU " + std::to_string(cpu) +
                                                 " at once before, " +
                                                 std::to_string(now.free_counters[cpu]) + " run"};
    }
    if (held > before.references) {
      return FuzzFinding{FindingKind::kLeak, "the module has " +
                                                 std::to_string(held - before.references) +
                                                 " references more, and no event is open"};
    }
    return std::nullopt;
  }

  void CheckInUse(std::uint64_t first, std::uint64_t last) {
    if (!Exists(generator_.pmu())) {
      throw ConfigError("PMU '" + options_.pmu + "' is gone, after program " +
                        std::to_string(last) + " of seed " + std::to_string(options_.seed));
    }
    const std::optional<FuzzFinding> found = LeakSince(base_);
    if (!found) return;
    const Clock::time_point begin = Clock::now();
    base_ = Measure();
    std::uint64_t number = first;
    if (!found->machine_suspect && !seen_.contains(found->Key())) {
      while (number < last && PassedSince(begin) < kMinimise_s && stop_signal == 0 &&
             !Shows(Draw(number), *found, number + 1 - first == kBatch)) {
        ++number;
      }
    }
    Report(number, Draw(number), *found, number + 1 - first == kBatch);
    base_ = Measure();
  }

  // Runs a program alone. Returns whether it shows the same kind of finding.
  bool Shows(const Program& program, const FuzzFinding& found, bool leaves) {
    ClearWarnings();
    RunOptions options = run_;
    constexpr double kAlone_s = 5;
    if (found.kind == FindingKind::kStall) options.limit_s = kAlone_s;
    const InUse before = found.kind == FindingKind::kLeak ? Measure() : InUse();
    RunResult result;
    {
      ProgramProcess alone(
          machine_, [&program](std::span<const std::uint8_t>) { return program; }, options);
      result = alone.Run({}, leaves);
    }
    if (found.kind == FindingKind::kLeak) {
      const std::optional<FuzzFinding> leak = LeakSince(before);
      return leak && leak->kind == found.kind;
    }
    const std::optional<FuzzFinding> again = FindingOf(program, result, Reports(), options.limit_s);
    suspect_ = suspect_ || (again && again->machine_suspect);
    return again && again->kind == found.kind;
  }

  // Lets a warning that the kernel prints once appear again, if debugfs is mounted.
  static void ClearWarnings() {
    std::FILE* const file = std::fopen("/sys/kernel/debug/clear_warn_once", "we");
    if (file == nullptr) return;
    std::fputs("1", file);
    std::fclose(file);
  }

  void Report(std::uint64_t number, const Program& program, const FuzzFinding& found, bool leaves) {
    suspect_ = suspect_ || found.machine_suspect;
    if (!seen_.insert(found.Key()).second) return;
    ++findings_;
    const std::string stem = options_.out + "/fuzz-" + options_.pmu + "-" +
                             std::to_string(options_.seed) + "-" + std::to_string(number);
    const std::string title = std::string(ToString(found.kind)) + ": " + found.text;
    // The files have the whole program before the minimiser could crash the machine.
    Write(stem, program, number, title);
    std::printf("%s\n  program %llu of seed %llu\n", title.c_str(), Long(number),
                Long(options_.seed));
    std::fflush(stdout);
    Program shortest = program;
    unsigned shown = 0, runs = 0;
    if (!suspect_) {
      const Clock::time_point begin = Clock::now();
      const auto expired = [&] {
        return stop_signal != 0 || suspect_ || PassedSince(begin) > kMinimise_s;
      };
      const auto shows = [&](const Program& simpler) { return Shows(simpler, found, leaves); };
      if (shows(program)) shortest = Minimise(program, shows, expired);
      for (; runs < kRepeats && !expired(); ++runs) shown += shows(shortest) ? 1 : 0;
      Write(stem, shortest, number, title);
    }
    std::printf(
        "  %zu operations; alone it showed this in %u of %u runs\n  %s.program and .c; repeat: "
        "pmuconf repro %s.program\n  or: pmuconf fuzz --pmu %s --seed %llu --from %llu "
        "--programs %llu%s%s\n",
        shortest.steps.size(), shown, runs, stem.c_str(), stem.c_str(), options_.pmu.c_str(),
        Long(options_.seed), Long(number), Long(1), options_.cpus ? " --cpus" : "",
        options_.blind ? " --blind" : "");
    std::fflush(stdout);
  }

  void Write(const std::string& stem, const Program& program, std::uint64_t number,
             const std::string& title) const {
    utsname names = {};
    uname(&names);
    const std::string origin = "pmuconf fuzz --pmu " + options_.pmu + " --seed " +
                               std::to_string(options_.seed) + ", program " +
                               std::to_string(number) + ", Linux " + names.release;
    const std::string text = PrintProgram(program);
    WriteFinding(stem + ".program", text + "# " + title + "\n# " + origin + "\n");
    WriteFinding(stem + ".c",
                 "/* " + title + "\n * " + origin + " */\n" + PrintProgramAsC(program));
  }

  const FuzzOptions& options_;
  ProgramMachine machine_;
  FuzzGenerator generator_;
  std::vector<Fd> held_;
  std::optional<KernelLog> log_;
  RunOptions run_;
  InUse base_;
  std::set<std::string> seen_;
  bool suspect_ = false;
  std::size_t findings_ = 0;
  std::uint64_t programs_ = 0, operations_ = 0, compared_ = 0, opened_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

int Fuzz(const FuzzOptions& options) {
  CheckFuzzable(options.pmu);
  if (geteuid() != 0) throw ConfigError("fuzz needs root: programs also open events of each CPU");
  const StopSignals signals;
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const SampleLimits limits;
  Campaign campaign(options);
  const bool found = campaign.Run();
  campaign.PrintSummary();
  return found ? 1 : 0;
}

}  // namespace pmuconf
