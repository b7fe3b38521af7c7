// SPDX-License-Identifier: Apache-2.0
// oracle: makes random calls of perf_event_open(2) and compares the errno of the kernel with the
// errno model. Prints facts as JSON to standard output and each mismatch to standard error. The
// exit status is 1 if there was a mismatch.
#include <sys/mount.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/offline.h"
#include "oracle/open_driver.h"
#include "oracle/open_environment.h"
#include "oracle/open_machine.h"
#include "oracle/open_random.h"
#include "target/expression.h"
#include "target/target_of_process.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

// Number of calls with one value of kernel.perf_event_paranoid.
constexpr std::uint64_t kBlock = 512;
constexpr int kSettings[] = {-1, 0, 1, 2, 3};
// Marks the random numbers of blocks, in contrast to those of calls.
constexpr std::uint64_t kOfBlocks = 1ull << 63;
constexpr std::size_t kMaxMismatches = 20;  // maximum number of printed mismatches

struct Options {
  std::string target;
  std::string kind = "mutated";
  std::uint64_t seed = 1;
  std::uint64_t from = 0;
  std::uint64_t count = 1'000;
  unsigned limit_s = 0;
  bool stop = false;
  bool lockdown = false;
  int offline_cpu = -1;
};

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw BrokenErrno(path, errno);
}

// The lockdown is permanent, because the kernel cannot revoke it.
void LockDown() {
  constexpr char kPlace[] = "/sys/kernel/security";
  if (mount("securityfs", kPlace, "securityfs", 0, nullptr) != 0 && errno != EBUSY) {
    throw BrokenErrno("mounting securityfs", errno);
  }
  Write(std::string(kPlace) + "/lockdown", "confidentiality");
}

std::string PredictionName(const OpenPrediction& answer) {
  if (answer.check == nullptr) return "opens";
  return std::string(answer.check->rule) + " " + std::string(answer.check->name);
}

std::string ErrorOrOpens(int error) { return error == 0 ? "opens" : ErrnoName(error); }

std::string Arguments(const OpenCall& call) {
  constexpr const char* kWho[] = {"this task",   "another task", "everyone", "no task",
                                  "exited task", "a cgroup",     "a file"};
  constexpr const char* kCpu[] = {"any", "first", "second", "offline", "impossible"};
  constexpr const char* kGroup[] = {"none",   "closed",  "a file",
                                    "leader", "sibling", "one with a buffer",
                                    "dead",   "full",    "crowded"};
  std::ostringstream out;
  out << "pid: " << kWho[static_cast<int>(call.who)]
      << ", cpu: " << kCpu[static_cast<int>(call.cpu)]
      << ", group_fd: " << kGroup[static_cast<int>(call.group)];
  if (call.group != OpenGroup::kNone) {
    out << " (type " << call.group_type << ", pid: " << kWho[static_cast<int>(call.group_who)]
        << ", cpu: " << kCpu[static_cast<int>(call.group_cpu)] << ")";
  }
  out << ", flags: 0x" << std::hex << call.flags << std::dec << ", readable: " << call.readable;
  if (!call.descriptors_available) out << ", no descriptor left";
  return out.str();
}

