// SPDX-License-Identifier: Apache-2.0
// Fuzzes programs of perf operations, led by kernel coverage. A finding is an answer of
// perf_event_open that disagrees with the errno model, a report of the kernel, or a program that
// does not end.
//
// syscall_fuzzer [--target=NAME] [--coverage=off] [option of libFuzzer ...]; or, for comparison,
// --random=SECONDS: random operations one after the other, without coverage. It must run in a
// guest.
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guest/coverage.h"
#include "harness/kmsg.h"
#include "report/choose.h"
#include "system/broken.h"
#include "system/fd.h"
#include "system/sysctl.h"
#include "target/target_of_process.h"
#include "text/errno_name.h"
#include "tools/repro/child.h"
#include "tools/repro/grammar.h"
#include "tools/repro/run.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace pmuconf::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// With more samples an emulated machine would do nothing else.
constexpr std::uint64_t kSampleRate = 2'000;
constexpr std::size_t kLongest = kProgramSteps * kStepBytes;
// Creating a process takes longer than a program. A process that ends also leaves its open events
// to the kernel, which tests their cleanup.
constexpr unsigned kProgramsOfAProcess = 32;

// The last input, which the host finds in the memory of a guest that died.
struct Last {
  char magic[16];
  std::uint64_t number;  // increases, since the memory may have older copies
  std::uint64_t size;
  std::uint8_t input[kLongest];
  std::uint64_t end;  // the same number, once the input is complete
};
constexpr char kMagic[] = "PMUCONF-PROGRAM";
static_assert(sizeof(kMagic) == sizeof(Last::magic));

class Fuzzer {
 public:
  Fuzzer(const std::string& target, bool coverage)
      : grammar_(target), machine_(LocalProgramMachine()) {
    if (coverage) coverage_.emplace();
    void* const at = mmap(nullptr, sizeof(Last), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
    if (at == MAP_FAILED) throw BrokenErrno("mmap", errno);
    last_ = static_cast<Last*>(at);
    options_.cpus = true;
    options_.limit_s = 60;
    if (coverage_) {
      options_.begin = [this] { coverage_->Start(); };
      options_.end = [this] { coverage_->Stop(); };
    }
    held_ = HoldStaticKeys(machine_);
    process_.emplace(
        machine_, [this](std::span<const std::uint8_t> input) { return grammar_.Decode(input); },
        options_);
  }
  Fuzzer(const Fuzzer&) = delete;

  void RunInput(std::span<const std::uint8_t> input) {
    SaveInput(input);
    const Program program = grammar_.Decode(input);
    const unsigned before = static_cast<unsigned>(programs_ % kProgramsOfAProcess);
    const RunResult result = process_->Run(input, before + 1 == kProgramsOfAProcess);
    if (coverage_) coverage_->Count();
    ++programs_;
    for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
      const Outcome& outcome = result.outcomes[i];
      if (outcome.ran) ReportPlace(OutcomeKey(program.steps[i], outcome));
      Add(outcome);
    }
    std::vector<std::string> reports = FindReports(log_.Lines());
    if (result.Passed() && reports.empty()) return;
    ReportFinding(program, result, reports);
    if (before > 0 && !result.stuck) ReportIfNotReproduced(program, before);
    PrintTotals();
    std::abort();
  }

  // Like perf_fuzzer, but with the operations of this suite: the events of one process, until the
  // time is over.
  void Random(double seconds) {
    std::uint8_t bytes[kStepBytes];
    std::mt19937_64 chance(1);
    ProgramExecutor child(machine_, options_.cpus);
    const auto passed_s = [this] {
      return std::chrono::duration<double>(Clock::now() - begin_).count();
    };
    for (begin_ = Clock::now(); passed_s() < seconds;) {
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(chance());
      const Step step = grammar_.Decode(bytes).steps.at(0);
      Add(child.Do(step));
    }
    PrintTotals();
  }

