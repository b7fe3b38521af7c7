// SPDX-License-Identifier: Apache-2.0
// Samples the work of a worker: with shorter and shorter periods, and to see how late samples are.
//
// All events here exclude the kernel. If the kernel is included, each interrupt adds events of its
// own, and a short period may leave no time for the program between two interrupts.
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "perf/ring.h"
#include "stimulus/work/work.h"
#include "system/broken.h"
#include "target/probe/experiments.h"
#include "target/probe/periods.h"

namespace pmuconf {
namespace {

constexpr unsigned kTrialBound_s = 5;
constexpr int kRepetitions = 3;  // of each time: the shortest is the one that nothing disturbed
constexpr std::size_t kRingPages = 8;
constexpr std::uint64_t kSkidSamples = 512;

std::uint64_t Now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Kills the worker if it is not done in time. Then Worker::Run() throws.
class TimeBound {
 public:
  explicit TimeBound(pid_t worker) {
    the_worker = worker;
    struct sigaction action = {};
    action.sa_handler = [](int) { kill(the_worker, SIGKILL); };
    sigaction(SIGALRM, &action, &before_);
    alarm(kTrialBound_s);
  }
  TimeBound(const TimeBound&) = delete;
  ~TimeBound() {
    alarm(0);
    sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  static inline volatile pid_t the_worker = 0;
  struct sigaction before_ = {};
};

class SafePeriod {
 public:
  explicit SafePeriod(const EventFacts& event) : event_(event), extra_(*event.work.extra) {}

  // Runs trials until one is not safe.
  std::vector<PeriodTrial> Try(std::uint64_t shortest) {
    std::vector<PeriodTrial> trials;
    for (const std::uint64_t period : PeriodsToTry(kProbePeriod, shortest)) {
      const auto trial = TryPeriod(period);
      if (!trial) break;  // this period does not open for a task in user mode alone
      trials.push_back(*trial);
      if (!WhyUnsafe(*trial).empty()) break;
    }
    return trials;
  }

  // Returns the count at each of some samples with kProbePeriod.
  std::vector<std::uint64_t> CountsAtSamples() {
    std::vector<std::uint64_t> counts;
    const OpenResult opened = Open(kProbePeriod);
    if (!opened.ok()) return counts;
    Ring ring(opened.event, kRingPages);
    opened.event.Enable();
    worker_.Run(event_.work.kind, kSkidSamples * kProbePeriod + extra_ + 1, extra_);
    opened.event.Disable();
    for (const Sample& sample : ring.Drain().samples) {
      if (sample.read) counts.push_back(sample.read->value);
    }
    return counts;
  }

 private:
  OpenResult Open(std::uint64_t period) const {
    const std::uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
    return ProbedPmu::OpenAt(event_.spec, {.pid = worker_.pid(),
                                           .sample_period = period,
                                           .sample_type = period == 0 ? 0 : type,
                                           .exclude_kernel = true});
  }

  // Runs the work of a trial with an event of that period (0: it only counts). Returns its duration
  // in ns.
  std::uint64_t Time(const Event& event, std::uint64_t period) {
    event.Enable();
    const std::uint64_t before = Now_ns();
    worker_.Run(event_.work.kind, kPeriodsPerTrial * period + extra_ + 1, extra_);
    const std::uint64_t after = Now_ns();
    event.Disable();
    return after - before;
  }

  std::optional<PeriodTrial> TryPeriod(std::uint64_t period) {
    PeriodTrial trial = {.period = period, .counted_ns = ~0ULL, .sampled_ns = ~0ULL};
    const TimeBound bound(worker_.pid());
    for (int i = 0; i < kRepetitions; ++i) {
      const OpenResult counting = Open(0);
      const OpenResult sampling = Open(period);
      if (!counting.ok() || !sampling.ok()) return std::nullopt;
      Ring ring(sampling.event, kRingPages);
      try {
        trial.counted_ns = std::min(trial.counted_ns, Time(counting.event, period));
        trial.sampled_ns = std::min(trial.sampled_ns, Time(sampling.event, period));
      } catch (const Broken&) {
        trial.ended = false;
        return trial;
      }
      const RingContents got = ring.Drain();
      trial.samples = std::max<std::uint64_t>(trial.samples, got.samples.size());
      for (const LostRecord& record : got.lost) trial.lost += record.lost;
      trial.throttled = trial.throttled || !got.throttles.empty();
    }
    return trial;
  }

  const EventFacts& event_;
  std::uint64_t extra_;
  Worker worker_;
};

}  // namespace

void FindSafePeriod(PmuFacts* facts) {
  const std::uint64_t shortest = facts->shortest_period.value;
  const auto event =
      std::find_if(facts->events.begin(), facts->events.end(),
                   [](const EventFacts& e) { return e.stimulus == "work" && e.work.extra; });
  if (event == facts->events.end()) return;
  const std::vector<PeriodTrial> trials = SafePeriod(*event).Try(shortest);
  const Finding safe = ChoosePeriod(shortest, trials);
  facts->sampling_notes.push_back({"safe period", std::to_string(safe.value), safe.how});
  // A new worker: the last trial may have killed the other one.
  facts->sampling_notes.push_back(SkidNote(SafePeriod(*event).CountsAtSamples(), kProbePeriod));
}

}  // namespace pmuconf
