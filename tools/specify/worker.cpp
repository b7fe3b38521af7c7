// SPDX-License-Identifier: Apache-2.0
// The worker: runs programs, minimises those that disagree, and writes one line for each.
#include "tools/specify/worker.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "system/broken.h"
#include "system/fd.h"
#include "tools/repro/minimise.h"

namespace pmuconf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMinimise_s = 45;
constexpr double kHang_s = 20;
constexpr unsigned kReported = 2;  // programs of each check

double PassedSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Returns the first disagreement that is not a known deviation; nullptr if there is none.
const SpecDisagreement* FirstOf(const std::vector<FollowedStep>& steps) {
  for (const FollowedStep& step : steps) {
    for (const SpecDisagreement& each : step.disagreements) {
      if (each.finding.empty()) return &each;
    }
  }
  return nullptr;
}

// The program with the results of its operations as comments.
std::string Annotated(const Program& program, const std::vector<FollowedStep>& steps) {
  std::string text = "pmuconf program for " + program.target + "\n";
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    text += PrintStep(program.steps[i]) + "\n";
    if (program.steps[i].operation == Operation::kOpen) {
      text += "#   " + Describe(program.steps[i].call.Attr()) + "\n";
    }
    if (i >= steps.size()) continue;
    text += "#   result " + steps[i].result + "\n";
    for (const SpecDisagreement& each : steps[i].disagreements) {
      const SpecCheckRow& row = RowOf(each.check);
      text += "#   " + std::string(row.rule) + " " + std::string(row.name) + ": predicted " +
              each.predicted + ", observed " + each.observed + "\n";
    }
  }
  return text;
}

class Worker {
 public:
  Worker(const ProgramMachine& machine, const TargetKinds& kinds, const WorkerTask& task,
         WorkerTotals* totals, int out)
      : task_(task),
        totals_(totals),
        out_(out),
        follower_(machine, kinds, &judge_, &totals->coverage),
        before_decided_(totals->decided),
        before_unknown_(totals->unknown) {}
  Worker(const Worker&) = delete;

  void Run(std::uint64_t first, Clock::time_point begin) {
    for (std::uint64_t number = first; number < task_.end; ++number) {
      if (task_.seconds > 0 && PassedSince(begin) > task_.seconds) return;
      totals_->program = number;
      const Program program = task_.program(number);
      const std::vector<FollowedStep> steps = follower_.Run(program, &totals_->step);
      ++totals_->programs;
      totals_->operations += steps.size();
      Count();
      CountKnown(steps);
      if (task_.recorder != nullptr) task_.recorder->Add(number, program, steps);
      const SpecDisagreement* const first_found = FirstOf(steps);
      if (first_found == nullptr) continue;
      ++totals_->disagreeing;
      // The first programs show the cause; minimising takes long.
      if (reported_[static_cast<std::size_t>(first_found->check)]++ < kReported) {
        Report(number, program, first_found->check, steps);
      }
      if (!task_.keep_going) {
        totals_->program = task_.end;
        return;
      }
    }
    totals_->program = task_.end;
  }

 private:
  void Count() {
    for (std::size_t i = 0; i < kSpecChecks; ++i) {
      totals_->decided[i] = before_decided_[i] + judge_.decided()[i];
      totals_->unknown[i] = before_unknown_[i] + judge_.unknown()[i];
    }
  }

  void CountKnown(const std::vector<FollowedStep>& steps) {
    for (const FollowedStep& step : steps) {
      for (const SpecDisagreement& each : step.disagreements) {
        for (std::size_t i = 0; i < kSpecFindings.size(); ++i) {
          if (each.finding == kSpecFindings[i].name) ++totals_->known[i];
        }
      }
    }
  }