std::string Bytes(const OpenCall& call) {
  std::string text;
  for (std::size_t i = 0; i < 136; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = std::to_integer<unsigned>(call.attr[i]);
    if (i > 0 && i % 8 == 0) text += ' ';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// Opens events that keep static keys enabled. Otherwise the kernel would patch its text for each
// call.
std::vector<Event> OpenStaticKeyEvents(const OpenModel& model) {
  std::vector<Event> events;
  for (const OpenPmu& pmu : model.pmus()) {
    if (!pmu.software || pmu.type == PERF_TYPE_BREAKPOINT) continue;
    for (const OpenEvent& event : pmu.events) {
      EventSpec spec;
      spec.type = event.type;
      spec.config = event.config;
      events.push_back(Open(spec));
    }
  }
  // The kernel keeps call chain buffers allocated while at least one event uses them.
  events.push_back(Open(Software(PERF_COUNT_SW_DUMMY), {.sample_type = PERF_SAMPLE_CALLCHAIN}));
  return events;
}

class Oracle {
 public:
  explicit Oracle(const Options& options) : options_(options) {
    OpenSystem system = LocalSystem();
    system.lockdown = options.lockdown;
    system.offline_cpu = options.offline_cpu;
    std::vector<OpenPmu> pmus = LocalPmus(system);
    const OpenPmu first = pmus.front();
    pmus.erase(pmus.begin());
    for (const int paranoid : kSettings) {
      for (const bool administrator : {true, false}) {
        system.paranoid = paranoid;
        system.administrator = administrator;
        const std::pair key{paranoid, administrator};
        const OpenModel& model = models_.try_emplace(key, system, first, pmus).first->second;
        generators_.emplace(&model, OpenCallGenerator(model));
      }
    }
  }

  // Returns whether kernel and model agreed on all calls.
  bool Run() {
    OpenEnvironment environment(Model(2, true));
    const std::vector<Event> patched = OpenStaticKeyEvents(Model(2, true));
    const Sysctl setting("kernel/perf_event_paranoid", "2");
    const OpenCallKind kind =
        options_.kind == "random" ? OpenCallKind::kRandom : OpenCallKind::kMutated;
    const Clock::time_point begin = Clock::now();
    int paranoid = 2;
    for (number_ = options_.from; number_ - options_.from < options_.count; ++number_) {
      if (number_ % kBlock == 0 || number_ == options_.from) {
        SeededSource block(options_.seed, kOfBlocks | number_ / kBlock);
        paranoid = kSettings[block.Below(std::size(kSettings))];
        Sysctl::Set("kernel/perf_event_paranoid", std::to_string(paranoid));
        if (options_.limit_s != 0 && Seconds(begin) > options_.limit_s) break;
      }
      SeededSource random(options_.seed, number_);
      const OpenModel& model = Model(paranoid, !random.OneIn(3));
      Compare(environment, model, generators_.at(&model).Call(kind, random));
      if (options_.stop && disagreements_ > 0) break;
    }
    seconds_ = Seconds(begin);
    return disagreements_ == 0;
  }

  Json Facts() const {
    Json never = Json::array();
    for (const std::string& name : Possible()) {
      if (!reasons_.contains(name)) never.push_back(name);
    }
    const OpenModel& model = Model(2, true);
    return {{"kernel", model.system().release},
            {"target", target().name()},
            {"kind", options_.kind},
            {"seed", options_.seed},
            {"calls", number_ - options_.from + (options_.stop && disagreements_ > 0 ? 1 : 0)},
            {"seconds", seconds_},
            {"disagreements", disagreements_},
            {"shown", mismatches_},
            {"reasons", reasons_},
            {"never", never}};
  }

 private:
  static double Seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  }
  const OpenModel& Model(int paranoid, bool administrator) const {
    return models_.at({paranoid, administrator});
  }

  void Compare(OpenEnvironment& environment, const OpenModel& model, const OpenCall& call) {
    const OpenPrediction predicted = model.Predict(call);
    ++reasons_[PredictionName(predicted)];
    const int actual = environment.Execute(call, model.system().administrator);
    if (actual == predicted.error) return;
    if (++disagreements_ > kMaxMismatches) return;
    const std::string repro_command =
        "oracle --target " + options_.target + " --kind " + options_.kind + " --seed " +
        std::to_string(options_.seed) + " --from " + std::to_string(number_) + " --count 1" +
        (options_.lockdown ? " --lockdown" : "") +
        (options_.offline_cpu < 0 ? "" : " --offline " + std::to_string(options_.offline_cpu));
    const std::string rights = model.system().administrator ? "all" : "none";
    const Json mismatch = {{"number", number_},
                           {"model", ErrorOrOpens(predicted.error)},
                           {"reason", PredictionName(predicted)},
                           {"kernel", ErrorOrOpens(actual)},
                           {"rights", rights},
                           {"paranoid", model.system().paranoid},
                           {"call", Arguments(call)},
                           {"attr", Describe(call.Attr())},
                           {"bytes", Bytes(call)},
                           {"repro", repro_command}};
    mismatches_.push_back(mismatch);
    std::cerr << "call " << number_ << ": the model says " << ErrorOrOpens(predicted.error) << " ("
              << PredictionName(predicted) << "), the kernel says " << ErrorOrOpens(actual)
              << "\n  " << Arguments(call) << ", rights: " << rights
              << ", paranoid: " << model.system().paranoid << "\n  " << Describe(call.Attr())
              << "\n  " << Bytes(call) << "\n  repro: " << repro_command << std::endl;
  }

  // Returns all results that the model can predict for this kernel and these PMUs.
  std::set<std::string> Possible() const {
    const OpenModel& model = Model(2, true);
    std::set<std::string> names = {"opens"};
    const auto add = [&](std::span<const OpenCheck> checks, const OpenPmu* of) {
      for (const OpenCheck& check : checks) {
        const bool chosen = check.choice.empty() || (of != nullptr && of->Refuses(check.choice));
        if (chosen && Includes(check.where, model.system().behaviour)) {
          names.insert(PredictionName({check.error, &check}));
        }
      }
    };
    add(OpenChecks(), nullptr);
    for (const OpenPmu& pmu : model.pmus()) {
      if (pmu.events.empty()) continue;
      add(OpenEventChecks(), &pmu);
      add(pmu.driver, &pmu);
    }
    return names;
  }

  Options options_;
  std::map<std::pair<int, bool>, OpenModel> models_;
  std::map<const OpenModel*, OpenCallGenerator> generators_;
  std::map<std::string, std::uint64_t> reasons_;
  Json mismatches_ = Json::array();
  std::uint64_t number_ = 0;
  std::uint64_t disagreements_ = 0;
  double seconds_ = 0;
};

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares the errno model with the kernel; prints JSON.");
  app.add_option("--target", options.target, "file of the target")->required();
  app.add_option("--kind", options.kind, "calls with random fields, or valid calls with changes")
      ->check(CLI::IsMember({"random", "mutated"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the random calls")->capture_default_str();
  app.add_option("--from", options.from, "number of the first call")->capture_default_str();
  app.add_option("--count", options.count, "number of calls")->check(CLI::Range(1, 100'000'000));
  app.add_option("--seconds", options.limit_s, "stop after this time (0: never)");
  app.add_flag("--stop", options.stop, "stop at the first mismatch");
  app.add_flag("--lockdown", options.lockdown,
               "first lock down this kernel, until the next reboot");
  app.add_option("--offline", options.offline_cpu,
                 "first take this CPU offline, so that calls can name it")
      ->check(CLI::Range(1, 4'095));
  CLI11_PARSE(app, argc, argv);
  // Do this before the target is loaded, because the target uses the online CPUs.
  std::optional<Offline> off;
  if (options.offline_cpu > 0) off.emplace(options.offline_cpu);
  SetTarget(Target::Load(options.target));
  ResolveTarget();
  // Otherwise the kernel would lower the sample rate limit on a slow machine.
  Sysctl::Set("kernel/perf_cpu_time_max_percent", "0");
  Oracle oracle(options);
  // Do this after the model is built, because a locked-down kernel does not reveal tracepoint ids.
  if (options.lockdown) LockDown();
  const bool agreed = oracle.Run();
  std::cout << oracle.Facts().dump() << '\n';
  return agreed ? 0 : 1;
}

}  // namespace
}  // namespace pmuconf

int main(int argc, char** argv) {
  try {
    return pmuconf::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "oracle: " << error.what() << '\n';
    return 2;
  }
}
