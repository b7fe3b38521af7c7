// SPDX-License-Identifier: Apache-2.0
// costs: compares the costs of a PMU's events with those of cpu-clock events, alternately in one
// run. Prints JSON with nanoseconds per context switch and samples per second of each round. It
// computes no ratios.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <ctime>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "perf/event.h"
#include "perf/ring.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "target/target.h"
#include "target/target_of_process.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;

struct Options {
  std::string target;
  std::string pmu;
  unsigned rounds = 21;
  unsigned switches = 500;  // per task and round
  double spin_s = 0.1;      // duration of a round of sampling
};

constexpr unsigned kEvents = 4;

double Now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

EventSpec CpuClock() {
  EventSpec spec;
  spec.name = "cpu-clock";
  spec.type = PERF_TYPE_SOFTWARE;
  spec.config = PERF_COUNT_SW_CPU_CLOCK;
  return spec;
}

// Two tasks on one CPU that wake each other through pipes, so that each wake-up is a context
// switch.
class PingPong {
 public:
  PingPong(int cpu, unsigned switches) : switches_(switches) {
    for (int* const ends : {ping_, pong_}) {
      if (pipe(ends) != 0) throw BrokenErrno("pipe", errno);
    }
    void* const shared =
        mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw BrokenErrno("mmap", errno);
    each_ns_ = static_cast<double*>(shared);
    first_ = std::make_unique<Child>([this, cpu] {
      PinTo(cpu);
      return Lead();
    });
    second_ = std::make_unique<Child>([this, cpu] {
      PinTo(cpu);
      return Follow();
    });
  }
  PingPong(const PingPong&) = delete;
  ~PingPong() {
    for (const int* const ends : {ping_, pong_}) {
      close(ends[0]);
      close(ends[1]);
    }
    munmap(each_ns_, sizeof(double));
  }

  std::array<pid_t, 2> Tasks() const { return {first_->pid(), second_->pid()}; }

  // Returns nanoseconds per context switch.
  double Run() {
    second_->Go();
    first_->Go();
    if (first_->Wait() != 0 || second_->Wait() != 0)
      throw Broken("the two tasks did not take turns");
    return *each_ns_;
  }

 private:
  static constexpr unsigned kWarmUp = 100;

  static bool Pass(int from, int to) {
    char token = 0;
    return read(from, &token, 1) == 1 && write(to, &token, 1) == 1;
  }

  int Lead() {
    const char token = 0;
    if (write(ping_[1], &token, 1) != 1) return 1;
    double begin = 0;
    for (unsigned i = 0; i < kWarmUp + switches_; ++i) {
      if (i == kWarmUp) begin = Now_ns();
      if (!Pass(pong_[0], ping_[1])) return 1;
    }
    *each_ns_ = (Now_ns() - begin) / (2.0 * switches_);
    rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    // Some switches are involuntary: the woken task may preempt the other one before that blocks.
    return used.ru_nvcsw + used.ru_nivcsw >= static_cast<long>(switches_) ? 0 : 1;
  }

  int Follow() {
    for (unsigned i = 0; i < kWarmUp + switches_; ++i) {
      if (!Pass(ping_[0], pong_[1])) return 1;
    }
    return 0;
  }

  unsigned switches_;
  int ping_[2] = {-1, -1};
  int pong_[2] = {-1, -1};
  double* each_ns_ = nullptr;
  std::unique_ptr<Child> first_;
  std::unique_ptr<Child> second_;
};

// Returns nanoseconds per context switch between two tasks with @specs each.
double SwitchCost(const std::vector<EventSpec>& specs, const Options& options, int cpu) {
  PingPong tasks(cpu, options.switches);
  std::vector<Event> events;
  for (const pid_t pid : tasks.Tasks()) {
    for (const EventSpec& spec : specs) {
      events.push_back(Open(spec, {.pid = pid, .disabled = false}));
    }
  }
  const double each_ns = tasks.Run();
  for (const Event& event : events) {
    const Reading last = event.Read();
    if (last.time_running == 0 || last.time_running != last.time_enabled) {
      throw Broken("an event did not run all the time: " + Describe(event.attr()));
    }
  }
  return each_ns;
}