  void PrintTotals() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    std::printf(
        "syscall_fuzzer: programs=%llu operations=%llu compared=%llu opened=%llu places=%zu "
        "seconds=%.1f\n",
        programs_, operations_, compared_, opened_, coverage_ ? coverage_->places() : 0, seconds);
    std::fflush(stdout);
  }

 private:
  void Add(const Outcome& outcome) {
    operations_ += outcome.ran ? 1 : 0;
    compared_ += outcome.ran && outcome.known ? 1 : 0;
    opened_ += outcome.ran && outcome.known && outcome.error == 0 ? 1 : 0;
  }

  void SaveInput(std::span<const std::uint8_t> input) {
    const std::size_t size = std::min(input.size(), kLongest);
    last_->number = programs_ + 1;
    last_->size = size;
    if (size > 0) std::memcpy(last_->input, input.data(), size);
    last_->end = last_->number;
    // The magic is written last, so that it marks a complete input.
    std::memcpy(last_->magic, kMagic, sizeof(kMagic));
  }

  // A key of the operation and its answer. New answers make an input worth keeping, with or without
  // coverage.
  static std::uint64_t OutcomeKey(const Step& step, const Outcome& outcome) {
    const auto operation = static_cast<std::uint64_t>(step.operation);
    return operation << 16 | std::uint64_t{step.which} << 8 | static_cast<unsigned>(outcome.error);
  }

  // If the input alone does not show the finding, the log states that.
  void ReportIfNotReproduced(const Program& program, unsigned before) {
    process_->Kill();
    const RunResult alone = RunProgram(machine_, program, options_);
    if (!alone.Passed() || !FindReports(log_.Lines()).empty()) return;
    std::printf(
        "FINDING: not reproduced by this program alone; %u others ran in its process before\n",
        before);
  }

  static void ReportFinding(const Program& program, const RunResult& result,
                            const std::vector<std::string>& reports) {
    for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
      const Outcome& outcome = result.outcomes[i];
      if (!outcome.Mismatch()) continue;
      const std::string predicted = outcome.predicted == 0 ? "opens" : ErrnoName(outcome.predicted);
      const std::string actual = outcome.error == 0 ? "opens" : ErrnoName(outcome.error);
      std::printf("FINDING: operation %zu: the model says %s (%s), the kernel says %s\n", i,
                  predicted.c_str(),
                  outcome.check == nullptr ? "" : std::string(outcome.check->name).c_str(),
                  actual.c_str());
    }
    for (const std::string& report : reports) std::printf("FINDING: %s\n", report.c_str());
    if (result.hung) std::printf("FINDING: it hung%s\n", result.stuck ? " in the kernel" : "");
    std::printf("%s", PrintProgram(program).c_str());
    std::fflush(stdout);
  }

  Grammar grammar_;
  ProgramMachine machine_;
  std::vector<Fd> held_;
  std::optional<Coverage> coverage_;
  KernelLog log_;
  RunOptions options_;
  std::optional<ProgramProcess> process_;
  Last* last_ = nullptr;
  Clock::time_point begin_ = Clock::now();
  unsigned long long programs_ = 0, operations_ = 0, compared_ = 0, opened_ = 0;
};

std::unique_ptr<Fuzzer>& TheFuzzer() {
  static std::unique_ptr<Fuzzer> fuzzer;
  return fuzzer;
}

// Parses the fuzzer's own options, which begin with two dashes. libFuzzer ignores them, and passes
// them on to the processes of a merge.
void Start(int argc, char** argv) {
  std::string target = "refpmu";
  bool coverage = true;
  constexpr std::string_view kTarget = "--target=", kCoverage = "--coverage=off";
  constexpr std::string_view kRandom = "--random=";
  double random_s = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kTarget)) {
      target = argument.substr(kTarget.size());
    } else if (argument == kCoverage) {
      coverage = false;
    } else if (argument.starts_with(kRandom)) {
      random_s = std::stod(std::string(argument.substr(kRandom.size())));
    }
  }
  SetTarget(LoadTarget(target));
  ResolveTarget();
  SampleRateLimit::Set(kSampleRate);
  TheFuzzer() = std::make_unique<Fuzzer>(target, coverage && random_s == 0);
  if (random_s > 0) {
    TheFuzzer()->Random(random_s);
    std::_Exit(0);
  }
  std::atexit([] { TheFuzzer()->PrintTotals(); });
}