  // `first`: its observations, which may not repeat.
  void Report(std::uint64_t number, const Program& program, SpecCheck check,
              const std::vector<FollowedStep>& first) {
    const Clock::time_point begin = Clock::now();
    totals_->minimising = true;
    unsigned repeated = 0;
    std::vector<FollowedStep> last;
    const auto shows = [&](const Program& simpler) {
      last = follower_.Run(simpler, &totals_->step);
      const SpecDisagreement* const found = FirstOf(last);
      return found != nullptr && found->check == check;
    };
    constexpr unsigned kRepeats = 3;
    for (unsigned i = 0; i < kRepeats; ++i) repeated += shows(program) ? 1 : 0;
    Program shortest = program;
    if (repeated > 0) {
      shortest = Minimise(program, shows, [begin] { return PassedSince(begin) > kMinimise_s; });
    }
    for (unsigned i = 0; i < kRepeats && repeated > 0 && !shows(shortest); ++i) continue;
    if (FirstOf(last) == nullptr) {
      shortest = program;
      last = first;
    }
    const SpecCheckRow& row = RowOf(check);
    const SpecDisagreement* const found = FirstOf(last);
    nlohmann::json line = {{"kind", "disagreement"},
                           {"program", number},
                           {"rule", row.rule},
                           {"check", row.name},
                           {"repeated", repeated},
                           {"operations", shortest.steps.size()},
                           {"seconds", PassedSince(begin)},
                           {"predicted", found == nullptr ? "" : found->predicted},
                           {"observed", found == nullptr ? "" : found->observed},
                           {"text", Annotated(shortest, last)}};
    const std::string text = line.dump() + "\n";
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(out_, text.data() + at, text.size() - at);
      if (written <= 0) break;
      at += static_cast<std::size_t>(written);
    }
    totals_->minimising = false;
  }

  const WorkerTask& task_;
  WorkerTotals* totals_;
  int out_;
  SpecJudge judge_;
  Follower follower_;
  const std::array<std::uint64_t, kSpecChecks> before_decided_, before_unknown_;
  std::array<unsigned, kSpecChecks> reported_ = {};
};

// Passes on complete lines.
class Lines {
 public:
  explicit Lines(const std::function<void(const nlohmann::json&)>& found) : found_(found) {}
  // Returns whether there may be more.
  bool ReadFrom(const Fd& fd, int wait_ms) {
    pollfd waited = {fd.get(), POLLIN, 0};
    if (poll(&waited, 1, wait_ms) != 1) return true;
    std::array<char, 4096> part;
    const ssize_t size = read(fd.get(), part.data(), part.size());
    if (size <= 0) return false;
    text_.append(part.data(), static_cast<std::size_t>(size));
    for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      found_(nlohmann::json::parse(text_.substr(0, end)));
      text_.erase(0, end + 1);
    }
    return true;
  }

 private:
  const std::function<void(const nlohmann::json&)>& found_;
  std::string text_;
};

}  // namespace

void RunWorker(const ProgramMachine& machine, const TargetKinds& kinds, const WorkerTask& task,
               WorkerTotals* totals, const std::function<void(const nlohmann::json&)>& found) {
  const Clock::time_point begin = Clock::now();
  std::uint64_t next = task.first;
  while (next < task.end && (task.seconds <= 0 || PassedSince(begin) < task.seconds)) {
    int ends[2];
    if (pipe(ends) != 0) throw BrokenErrno("pipe", errno);
    const Fd in(ends[0]);
    Fd out(ends[1]);
    const pid_t pid = fork();
    if (pid < 0) throw BrokenErrno("fork", errno);
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      int status = 0;
      try {
        Worker(machine, kinds, task, totals, out.get()).Run(next, begin);
      } catch (const std::exception& error) {
        const std::string text = std::string("pmuconf: ") + error.what() + "\n";
        status = write(STDERR_FILENO, text.data(), text.size()) > 0 ? 2 : 3;
      }
      _exit(status);
    }
    out.Reset();
    Lines lines(found);
    std::pair<std::uint64_t, std::uint64_t> at = {};
    Clock::time_point moved = Clock::now();
    bool hung = false;
    while (lines.ReadFrom(in, 1000)) {
      const std::pair<std::uint64_t, std::uint64_t> now = {totals->program, totals->step};
      if (now != at || totals->minimising) moved = Clock::now();
      at = now;
      hung = PassedSince(moved) > (totals->minimising ? 2 * kMinimise_s : kHang_s);
      if (hung) break;
    }
    if (hung) kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    const bool died = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (!hung && !died) return;
    const Program program = task.program(totals->program);
    if (task.recorder != nullptr) {
      task.recorder->AddEnded(totals->program, program, hung ? "hang" : "crash", totals->step);
    }
    found({{"kind", hung ? "hang" : "crash"},
           {"program", std::uint64_t{totals->program}},
           {"rule", ""},
           {"check", hung ? "the program ends" : "the process of the program survives"},
           {"operation", std::uint64_t{totals->step}},
           {"text", PrintProgram(program)}});
    if (!task.keep_going) return;
    next = totals->program + 1;
  }
}

}  // namespace pmuconf