// Returns the samples per second of @spec on a task that is always busy.
double SampleRate(const EventSpec& spec, const OpenOptions& how, const Options& options) {
  const Event event = Open(spec, how);
  Ring ring(event, 512);
  event.Enable();
  const double begin = Now_ns();
  BusyWait(options.spin_s);
  const double passed_s = (Now_ns() - begin) / 1e9;
  event.Disable();
  const RingContents contents = ring.Drain();
  if (!contents.lost.empty()) throw Broken("the ring lost samples of " + spec.name);
  return static_cast<double>(contents.samples.size()) / passed_s;
}

Json SwitchCosts(const Options& options, int cpu) {
  std::vector<EventSpec> ours;
  for (const EventSpec& spec : target().Events()) {
    if (ours.size() < kEvents) ours.push_back(spec);
  }
  if (ours.size() < kEvents) throw Broken("the target has less than four events");
  const std::vector<std::pair<std::string, std::vector<EventSpec>>> kinds = {
      {"none", {}},
      {"cpu-clock", std::vector<EventSpec>(kEvents, CpuClock())},
      {"pmu", ours},
  };
  Json rounds = Json::array();
  for (unsigned round = 0; round < options.rounds; ++round) {
    Json row;
    for (unsigned i = 0; i < kinds.size(); ++i) {
      // Each round begins with another kind, so that drift affects all of them equally.
      const auto& [name, specs] = kinds[(round + i) % kinds.size()];
      row[name] = SwitchCost(specs, options, cpu);
    }
    rounds.push_back(row);
  }
  return rounds;
}

Json SampleRates(const OpenOptions& how, const Options& options) {
  const std::vector<EventSpec> driven = target().Events({.stimulus = StimulusKind::kClock});
  if (driven.empty()) throw Broken("the target has no event that follows time");
  Json rounds = Json::array();
  for (unsigned round = 0; round < options.rounds; ++round) {
    Json row;
    for (unsigned i = 0; i < 2; ++i) {
      const bool ours = (round + i) % 2 != 0;
      row[ours ? "pmu" : "cpu-clock"] = SampleRate(ours ? driven[0] : CpuClock(), how, options);
    }
    rounds.push_back(row);
  }
  return rounds;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares the costs of a PMU's events with cpu-clock events; prints JSON.");
  app.add_option("--target", options.target, "file of the target")->required();
  app.add_option("--pmu", options.pmu, "PMU in sysfs, instead of the target's match");
  app.add_option("--rounds", options.rounds, "rounds of each measurement")
      ->check(CLI::Range(1, 1000));
  app.add_option("--switches", options.switches, "context switches per task and round")
      ->check(CLI::Range(10, 1000000));
  CLI11_PARSE(app, argc, argv);

  SetTarget(Target::Load(options.target));
  ResolveTarget(options.pmu);
  const int cpu = OnlineCpus().back();
  PinTo(cpu);
  Json result;
  result["context_switch_ns"] = SwitchCosts(options, cpu);
  constexpr std::uint64_t kType = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
  result["samples_per_s"] = {
      {"period_100us", SampleRates({.sample_period = 100'000, .sample_type = kType}, options)},
      {"period_25us", SampleRates({.sample_period = 25'000, .sample_type = kType}, options)},
      {"frequency_4000", SampleRates({.sample_freq = 4'000, .sample_type = kType}, options)},
  };
  std::cout << result.dump() << '\n';
  return 0;
}

}  // namespace
}  // namespace pmuconf

int main(int argc, char** argv) {
  try {
    return pmuconf::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "costs: " << error.what() << '\n';
    return 2;
  }
}