using Bytes = std::vector<std::uint8_t>;

std::size_t StepsOf(const Bytes& bytes) { return bytes.size() / kStepBytes; }

Bytes::iterator At(Bytes& bytes, std::size_t step) {
  return bytes.begin() + static_cast<std::ptrdiff_t>(step * kStepBytes);
}

// Rounds up to complete operations, since mutations work on operations.
Bytes CompleteSteps(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, data + size);
  bytes.resize((size + kStepBytes - 1) / kStepBytes * kStepBytes);
  if (bytes.empty()) bytes.resize(kStepBytes);
  return bytes;
}

void Mutate(Bytes& bytes, std::mt19937& chance) {
  const std::size_t step = chance() % StepsOf(bytes);
  std::uint8_t* const own = &bytes[step * kStepBytes];
  Bytes copy(own, own + kStepBytes);
  switch (chance() % 8) {
    case 0:  // insert a new operation
      for (std::uint8_t& byte : copy) byte = static_cast<std::uint8_t>(chance());
      bytes.insert(At(bytes, step), copy.begin(), copy.end());
      break;
    case 1:  // copy the operation
      bytes.insert(At(bytes, chance() % (StepsOf(bytes) + 1)), copy.begin(), copy.end());
      break;
    case 2:
      if (StepsOf(bytes) > 1) bytes.erase(At(bytes, step), At(bytes, step + 1));
      break;
    case 3:
      std::swap_ranges(At(bytes, step), At(bytes, step + 1), At(bytes, chance() % StepsOf(bytes)));
      break;
    case 4:  // change its type or its event
      own[chance() % 3] = static_cast<std::uint8_t>(chance());
      break;
    case 5:  // change its arguments
      std::generate_n(own + 3, kStepBytes - 3,
                      [&chance] { return static_cast<std::uint8_t>(chance()); });
      break;
    default:
      LLVMFuzzerMutate(own, kStepBytes, kStepBytes);
      break;
  }
}

std::size_t Put(const Bytes& bytes, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = std::min({bytes.size(), max_size, kLongest});
  std::copy_n(bytes.begin(), size, data);
  return size;
}

}  // namespace
}  // namespace pmuconf::fuzz

using pmuconf::fuzz::Bytes;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  try {
    pmuconf::fuzz::Start(*argc, *argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "syscall_fuzzer: %s\n", error.what());
    std::_Exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pmuconf::fuzz::TheFuzzer()->RunInput({data, size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::mt19937 chance(seed);
  Bytes bytes = pmuconf::fuzz::CompleteSteps(data, size);
  for (unsigned n = 1 + chance() % 3; n > 0; --n) pmuconf::fuzz::Mutate(bytes, chance);
  return pmuconf::fuzz::Put(bytes, data, max_size);
}

// Combines operations of both inputs.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* other, std::size_t other_size,
                                                 std::uint8_t* out, std::size_t max_out,
                                                 unsigned seed) {
  std::mt19937 chance(seed);
  Bytes first = pmuconf::fuzz::CompleteSteps(one, one_size);
  Bytes second = pmuconf::fuzz::CompleteSteps(other, other_size);
  first.erase(pmuconf::fuzz::At(first, 1 + chance() % pmuconf::fuzz::StepsOf(first)), first.end());
  first.insert(first.end(), pmuconf::fuzz::At(second, chance() % pmuconf::fuzz::StepsOf(second)),
               second.end());
  return pmuconf::fuzz::Put(first, out, max_out);
}
